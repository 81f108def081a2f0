package singlepass

import (
	"iter"
	"math"
	"slices"
	"sync/atomic"
)

// A Division says how the index of a divided space is made.
type Division struct {
	// New returns an empty index of one value.
	New func() Index
	// Small is how many centres of a value are scanned before it gets an index of New; 0 is none.
	// Then Near says how far an article is from a centre, and whether it may join: what an index of
	// New answers for so few centres.
	Small int
	Near  func(article, centre Fingerprint) (distance float64, ok bool)
}

// divided is an index for each value of [Fingerprint.Space]. It has but a few bytes for each of
// very many values that have few centres.
type divided struct {
	Division
	values     map[string]*part
	len        int
	candidates atomic.Uint64
}

// A part is what a divided index has of a value.
type part struct {
	few  []small // while there are few
	many Index   // nil until then
}

// small is a centre of a part.
type small struct {
	hash   uint64
	sketch string
	seq    uint64
}

func (c *small) fingerprint(value string) Fingerprint {
	return Fingerprint{Hash: c.hash, Sketch: c.sketch, Space: value}
}

// NewDivided returns an empty index that finds the nearest among the centres that have the same
// Space as the query.
func NewDivided(d Division) Index { return &divided{Division: d, values: make(map[string]*part)} }

func (d *divided) Insert(c Centre) {
	p := d.values[c.Space]
	if p == nil {
		p = &part{}
		d.values[c.Space] = p
	}
	d.len++
	if p.many == nil && len(p.few) < d.Small {
		p.few = append(p.few, small{c.Hash, c.Sketch, c.Seq})
		return
	}
	if p.many == nil {
		p.many = d.New()
		p.many.BulkLoad(len(p.few), p.centres)
		p.few = nil
	}
	c.Space = ""
	p.many.Insert(c)
}

// centres hands on the centres of a part that has few, without their value.
func (p *part) centres(yield func(Centre) bool) {
	for i := range p.few {
		if !yield(Centre{p.few[i].fingerprint(""), p.few[i].seq}) {
			return
		}
	}
}

func (d *divided) BulkLoad(_ int, centres iter.Seq[Centre]) {
	for c := range centres {
		d.Insert(c)
	}
}

func (d *divided) Remove(c Centre) bool {
	p := d.values[c.Space]
	if p == nil || !p.remove(c) {
		return false
	}
	d.len--
	if len(p.few) == 0 && (p.many == nil || p.many.Len() == 0) {
		delete(d.values, c.Space)
	}
	return true
}

func (p *part) remove(c Centre) bool {
	if p.many != nil {
		c.Space = ""
		return p.many.Remove(c)
	}
	i := slices.Index(p.few, small{c.Hash, c.Sketch, c.Seq})
	if i < 0 {
		return false
	}
	p.few = slices.Delete(p.few, i, i+1)
	return true
}

func (d *divided) Nearest(f Fingerprint, live *Live) (Centre, float64, bool) {
	p := d.values[f.Space]
	switch {
	case p == nil:
		return Centre{}, 0, false
	case p.many == nil:
		return d.scan(p, f, live)
	}
	value := f.Space
	asked := live
	if live != nil {
		asked = &Live{
			Asked: func(c Centre) bool {
				c.Space = value
				return live.Asked(c)
			},
			Sure: live.Sure,
		}
	}
	before := p.many.Candidates()
	f.Space = ""
	c, distance, ok := p.many.Nearest(f, asked)
	d.candidates.Add(p.many.Candidates() - before)
	if ok {
		c.Space = value
	}
	return c, distance, ok
}

// scan compares a query with the few centres of a part.
func (d *divided) scan(
	p *part, f Fingerprint, live *Live,
) (Centre, float64, bool) {
	best := NewNearest(math.Inf(1), live.Func())
	for i := range p.few {
		centre := p.few[i].fingerprint(f.Space)
		if distance, ok := d.Near(f, centre); ok {
			best.Offer(Centre{centre, p.few[i].seq}, p.few[i].seq, distance)
		}
	}
	d.candidates.Add(uint64(len(p.few)))
	return best.Result()
}

func (d *divided) Len() int { return d.len }

func (d *divided) Candidates() uint64 { return d.candidates.Load() }
