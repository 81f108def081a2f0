package cluster

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
)

// ownClusters are clusters as clusterd writes them.
func ownClusters() (values [][]byte) {
	at := time.Date(2026, 5, 1, 12, 0, 0, 123_000_000, time.UTC)
	for i := range 32 {
		c := article.Cluster{
			ClusterID: "articles/0/7", Seq: uint64(i) << i, Fingerprint: 0xd3b4205e341675e2, Size: i,
			FirstSeen: at, LastSeen: at.Add(time.Duration(i) * time.Minute),
			Representative: article.Representative{ID: "a", Title: "港口大桥 opens"}, Pipeline: "method=simhash",
		}
		if i&1 != 0 {
			c.Sketch = []byte("\x00sketch\xff"[:i%8])
			c.StoryID, c.StorySimilarity = "articles/1/2", article.Similarity(i&2*150_000)
		}
		if i&2 != 0 {
			c.KeptMS = int64(i)
		}
		if i&4 != 0 {
			c.Representative.Excerpt = "本报讯"
		}
		if i&8 != 0 {
			c.Contacts = []string{"name:alexis17"}
		}
		if i&16 != 0 {
			c.Representative.Title = "a \"quoted\" <title>\n"
		}
		values = append(values, c.JSON())
	}
	return values
}

// ownStories are stories as clusterd writes them.
func ownStories() (values [][]byte) {
	for n := range 8 {
		s := article.StoryState{StoryID: "articles/0/7", State: []byte("\x01\x00state\xff"[:n])}
		values = append(values, s.AppendJSON(nil))
	}
	return values
}

// storyHeldToJSON does for a story what heldToJSON does for a cluster.
func storyHeldToJSON(t *testing.T, value []byte) bool {
	t.Helper()
	const id = "articles/0/7"
	got, ok := parseOwnStory(nil, value, id)
	if !ok {
		return false
	}
	var want article.StoryState
	if err := json.Unmarshal(value, &want); err != nil || want.StoryID != id ||
		!bytes.Equal(got, want.State) {
		t.Errorf("%q is read as %q, want\n%+v, %v", value, got, want, err)
	}
	return true
}

// heldToJSON holds the quick way to encoding/json, and reports whether it was taken.
func heldToJSON(t *testing.T, value []byte) bool {
	t.Helper()
	got, ok := parseOwn(value)
	if !ok {
		return false
	}
	want, err := article.ParseCluster(value)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%q is read as\n%+v, want\n%+v, %v", value, got, want, err)
	}
	return true
}

// What is read the quick way is what encoding/json reads, also of values that are none of
// clusterd's; and what clusterd writes in the main is read so.
func TestOwnClusters(t *testing.T) {
	random, quick := rand.New(rand.NewPCG(5, 6)), 0
	for _, value := range ownClusters() {
		if heldToJSON(t, value) {
			quick++
		}
		eachDamaged(random, value, func(damaged []byte) { heldToJSON(t, damaged) })
	}
	for _, number := range []string{"0x1p-2", "+0.3", "0.30", ".3", "00.3", "3e-1", "1.", "2", "-0"} {
		value := bytes.Replace(ownClusters()[3], []byte(`_similarity":0.3,`),
			[]byte(`_similarity":`+number+","), 1)
		if bytes.Equal(value, ownClusters()[3]) {
			t.Fatalf("no similarity in %s", value)
		}
		heldToJSON(t, value)
	}
	if quick != 8 {
		t.Errorf("%d of 8 clusters without contacts and escapes are read quickly", quick)
	}
}

// What is read the quick way of stories is what encoding/json reads, too. All stories are read so.
func TestOwnStories(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for _, value := range ownStories() {
		if !storyHeldToJSON(t, value) {
			t.Errorf("%s is not read quickly", value)
		}
		eachDamaged(random, value, func(damaged []byte) { storyHeldToJSON(t, damaged) })
	}
}

// eachDamaged hands on copies of a value with random damage.
func eachDamaged(random *rand.Rand, value []byte, each func([]byte)) {
	for range 3000 {
		damaged := bytes.Clone(value)
		switch at := random.IntN(len(damaged)); random.IntN(4) {
		case 0:
			damaged[at] = byte(random.Uint32())
		case 1:
			damaged = damaged[:at]
		case 2:
			damaged = append(damaged[:at], damaged[min(len(damaged), at+random.IntN(9)):]...)
		case 3:
			piece := value[random.IntN(len(value)):]
			damaged = bytes.Join([][]byte{value[:at], piece[:random.IntN(len(piece))], value[at:]}, nil)
		}
		each(damaged)
	}
}

func FuzzOwnStory(f *testing.F) {
	for _, value := range ownStories() {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value []byte) { storyHeldToJSON(t, value) })
}

func FuzzOwnCluster(f *testing.F) {
	for _, value := range ownClusters() {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value []byte) { heldToJSON(t, value) })
}

func BenchmarkParseCluster(b *testing.B) {
	value := ownClusters()[4]
	for name, parse := range map[string]func([]byte){
		"own":  func(v []byte) { _, _ = parseOwn(v) },
		"json": func(v []byte) { _, _ = article.ParseCluster(v) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				parse(value)
			}
		})
	}
}
