// tables.go holds the hash tables of an index for locality-sensitive hashing, one for each
// band of the sketches, and rows of equal width to keep the sketches in. In go hashes of bands,
// each with the slot of a sketch; out come the slots whose hashes agree in up to 27 bits, and next
// to no others.

package minhash

import "math/bits"

const (
	// bucketLoad is how many slots there are to a bucket, 16 at most. BenchmarkNearest and
	// BenchmarkMemory of minhash set it.
	bucketLoad = 12
	// slotBits are those of a slot beside the bits that address its bucket: with a bucket for every
	// 16 slots at most, and twice as many buckets at the next level, a slot has room in that.
	slotBits = 5
	// MaxSlots is how many slots there may be.
	MaxSlots = 1 << 28
)

// An entry is a slot in a bucket that so many bits of the hash address: in its low bits, as many
// and slotBits more, the slot, and above it further bits of the hash. Bit i of the hash is bit
// i+slotBits of the entry. So the bucket and the entry together say 27 bits of it, however large
// the table is (quotienting: Knuth, "The Art of Computer Programming", volume 3, 6.4), and a bucket
// is divided by what is in it.
type entry uint32

// A Probe is the bucket of a hash in one of the tables. It is good until the tables change.
type Probe struct {
	entries []entry
	hash    entry // bits of the hash where an entry has them
	slots   entry // a mask of the bits of an entry that say the slot
	read    entry // keeps the compiler from leaving reads out; it means nothing
}

// All calls visit with the slots that may have the hash of the probe.
func (p *Probe) All(visit func(slot uint32)) {
	for _, e := range p.entries {
		if p.mayShare(e) {
			visit(uint32(e & p.slots))
		}
	}
}

// Sharing returns of how many slots All would call visit, if more than a number; else it may return
// any number up to that.
func (p *Probe) Sharing(more int) (n int) {
	if len(p.entries) <= more {
		return 0
	}
	for _, e := range p.entries {
		if p.mayShare(e) {
			n++
		}
	}
	return n
}

func (p *Probe) mayShare(e entry) bool { return (e^p.hash)&^p.slots == 0 }

// entry returns that of a slot with the hash of the probe.
func (p *Probe) entry(slot uint32) entry { return p.hash&^p.slots | entry(slot) }

// index returns where a slot is, which must be there.
func (p *Probe) index(slot uint32) int {
	for i, e := range p.entries {
		if uint32(e&p.slots) == slot {
			return i
		}
	}
	panic("banding: a slot is not where its hash leads")
}

// Tables are linear hash tables (Litwin, "Linear Hashing", VLDB 1980) all of the same size. There
// is a bucket more for every bucketLoad slots, and it takes its share from one other, so that
// growth never stops for long. They may be read by many at once while nothing changes them.
type Tables struct {
	buckets Rows[leaf] // a row is a bucket in each table
	arena
}

// NewTables returns so many empty tables.
func NewTables(n int) Tables {
	t := Tables{buckets: NewRows[leaf](n)}
	clear(t.buckets.Push())
	return t
}

// level returns how many low bits of a hash address every bucket. The first few have been split
// already, and they and what they were split into are addressed by one bit more.
func (t *Tables) level() int { return bits.Len(uint(t.buckets.len)) - 1 }

// bucket returns the address of the bucket of a hash, and how many bits address it.
func (t *Tables) bucket(hash uint64) (address, width int) {
	level := t.level()
	low := int(hash) & (1<<level - 1)
	split := 0
	if low < t.buckets.len-1<<level {
		split = 1
	}
	return low | int(hash)&(split<<level), level + split
}

// at returns the bucket of a hash in a table, and a probe of it that has no entries yet.
func (t *Tables) at(table int, hash uint64) (*leaf, Probe) {
	address, width := t.bucket(hash)
	return &t.buckets.At(address)[table],
		Probe{hash: entry(hash << slotBits), slots: 1<<(width+slotBits) - 1}
}

// Probe returns that of a hash in a table.
func (t *Tables) Probe(table int, hash uint64) Probe {
	l, p := t.at(table, hash)
	p.entries = t.entries(*l)
	return p
}

