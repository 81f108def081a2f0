package snapshot

import (
	"flag"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space/state"
)

var scale = flag.Int("clusters", 0, "clusters of TestScale, such as 10000000; 0 passes it over")

// TestScale measures how long a snapshot of so many clusters takes to write and to put back,
// between directories of one disk, and how large it is.
//
//	go test -run TestScale -v -timeout 1h ./internal/cli/snapshot -clusters 10000000
func TestScale(t *testing.T) {
	if *scale == 0 {
		t.Skip("-clusters says how many")
	}
	dir := openDir(t, filepath.Join(t.TempDir(), "state"))
	s := open(t, dir)
	plant(t, s, *scale)
	to := mustOpen(t, t.TempDir())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	m := mustExport(t, dir, to, noon)
	t.Logf("%d clusters exported in %.1f s: %d files, %.0f MB", m.Clusters(),
		time.Since(began).Seconds(),
		len(m.Spaces[0].Files), float64(m.Bytes())/1e6)

	other := openDir(t, filepath.Join(t.TempDir(), "state"))
	began = time.Now()
	if err := Restore(t.Context(), to, m, other, quiet); err != nil {
		t.Fatal(err)
	}
	t.Logf("imported in %.1f s", time.Since(began).Seconds())
	began = time.Now()
	if _, n := first(t, other); n != *scale {
		t.Errorf("%d clusters", n)
	}
	t.Logf("all centres read from disk in %.1f s", time.Since(began).Seconds())
}

// plant puts clusters of SimHash with titles of 80 bytes into a store.
func plant(t *testing.T, s *state.Store, n int) {
	t.Helper()
	const batch = 20_000
	for from := 0; from < n; from += batch {
		put := make([]cluster.Cluster, 0, batch)
		for i := from; i < min(n, from+batch); i++ {
			put = append(put, cluster.Cluster{
				Centre: singlepass.Centre{
					Seq:         uint64(i),
					Fingerprint: singlepass.Fingerprint{Hash: uint64(i) * 0x9e3779b97f4a7c15},
				},
				Founder:  article.Address{Topic: "articles", Offset: int64(i)},
				Position: uint64(i), Size: 1, FirstSeen: int64(i), LastSeen: int64(i),
				Representative: article.Representative{
					ID:    "article-" + strconv.Itoa(i),
					Title: "港口大桥今天通车: the bridge over the northern harbour opens today, number " + strconv.Itoa(i),
				},
			})
		}
		m := s.Meta()
		m.Next, m.Offsets = uint64(from+len(put)), map[int]int64{0: int64(from + len(put))}
		if err := s.Apply(put, nil, m); err != nil {
			t.Fatal(err)
		}
	}
}
