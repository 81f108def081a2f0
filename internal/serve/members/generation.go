package members

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/clusterd/clusterd/internal/space/disk"
)

// An identity says of what a view is a cache. A view with another identity is foreign.
type identity struct {
	Version    int    `json:"version"`
	Kafka      string `json:"kafka"` // id of the Kafka cluster
	Topic      string `json:"topic"`
	Partitions int    `json:"partitions"` // of the topic
	Input      string `json:"input"`
	Seed       uint64 `json:"seed"` // of the hashes of ids
}

// A meta is what a generation says of itself. It is written with each batch.
type meta struct {
	identity
	// Next is the checkpoint: by partition of the results topic, up to where this generation and the
	// one before it are complete. Last are the last results before that.
	Next    map[int]int64  `json:"next"`
	Last    map[int]result `json:"last"`
	Results uint64         `json:"results"` // in this generation
	Since   int64          `json:"since"`   // when the oldest of them was written, Unix milliseconds
	Evicted bool           `json:"evicted"` // a generation before this one was removed
}

// A result is one of the results topic, by which the topic is recognised.
type result struct {
	Offset  int64 `json:"offset"`
	Written int64 `json:"written"` // Unix milliseconds
}

// A generation is one of the two databases of a view.
type generation struct {
	*disk.DB
	number int // the names of their directories ascend
	dir    string
	seed   uint64 // of the hashes of ids, as in meta
	meta   meta
	size   int64 // bytes on disk, as of the last time it was asked
	asked  int   // bytes that were written when it was
}

// A generation takes at most half of what there is after a reserve for compactions, which write
// anew before they remove.
const (
	reserveShare = 3 // of it, at most: of a small view, all of one generation may be written anew
	maxReserve   = 256 << 20
)

func generationBytes(total int64) int64 {
	return (total - min(total/reserveShare, maxReserve)) / 2
}

// memTable returns how much of a generation may be in memory: little of it, and not for long.
func memTable(total int64) int { return int(min(max(total/64, 256<<10), 8<<20)) }

// cacheBytes is memory for what was read from disk. A page of members is a few blocks.
const cacheBytes = 16 << 20

// numbers returns those of the generations that are on disk, ascending.
func (v *View) numbers() ([]int, error) {
	entries, err := os.ReadDir(v.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("serve.bytes: %w", err)
	}
	var numbers []int
	for _, entry := range entries {
		if n, err := strconv.Atoi(entry.Name()); err == nil && n > 0 {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

func (v *View) openGeneration(number int) (*generation, error) {
	dir := filepath.Join(v.Dir, strconv.Itoa(number))
	d, err := disk.Open(dir, disk.Options{
		Kind: disk.Kind{Name: "members", Damaged: errDamaged}, Cache: v.cache, Log: v.Log,
		MemTable: memTable(v.Bytes),
	})
	if err != nil {
		return nil, err
	}
	g := &generation{DB: d, number: number, dir: dir, size: d.Size()}
	value, ok, err := d.Get([]byte{metaKey})
	if err == nil && ok {
		if err = json.Unmarshal(value, &g.meta); err != nil {
			err = fmt.Errorf("%w: %s: its description: %w", errDamaged, dir, err)
		}
	}
	if err != nil {
		return nil, errors.Join(err, d.Abandon())
	}
	g.seed = g.meta.Seed
	return g, nil
}

// errForeign is of a view that is of another topic than this one.
var errForeign = errors.New("the members on disk are of another topic")

// open opens the generations that are on disk, and begins a first one where there is none.
func (v *View) open(want identity) ([]*generation, error) {
	numbers, err := v.numbers()
	if err != nil {
		return nil, err
	}
	if len(numbers) == 0 {
		numbers = []int{1}
	}
	var opened []*generation
	for i, number := range numbers {
		g, err := v.openGeneration(number)
		if err != nil {
			return nil, errors.Join(err, closeAll(opened))
		}
		opened = append(opened, g)
		last := i == len(numbers)-1
		if want.Seed = g.meta.Seed; g.meta.Version != 0 && g.meta.identity != want {
			err = fmt.Errorf("%w: %s has those of %+v, and this is %+v", errForeign, v.Dir,
				g.meta.identity, want)
		} else if g.meta.Version == 0 && !last {
			err = fmt.Errorf("%w: %s says nothing of itself", errDamaged, g.dir)
		}
		if err != nil {
			return nil, errors.Join(err, closeAll(opened))
		}
	}
	// A turn was cut short: before the new generation said what it is, or before the old one was gone.
	for len(opened) > 1 && opened[len(opened)-1].meta.Version == 0 {
		opened, err = opened[:len(opened)-1], errors.Join(err, discard(opened[len(opened)-1]))
	}
	for len(opened) > 2 {
		opened, err = opened[1:], errors.Join(err, discard(opened[0]))
	}
	if err != nil {
		return nil, errors.Join(err, closeAll(opened))
	}
	return opened, nil
}

// turn begins a new generation, and removes the older of two. Before that, all that is newer is on
// disk for good.
func (v *View) turn() error {
	newest := v.newest()
	if err := newest.Flush(); err != nil {
		return err
	}
	g, err := v.openGeneration(newest.number + 1)
	if err != nil {
		return err
	}
	next := meta{
		identity: newest.meta.identity, Next: newest.meta.Next, Last: newest.meta.Last,
		Evicted: newest.meta.Evicted || len(v.generations) == 2,
	}
	batch := g.Batch()
	defer func() { _ = batch.Close() }() // it only gives memory back
	err = next.put(batch)
	if err == nil {
		err = errors.Join(g.Commit(batch), g.Flush())
	}
	if err != nil {
		return errors.Join(err, g.Abandon())
	}
	g.meta, g.seed = next, next.Seed
	before := v.generations
	v.replace([]*generation{newest, g})
	if len(before) < 2 {
		return nil
	}
	return discard(before[0])
}

// put adds the meta to a batch.
func (m *meta) put(batch *disk.Batch) error {
	value, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("describing the members: %w", err)
	}
	return batch.Set([]byte{metaKey}, value, nil)
}

func discard(g *generation) error { return errors.Join(g.Abandon(), disk.Remove(g.dir)) }

// remove deletes all that is on disk.
func (v *View) remove() error {
	numbers, err := v.numbers()
	for _, n := range slices.Backward(numbers) { // so that no newer one is left without its older
		err = errors.Join(err, disk.Remove(filepath.Join(v.Dir, strconv.Itoa(n))))
	}
	return err
}

func closeAll(generations []*generation) (err error) {
	for _, g := range generations {
		err = errors.Join(err, g.Close())
	}
	return err
}
