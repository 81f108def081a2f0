package fingerprint

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/story"
	"github.com/clusterd/clusterd/internal/story/words"
	"github.com/clusterd/clusterd/internal/testutil/check"
)

var testWire = NewWire("articles", "method=simhash")

// randomText returns a text of any bytes, often none.
func randomText(r *rand.Rand) string {
	if r.IntN(3) == 0 {
		return ""
	}
	b := make([]byte, r.IntN(200))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return string(b)
}

// randomArticle returns an article of partition 3 that may have anything.
func randomArticle(r *rand.Rand) Article {
	a := Article{
		Source:     article.Address{Topic: "articles", Partition: 3, Offset: r.Int64N(math.MaxInt64)},
		RecordedAt: time.UnixMilli(r.Int64N(1<<45) - 1000), Publisher: randomText(r),
		Copied: article.Copied(randomText(r)), Comparable: r.IntN(2) == 0,
		Representative: article.Representative{
			ID: randomText(r), Title: randomText(r), Excerpt: randomText(r),
		},
		Fingerprint: singlepass.Fingerprint{
			Hash: r.Uint64(), Sketch: randomText(r),
			Contacts: singlepass.NewContacts([]string{"name:alexis17", "url:shop.example"}[:r.IntN(3)]),
			Space:    strings.Repeat("空", r.IntN(86)*r.IntN(2)),
		},
	}
	if r.IntN(2) == 0 {
		a.PublishedAt = time.Unix(r.Int64N(1<<35), r.Int64N(1e9)).UTC()
	}
	switch r.IntN(3) {
	case 0:
		a.Key = []byte(randomText(r))
	case 1:
		a.Key = []byte{}
	}
	if r.IntN(2) == 0 {
		a.Words = randomWords(r)
	}
	for range r.IntN(3) {
		a.Headers = append(a.Headers, Header{Key: randomText(r), Value: []byte(randomText(r))}, Header{})
	}
	return a
}

// randomWords returns those of an article, of which each part may be missing.
func randomWords(r *rand.Rand) (w words.Words) {
	var said story.Words
	for n := range r.IntN(2) * r.IntN(80) {
		said.Content(fmt.Appendf(nil, "word %d", r.IntN(n+1)))
	}
	w.Vector, w.Han = said.Vector(), r.IntN(2) == 0
	if r.IntN(2) == 0 {
		w.Terms = "港口\nbridge"
	}
	return w
}

// Words that no article can have are none that clusterd wrote.
func TestWireOfBadWords(t *testing.T) {
	for want, w := range map[string]words.Words{
		"not UTF-8": {Terms: "\xff"}, "a vector of 5 bytes": {Vector: "\x00\x00\x00\x01\x00"},
		"weight 0": {Vector: "\x00\x00\x00\x01\x00\x00"},
	} {
		_, err := testWire.Parse(testWire.Append(nil, &Article{Words: w}), 0)
		check.ErrorHas(t, err, want)
	}
	value := testWire.Append(nil, &Article{})
	value[1] |= flagHan
	_, err := testWire.Parse(value, 0)
	check.ErrorHas(t, err, "or none")
}

// wireArticles are articles whose bytes testdata/wire holds. "all" sets each flag.
func wireArticles() map[string]Article {
	source := func(offset int64) article.Address {
		return article.Address{Topic: "articles", Partition: 3, Offset: offset}
	}
	var said story.Words
	said.Content([]byte("harbour"))
	return map[string]Article{
		"nothing": {Source: source(0)},
		"plain": {
			Source: source(1 << 40), RecordedAt: time.UnixMilli(1700000000123), Comparable: true,
			Representative: article.Representative{ID: "a1", Title: "港口", Excerpt: "bridge"},
			Fingerprint:    singlepass.Fingerprint{Hash: 0x0123456789abcdef},
		},
		"all": {
			Source: source(7), RecordedAt: time.UnixMilli(-1), Key: []byte("key"), Comparable: true,
			PublishedAt: time.Unix(1700000000, 999999999).UTC(), Publisher: "herald.example",
			Copied:         article.Copied(`"site":"herald.example"`),
			Representative: article.Representative{ID: "a2", Title: "Title", Excerpt: "Excerpt"},
			Fingerprint: singlepass.Fingerprint{
				Hash: math.MaxUint64, Sketch: "\x00sketch\xff", Space: "空",
				Contacts: singlepass.NewContacts([]string{"name:alexis17", "url:shop.example"}),
			},
			Words: words.Words{Vector: said.Vector(), Han: true, Terms: "港口\nbridge"},
			Headers: []Header{
				{Key: "traceparent", Value: []byte("00-01")}, {Key: "empty", Value: []byte{}}, {Key: "null"},
			},
		},
	}
}

// Instances of two versions work side by side while they are upgraded. So the bytes of a version
// never change, and each version is read. Do not change these files: give what is new another
// version, with a file of its own.
func TestWireVersions(t *testing.T) {
	for version := byte(1); version <= wireVersion; version++ {
		for name, want := range wireArticles() {
			t.Run(fmt.Sprintf("version %d/%s", version, name), func(t *testing.T) {
				file := filepath.Join("testdata", "wire", fmt.Sprintf("v%d-%s.hex", version, name))
				digits, err := os.ReadFile(file)
				if err != nil {
					t.Fatalf("%v; this version writes %x", err, testWire.Append(nil, &want))
				}
				value, err := hex.DecodeString(strings.Join(strings.Fields(string(digits)), ""))
				if err != nil {
					t.Fatal(err)
				}
				if value[0] != version {
					t.Errorf("%s begins with version %d", file, value[0])
				}
				got, err := testWire.Parse(value, 3)
				if diff := cmp.Diff(want, got); err != nil || diff != "" {
					t.Errorf("%s is read with %v (-written +read):\n%s", file, err, diff)
				}
				written := testWire.Append(nil, &want)
				if version == wireVersion && !bytes.Equal(written, value) {
					t.Errorf("%s has\n%x; this version writes\n%x", file, value, written)
				}
			})
		}
	}
	all := wireArticles()["all"]
	if flags := testWire.Append(nil, &all)[1]; int(flags) != flagsEnd-1 {
		t.Errorf("the article that has all has the flags %#x: set the new flag, in a new version", flags)
	}
}

