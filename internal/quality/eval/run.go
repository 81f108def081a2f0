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

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/singlepass"
)

// chunk is how many documents are fingerprinted between two looks at the context.
const chunk = 64

// A Prepared variant has the fingerprints of the documents, and clusters them at any threshold.
type Prepared struct {
	Threshold float64 // as configured: the largest distance from a centre, in the method's measure

	method method.Method
	config config.Config
	docs   []Document
	prints []Print
	took   time.Duration // to make the fingerprints
	now    time.Time
}

// Prepare makes the fingerprints of documents, with the threads of the options, which it also tells
// of its progress. The error is that of a variant that cannot be made, or of the context.
func Prepare(ctx context.Context, docs []Document, v Variant, o Options) (*Prepared, error) {
	m, err := method.New(v.Config.MethodSettings())
	if err != nil {
		return nil, err
	}
	// The first documents warm the caches, and garbage of the run before is not this one's.
	warm := m.NewFingerprinter()
	for i := range docs[:min(4*chunk, len(docs))] {
		warm(docs[i].Title, docs[i].Content)
	}
	runtime.GC()
	prints, took, err := Fingerprint(ctx, m, docs, o.Threads, func(n int) {
		if o.Progress != nil {
			o.Progress(v.Name, n)
		}
	})
	if err != nil {
		return nil, err
	}
	return &Prepared{m.Threshold(), m, v.Config, docs, prints, took, o.Now}, nil
}

// A Print is the fingerprint of a document. OK is false if there is nothing in it to compare.
type Print struct {
	singlepass.Fingerprint
	OK bool
}

// Fingerprint makes the fingerprints of documents on a number of threads, and returns how long that
// took. It calls done with the number of documents in each step, never twice at once.
func Fingerprint(
	ctx context.Context, m method.Method, docs []Document, threads int, done func(documents int),
) ([]Print, time.Duration, error) {
	prints := make([]Print, len(docs))
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
						prints[i].Fingerprint, prints[i].OK = printer(d.Title, d.Content)
					}
				}
			}
			return nil
		})
	}
	err := group.Wait()
	return prints, time.Since(began), err
}

// Thresholds returns those worth trying that the method has, from the strictest on. The configured
// one is among them.
func (p *Prepared) Thresholds() []float64 {
	var has []float64
	for _, t := range thresholds(p.unit(), p.Threshold) {
		if _, err := p.method.NewIndex(t); err == nil {
			has = append(has, t)
		}
	}
	return has
}

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

// A Clustered is a clustering at a threshold, and what it cost. CentreBytes is left to
// [Prepared.CentreBytes], since it takes long.
type Clustered struct {
	Clustering
	Cost
	Threshold float64
	centres   []singlepass.Centre
}

// Cluster clusters the documents in a single pass. The error is that of a threshold that the method
// does not have, or of the context.
func (p *Prepared) Cluster(ctx context.Context, threshold float64) (Clustered, error) {
	index, err := p.method.NewIndex(threshold)
	if err != nil {
		return Clustered{}, err
	}
	c := Clustered{Clustering: make(Clustering, len(p.docs)), Threshold: threshold}
	rule := p.config.Rule()
	var lastSeen []int64 // by position
	var founder []int    // likewise
	space := singlepass.NewSpace(index, rule, func(seq uint64) int64 { return lastSeen[seq] })
	began := time.Now()
	for i := range p.docs {
		if i%chunk == 0 && ctx.Err() != nil {
			return Clustered{}, ctx.Err()
		}
		if !p.prints[i].OK {
			c.Clustering[i] = Unclustered
			if p.docs[i].Rejected {
				c.Clustering[i] = Missing
			}
			continue
		}
		at := p.docs[i].eventTime(space.State().StreamTime, p.now, rule.Window)
		a := space.Assign(p.prints[i].Fingerprint, at)
		lastSeen, founder = append(lastSeen, at), append(founder, i)
		lastSeen[a.Centre.Seq] = max(lastSeen[a.Centre.Seq], at)
		if !a.Joined {
			c.centres = append(c.centres, a.Centre)
		}
		c.Clustering[i] = founder[a.Centre.Seq]
	}
	took := time.Since(began)
	c.Cost = Cost{
		Clustered: len(founder), Centres: len(c.centres),
		Printing: p.took.Seconds(), Assigning: took.Seconds(),
		PerSecond: perSecond(len(p.docs), p.took+took),
		Compared:  ratio(int(index.Candidates()), len(founder)),
	}
	return c, nil
}

// CentreBytes returns what an index of the centres takes of the heap, for each of them. Of few
// centres it says little, since an index takes some memory before there is any.
func (p *Prepared) CentreBytes(clustered Clustered) (float64, error) {
	centres := clustered.centres
	if len(centres) == 0 {
		return 0, nil
	}
	before := LiveHeap()
	index, err := p.method.NewIndex(clustered.Threshold)
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
	runtime.KeepAlive(p) // else the heap shrinks meanwhile
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
