package state_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/space/state"
	"github.com/clusterd/clusterd/internal/testutil/check"
)

// Whatever befalls a file of a store, the store is refused, when it is opened or when it is read,
// or it is exactly what it was at its own mark.
func TestDamage(t *testing.T) {
	disk, history := smallStore(t)
	files := read(t, disk)
	outcomes := make(map[string]int)
	step := 1
	if check.Race {
		step = 40
	}
	for name, content := range files {
		damaged := func(what string, content []byte) {
			other := maps.Clone(files)
			other[name] = content
			outcome, err := reopened(t, write(t, other), history)
			if err != nil {
				t.Errorf("%s, %s: %v", name, what, err)
			}
			outcomes[outcome]++
		}
		for n := 0; n < len(content); n += step * cutStride {
			damaged(fmt.Sprintf("cut to %d bytes of %d", n, len(content)), content[:n])
		}
		for bit := 0; bit < 8*len(content); bit += step * bitStride {
			flipped := bytes.Clone(content)
			flipped[bit/8] ^= 1 << (bit % 8)
			damaged(fmt.Sprintf("bit %d of byte %d flipped", bit%8, bit/8), flipped)
		}
		other := maps.Clone(files)
		delete(other, name)
		outcome, err := reopened(t, write(t, other), history)
		if err != nil {
			t.Errorf("%s, missing: %v", name, err)
		}
		outcomes[outcome]++
	}
	t.Log(outcomes)
	if outcomes["refused when opened"] == 0 || outcomes["refused when read"] == 0 ||
		outcomes["as it was"] == 0 {
		t.Errorf("%v: the damage should show in every way", outcomes)
	}
}

// smallStore is a store of a few tables, closed, and what it held at each mark.
func smallStore(t *testing.T) (*vfs.MemFS, []model) {
	t.Helper()
	disk := vfs.NewMem()
	s, m := open(t, disk), newModel()
	history := []model{m.clone()}
	// More than one block of a table, but few bytes.
	var many []cluster.Cluster
	for seq := range uint64(40) {
		c := founded(100+seq, 0)
		c.Representative.Title = strings.Repeat("标题", 40)
		many = append(many, c)
	}
	if err := errors.Join(m.apply(s, 1, many, nil), s.Flush()); err != nil {
		t.Fatal(err)
	}
	history = append(history, m.clone())
	for step := range int64(2) {
		var put, remove []cluster.Cluster
		for i := range uint64(4) {
			put = append(put, founded(uint64(step)*4+i, 100*step))
		}
		if step > 0 {
			put = append(put, joined(founded(uint64(step-1)*4, 100*(step-1)), uint64(step)*4+3, 1000))
			remove = append(remove, founded(uint64(step-1)*4+1, 0))
		}
		if err := errors.Join(m.apply(s, step+2, put, remove), s.Flush()); err != nil {
			t.Fatal(err)
		}
		history = append(history, m.clone())
	}
	closeStore(t, s)
	return disk, history
}

// reopened opens the store on disk, and compares it to what it was at its mark. It says what came
// of it.
func reopened(t *testing.T, disk vfs.FS, history []model) (outcome string, err error) {
	s, err := state.Open(dir, identity(), options(disk))
	if err != nil {
		return "refused when opened", unless(refused(err), err)
	}
	defer func() { _ = s.Close() }() // it may say that the store is damaged
	mark := s.Meta().Offsets[0]
	diff, err := history[mark].difference(t, s)
	switch {
	case err != nil:
		return "refused when read", unless(errors.Is(err, state.ErrDamaged), err)
	case diff != "":
		return "wrong", fmt.Errorf("at mark %d (-want +got)\n%s", mark, diff)
	case int(mark) < len(history)-1:
		return "at an earlier mark", nil
	default:
		return "as it was", nil
	}
}

func unless(fine bool, err error) error {
	if fine {
		return nil
	}
	return err
}