// A newer clusterd is told from rubbish, whatever the rest of its bytes are.
func TestWireOfOtherVersions(t *testing.T) {
	a := randomArticle(rand.New(rand.NewPCG(1, 2)))
	value := testWire.Append(nil, &a)
	for version := range 256 {
		value[0] = byte(version)
		_, err := testWire.Parse(value, 3)
		switch {
		case version <= wireVersion:
		case version <= lastWireVersion:
			if !errors.Is(err, ErrOtherVersion) {
				t.Errorf("version %d: %v", version, err)
			}
		case err == nil || errors.Is(err, ErrOtherVersion):
			t.Errorf("byte %#x: %v", version, err)
		}
	}
}

// What is written is read again, whatever is in an article, and nothing but the whole of it.
func TestWire(t *testing.T) {
	for seed := range uint64(300) {
		a := randomArticle(rand.New(rand.NewPCG(seed, 9)))
		value := testWire.Append(nil, &a)
		got, err := testWire.Parse(value, 3)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if diff := cmp.Diff(a, got); diff != "" {
			t.Fatalf("seed %d (-written +read):\n%s", seed, diff)
		}
		for n := range value {
			if _, err := testWire.Parse(value[:n:n], 3); err == nil {
				t.Fatalf("seed %d: the first %d of %d bytes are an article", seed, n, len(value))
			}
		}
		_, err = testWire.Parse(append(value, 0), 3)
		check.ErrorHas(t, err, "1 bytes are behind its end")
	}
}

// A value that no article can have is none that clusterd wrote.
func TestWireOfBadSpaces(t *testing.T) {
	for _, value := range []string{strings.Repeat("x", 257), "\xff"} {
		a := Article{Fingerprint: singlepass.Fingerprint{Space: value}}
		_, err := testWire.Parse(testWire.Append(nil, &a), 0)
		check.ErrorHas(t, err, "its space is")
	}
}

// A record without a time has none on the other side.
func TestWireOfNoTimes(t *testing.T) {
	a := Article{Source: article.Address{Topic: "articles"}}
	got, err := testWire.Parse(testWire.Append(nil, &a), 0)
	if err != nil || !got.RecordedAt.IsZero() || !got.PublishedAt.IsZero() || got.Key != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestWireOfOtherSettings(t *testing.T) {
	a := randomArticle(rand.New(rand.NewPCG(1, 2)))
	for name, other := range map[string]Wire{
		"fingerprints": NewWire("articles", "method=minhash"),
		"topic":        NewWire("comments", "method=simhash"),
	} {
		if _, err := other.Parse(testWire.Append(nil, &a), 3); !errors.Is(err, ErrOtherSettings) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A fingerprint outlives its record in the index, and shall not hold the rest of it.
func TestWireFingerprintIsACopy(t *testing.T) {
	a := Article{Fingerprint: singlepass.Fingerprint{Sketch: "sketch"}}
	value := testWire.Append(nil, &a)
	got, err := testWire.Parse(value, 0)
	if err != nil {
		t.Fatal(err)
	}
	clear(value)
	if got.Fingerprint.Sketch != "sketch" {
		t.Errorf("the sketch is %q", got.Fingerprint.Sketch)
	}
}

// Whatever bytes come: what is read as an article is written as it was read.
func FuzzWire(f *testing.F) {
	for seed := range uint64(8) {
		a := randomArticle(rand.New(rand.NewPCG(seed, 9)))
		f.Add(testWire.Append(nil, &a))
	}
	f.Add([]byte(strings.Repeat("\x01", 60)))
	f.Fuzz(func(t *testing.T, value []byte) {
		a, err := testWire.Parse(value, 3)
		if err != nil {
			return
		}
		again := testWire.Append(nil, &a)
		// A varint may be longer than it needs to be.
		if len(again) > len(value) || len(again) == len(value) && !bytes.Equal(again, value) {
			t.Errorf("%x is read, %x written", value, again)
		}
		b, err := testWire.Parse(again, 3)
		if diff := cmp.Diff(a, b); err != nil || diff != "" {
			t.Errorf("%v, (-first +second):\n%s", err, diff)
		}
	})
}

func BenchmarkWire(b *testing.B) {
	a := Article{
		Source: article.Address{Topic: "articles", Offset: 1 << 30}, RecordedAt: time.UnixMilli(1 << 40),
		Comparable:     true,
		Representative: article.Representative{ID: "c1000000", Excerpt: strings.Repeat("港", 40)},
		Fingerprint:    singlepass.Fingerprint{Hash: 1 << 60, Sketch: strings.Repeat("s", 128)},
	}
	value := testWire.Append(nil, &a)
	b.Run("append", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			value = testWire.Append(value[:0], &a)
		}
	})
	b.Run("parse", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := testWire.Parse(value, 0); err != nil {
				b.Fatal(err)
			}
		}
	})
}