// ProbeAll sets probes to those of hashes, the first of them in this table, the next in the next
// one, and so on. It asks for all buckets before it reads one, and for all entries likewise, so
// that the processor waits for memory twice, and not twice for each.
func (t *Tables) ProbeAll(table int, hashes []uint64, probes []Probe) {
	var leaves [8]leaf
	for len(hashes) > 0 {
		n := min(len(hashes), len(leaves))
		for i, hash := range hashes[:n] {
			l, p := t.at(table+i, hash)
			leaves[i], probes[i] = *l, p
		}
		for i, l := range leaves[:n] {
			if entries := t.entries(l); len(entries) > 0 {
				probes[i].entries = entries
				probes[i].read = entries[0] + entries[len(entries)-1]
			}
		}
		table, hashes, probes = table+n, hashes[n:], probes[n:]
	}
}

// Add puts a slot in, and returns the probe of its hash. Slots are numbered from 0, and Resize is
// called whenever there is one more or less.
func (t *Tables) Add(table int, hash uint64, slot uint32) Probe {
	l, p := t.at(table, hash)
	t.append(l, p.entry(slot))
	p.entries = t.entries(*l)
	return p
}

// Remove takes out a slot, which must be there.
func (t *Tables) Remove(table int, hash uint64, slot uint32) {
	l, p := t.at(table, hash)
	p.entries = t.entries(*l)
	p.entries[p.index(slot)] = p.entries[len(p.entries)-1]
	t.shorten(l)
}

// Replace puts another slot in the place of one, which must be there.
func (t *Tables) Replace(table int, hash uint64, from, to uint32) {
	p := t.Probe(table, hash)
	p.entries[p.index(from)] = p.entry(to)
}

// Resize makes the tables fit so many slots, which is up to MaxSlots and one more or less than
// before. Some buckets more than needed are left, so that slots that come and go do not split and
// merge the same one.
func (t *Tables) Resize(slots int) {
	if slots > bucketLoad*t.buckets.len {
		t.split()
	} else if slots < bucketLoad*(t.buckets.len-spare) {
		t.merge()
	}
	if t.evacuating() {
		t.evacuate()
	}
}

// Expect makes empty tables as large as so many slots need.
func (t *Tables) Expect(slots int) {
	for t.buckets.len < slots/bucketLoad {
		clear(t.buckets.Push())
	}
}

// split makes one bucket more.
func (t *Tables) split() {
	width := t.level()
	from := t.buckets.At(t.buckets.len - 1<<width)
	added := t.buckets.Push()
	t.prefetch(from)
	for i, l := range from {
		from[i], added[i] = t.halve(l, 1<<(width+slotBits))
	}
}

// halve divides a leaf by a bit of its entries, which then is one of the slot.
func (t *Tables) halve(l leaf, bit entry) (without, with leaf) {
	entries := t.entries(l)
	var n uint32
	for _, e := range entries {
		if e&bit != 0 {
			n++
		}
	}
	without, with = t.alloc(l.n-n), t.alloc(n)
	left, right := t.entries(without), t.entries(with)
	for _, e := range entries {
		if e&bit == 0 {
			left[0], left = e, left[1:]
		} else {
			right[0], right = e&^bit, right[1:]
		}
	}
	t.free(l)
	return without, with
}

// merge removes the last bucket.
func (t *Tables) merge() {
	address := uint(t.buckets.len - 1)
	width := bits.Len(address) - 1 // of the bucket that it was split from
	last, into := t.buckets.At(int(address)), t.buckets.At(int(address&^(1<<width)))
	for i, l := range last {
		both := t.alloc(into[i].n + l.n)
		to := t.entries(both)
		to = to[copy(to, t.entries(into[i])):]
		for j, e := range t.entries(l) {
			to[j] = e | 1<<(width+slotBits)
		}
		t.free(into[i])
		t.free(l)
		into[i] = both
	}
	t.buckets.Pop()
}

// prefetch reads from memory what leaves are in, all of them before any is used.
func (t *Tables) prefetch(leaves []leaf) {
	for _, l := range leaves {
		if entries := t.entries(l); len(entries) > 0 {
			t.read += entries[0] + entries[len(entries)-1]
		}
	}
}

// evacuate moves the leaves of one bucket more out of the arena that is to go, and gives that back
// when it has none.
func (t *Tables) evacuate() {
	if t.moved >= t.buckets.len {
		t.release()
		return
	}
	row := t.buckets.At(t.moved)
	t.prefetch(row)
	for i, l := range row {
		row[i] = t.move(l)
	}
	t.moved++
}
