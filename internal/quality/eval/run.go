package eval

import (
	"context"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/singlepass"
)

// chunk is how many documents are fingerprinted between two looks at the context.
const chunk = 64

// Cost is what a variant took.
type Cost struct {
	// Clustered counts the documents in which there was something to compare.
	Clustered int     `json:"clustered"`
	Centres   int     `json:"centres"`              // at the end, with those that have expired
	Printing  float64 `json:"fingerprint_seconds"`  // by all threads together, on the clock
	Assigning float64 `json:"assign_seconds"`       // one by one
	PerSecond float64 `json:"documents_per_second"` // of all documents, by the sum of the two
	// Compared is how many centres a document was compared with, the mean.
	Compared float64 `json:"compared"`
	// CentreBytes is what the index takes on the heap, divided by the centres.
	CentreBytes float64 `json:"centre_bytes"`
}

func cost(docs []Document, p fingerprints, c clustered) Cost {
	n := 0
	for _, ok := range p.ok {
		if ok {
			n++
		}
	}
	return Cost{
		Clustered: n, Centres: len(c.centres), Printing: p.took.Seconds(), Assigning: c.took.Seconds(),
		PerSecond: perSecond(len(docs), p.took+c.took), Compared: ratio(int(c.candidates), n),
	}
}

// fingerprints are those of documents; ok is false where there is none.
type fingerprints struct {
	of   []singlepass.Fingerprint
	ok   []bool
	took time.Duration
}

// makeFingerprints makes them with so many threads, and calls done with how many documents are, as they
// are.
func makeFingerprints(
	ctx context.Context, m method.Method, docs []Document, threads int, done func(documents int),
) (fingerprints, error) {
	p := fingerprints{of: make([]singlepass.Fingerprint, len(docs)), ok: make([]bool, len(docs))}
	// The first documents warm the caches, and garbage of the run before is not this one's.
	warm := m.NewFingerprinter()
	for i := range docs[:min(4*chunk, len(docs))] {
		warm(docs[i].Title, docs[i].Content)
	}
	runtime.GC()
	began := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	var mutex sync.Mutex
	next := 0
	take := func() (from, to int) {
		mutex.Lock()
		defer mutex.Unlock()
		from = next
		next = min(next+chunk, len(docs))
		if next > from {
			done(next - from)
		}
		return from, next
	}
	for range max(1, threads) {
		group.Go(func() error {
			printer := m.NewFingerprinter()
			for from, to := take(); from < to; from, to = take() {
				if err := ctx.Err(); err != nil {
					return err
				}
				for i := from; i < to; i++ {
					if d := &docs[i]; !d.Rejected {
						p.of[i], p.ok[i] = printer(d.Title, d.Content)
					}
				}
			}
			return nil
		})
	}
	err := group.Wait()
	p.took = time.Since(began)
	return p, err
}

// A pass is a single pass over documents.
type pass struct {
	rule singlepass.Rule
	now  time.Time
}

// A clustered is what became of documents.
type clustered struct {
	Clustering
	centres    []singlepass.Centre
	took       time.Duration
	candidates uint64
}

// run assigns the documents one by one.
func (p pass) run(
	ctx context.Context, index singlepass.Index, docs []Document, made fingerprints,
) (clustered, error) {
	c := clustered{Clustering: make(Clustering, len(docs))}
	var lastSeen []int64 // by position
	var founder []int    // likewise
	space := singlepass.NewSpace(index, p.rule, func(seq uint64) int64 { return lastSeen[seq] })
	began := time.Now()
	for i := range docs {
		if i%chunk == 0 && ctx.Err() != nil {
			return clustered{}, ctx.Err()
		}
		if !made.ok[i] {
			c.Clustering[i] = Unclustered
			if docs[i].Rejected {
				c.Clustering[i] = Missing
			}
			continue
		}
		at := docs[i].eventTime(space.State().StreamTime, p.now, p.rule.Window)
		a := space.Assign(made.of[i], at)
		lastSeen, founder = append(lastSeen, at), append(founder, i)
		lastSeen[a.Centre.Seq] = max(lastSeen[a.Centre.Seq], at)
		if !a.Joined {
			c.centres = append(c.centres, a.Centre)
		}
		c.Clustering[i] = founder[a.Centre.Seq]
	}
	c.took, c.candidates = time.Since(began), index.Candidates()
	return c, nil
}

// centreBytes returns what an index of the centres takes of the heap, for each of them. Of few
// centres it says little, since an index takes some memory before there is any.
func centreBytes(
	m method.Method, threshold float64, centres []singlepass.Centre,
) (float64, error) {
	if len(centres) == 0 {
		return 0, nil
	}
	before := LiveHeap()
	index, err := m.NewIndex(threshold)
	if err != nil {
		return 0, err
	}
	index.BulkLoad(len(centres), func(yield func(singlepass.Centre) bool) {
		for _, c := range slices.Backward(centres) {
			// The index is charged with the sketches that it keeps, which else are shared.
			c.Sketch = strings.Clone(c.Sketch)
			if !yield(c) {
				return
			}
		}
	})
	after := LiveHeap()
	runtime.KeepAlive(index)
	runtime.KeepAlive(centres)
	return max(0, float64(after-before)) / float64(len(centres)), nil
}

// LiveHeap returns how many bytes of the heap are in use.
func LiveHeap() int64 {
	runtime.GC()
	runtime.GC() // what had a finaliser is gone after the second
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}
