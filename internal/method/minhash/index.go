package minhash

import (
	"iter"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/zeebo/xxh3"

	"github.com/clusterd/clusterd/internal/method/capped"
	"github.com/clusterd/clusterd/internal/method/jaccard"
	"github.com/clusterd/clusterd/internal/singlepass"
)

// An index finds the nearest of many signatures among those that agree with the query in at least
// one of its bands (Indyk and Motwani, STOC 1998; Leskovec, Rajaraman and Ullman). Of these it is
// exact, but for bands that very many have in common: there a query sees what a [capped.Rule]
// names. So what it is compared with is bounded, whatever centres there are.
//
// There is a hash table for each band, whose entries are the slots of centres with the same band,
// or with the same bucket by chance. Slots are numbered from 0 to one less than the number of
// centres: into that of a centre that goes moves the last one, and memory shrinks with the number
// of centres.
//
// A centre takes its sketch, 16 bytes, and in each table an entry of 4 bytes, its share of a bucket
// and of the room that is left there: some 268 bytes with 128 components in 22 bands.
type index struct {
	hashes, bands, rows int
	threshold           float64 // a share of components
	rule                jaccard.Rule
	reach               int // components that may differ at most, by the threshold or the rule
	sketches            Rows[byte]
	seqs                Rows[uint64] // and the hashes of the sketches
	tables              Tables
	capped              []cappedBuckets // by band
	candidates          atomic.Uint64
}

// containedRecall is the probability with which an index finds a centre by containment alone that
// is no nearer than the rule asks for. With 128 components that gives 32 bands of 4, by which it is
// .99 at a Jaccard index of .6. More would make bands of 3 or 2, which very many share.
const containedRecall = .87

// newIndex returns an empty index of signatures of so many components, which finds centres that are
// the same as the query by this threshold, at the distance itself with this probability, and by the
// rule.
func newIndex(hashes int, threshold, recall float64, rule jaccard.Rule) *index {
	targets := []target{{1 - threshold, recall}}
	reach := rule.Reach(threshold)
	if reach > threshold {
		targets = append(targets, target{1 - reach, min(recall, containedRecall)})
	}
	bands, rows := bandsFor(hashes, targets...)
	return &index{
		hashes: hashes, bands: bands, rows: rows,
		threshold: float64(mayDiffer(hashes, 1-threshold)) / float64(hashes),
		rule:      rule, reach: mayDiffer(hashes, 1-reach),
		sketches: NewRows[byte](sketchBytes(hashes, rule)),
		seqs:     NewRows[uint64](2),
		tables:   NewTables(bands),
		capped:   make([]cappedBuckets, bands),
	}
}

func (x *index) Len() int { return x.seqs.Len() }

func (x *index) Candidates() uint64 { return x.candidates.Load() }

// band returns a band of a signature.
func (x *index) band(signature []byte, band int) []byte {
	return signature[band*x.rows : (band+1)*x.rows]
}

func (x *index) sketch(slot uint32) []byte { return x.sketches.At(int(slot)) }

func (x *index) signature(slot uint32) []byte { return x.sketch(slot)[:x.hashes] }

func (x *index) seq(slot uint32) uint64 { return x.seqs.At(int(slot))[0] }

// centre makes a centre of what is kept of it.
func (x *index) centre(slot uint32) singlepass.Centre {
	c := x.view(slot)
	c.Sketch = strings.Clone(c.Sketch)
	return c
}

// view returns what centre does, but its sketch is good only until the index changes.
func (x *index) view(slot uint32) singlepass.Centre {
	sketch := x.sketch(slot)
	return singlepass.Centre{
		Fingerprint: singlepass.Fingerprint{
			Hash: x.seqs.At(int(slot))[1], Sketch: unsafe.String(unsafe.SliceData(sketch), len(sketch)),
		},
		Seq: x.seq(slot),
	}
}

// hash returns the hash of a band of the centre in a slot.
func (x *index) hash(slot uint32, band int) uint64 {
	return xxh3.Hash(x.band(x.signature(slot), band))
}

func (x *index) Insert(c singlepass.Centre) {
	if x.Len() == MaxSlots {
		panic("minhash: an index holds no more than 2^28 centres")
	}
	slot := uint32(x.Len())
	copy(x.sketches.Push(), c.Sketch)
	row := x.seqs.Push()
	row[0], row[1] = c.Seq, c.Hash
	x.prefetch(slot)
	for band := range x.bands {
		x.put(slot, band)
	}
	x.tables.Resize(x.Len())
}

// prefetch reads the buckets from memory that the bands of a slot are in.
func (x *index) prefetch(slot uint32) {
	var hashes [together]uint64
	var probes [together]Probe
	for first := 0; first < x.bands; first += together {
		n := x.hashesOf(x.signature(slot), first, &hashes)
		x.tables.ProbeAll(first, hashes[:n], probes[:n])
	}
}

// hashesOf sets hashes to those of the bands of a signature from first on, and returns how many
// these are.
func (x *index) hashesOf(signature []byte, first int, hashes *[together]uint64) int {
	n := min(together, x.bands-first)
	for i := range n {
		hashes[i] = xxh3.Hash(x.band(signature, first+i))
	}
	return n
}

// BulkLoad makes the tables at their final size.
func (x *index) BulkLoad(n int, centres iter.Seq[singlepass.Centre]) {
	x.tables.Expect(n)
	for c := range centres {
		x.Insert(c)
	}
}

func (x *index) Remove(c singlepass.Centre) bool {
	slot, ok := x.find(c)
	if !ok {
		return false
	}
	x.prefetch(slot)
	for band := range x.bands {
		x.take(slot, band)
	}
	if last := uint32(x.Len() - 1); last != slot {
		copy(x.sketch(slot), x.sketch(last))
		copy(x.seqs.At(int(slot)), x.seqs.At(int(last)))
		x.prefetch(slot)
		for band := range x.bands {
			x.move(last, slot, band)
		}
	}
	x.sketches.Pop()
	x.seqs.Pop()
	x.tables.Resize(x.Len())
	return true
}

// find returns the slot of a centre.
func (x *index) find(c singlepass.Centre) (slot uint32, ok bool) {
	if len(c.Sketch) != x.sketches.Width() {
		return 0, false
	}
	wanted := []byte(c.Sketch[:x.hashes])
	if sharing := x.cappedBucket(wanted, 0); sharing != nil {
		slot, ok = sharing.Find(capped.Member{Sketch: wanted, Seq: c.Seq})
		return slot, ok && string(x.sketch(slot)) == c.Sketch
	}
	p := x.tables.Probe(0, xxh3.Hash(x.band(wanted, 0)))
	p.All(func(may uint32) {
		if x.seq(may) == c.Seq && string(x.sketch(may)) == c.Sketch {
			slot, ok = may, true
		}
	})
	return slot, ok
}
