package state_test

import (
	"errors"
	"io/fs"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space/state"
	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

// Whichever write to disk fails, once or from then on, and in whichever way: nothing waits for
// ever, and after a crash the store is exactly what it was at some mark.
func TestFaults(t *testing.T) {
	well := faulty{after: math.MaxInt64}
	history := []model{newModel()}
	if err := well.fill(t, vfs.NewMem(),
		func(m model) { history = append(history, m.clone()) }); err != nil {
		t.Fatal(err)
	}
	writes, step := well.writes.Load(), int64(1)
	if check.Race {
		step = 8 // the same goroutines run, whichever write fails
	}
	for name, tt := range map[string]struct {
		cause error
		once  bool
	}{
		"the disk is full":        {cause: syscall.ENOSPC},
		"the disk fails for once": {cause: syscall.EIO, once: true},
	} {
		t.Run(name, func(t *testing.T) {
			failed := 0
			for after := int64(0); after < writes; after += step {
				f := &faulty{after: after, once: tt.once, cause: tt.cause}
				err := f.run(t, history)
				if err == nil {
					continue // Pebble gets by without it
				}
				failed++
				if !errors.Is(err, f.cause) || refused(err) ||
					!strings.Contains(err.Error(), "Nothing is lost") {
					t.Errorf("write %d: error = %v, want it to say what happened (%v) and that nothing is lost",
						after, err, f.cause)
				}
				if f.cause == syscall.ENOSPC && !strings.Contains(err.Error(), "free some space") {
					t.Errorf("write %d: error = %v, want it to say what to do", after, err)
				}
			}
			if int64(failed)*step < 20 {
				t.Errorf("%d failures of %d were noticed", failed, writes/step)
			}
		})
	}
}

// What fails while a store is made is an error, and not fatal.
func TestOpenFails(t *testing.T) {
	well := &faulty{after: math.MaxInt64}
	closeStore(t, open(t, errorfs.Wrap(vfs.NewMem(), well)))
	failed := 0
	for after := range well.writes.Load() {
		s, err := state.Open(dir, identity(),
			options(errorfs.Wrap(vfs.NewMem(), &faulty{after: after, cause: syscall.ENOSPC})))
		if err == nil {
			_ = s.Close() // the disk is full
			continue
		}
		if failed++; refused(err) || !strings.Contains(err.Error(), "free some space") {
			t.Errorf("write %d: error = %v, want it to say what to do", after, err)
		}
	}
	if failed < 10 {
		t.Errorf("%d failures of %d were noticed", failed, well.writes.Load())
	}
}

// A disk that cannot be read is an error of the system, and the store is not thrown away for it.
func TestReadsFail(t *testing.T) {
	disk := vfs.NewMem()
	s, m := open(t, disk), newModel()
	var many []cluster.Cluster // more than one block of a table
	for seq := range uint64(1000) {
		many = append(many, founded(seq, int64(seq)))
	}
	if err := m.apply(s, 1, many, nil); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	for name, read := range map[string]func(*state.Store) error{
		"Get":     func(s *state.Store) error { _, _, err := s.Get(7); return err },
		"Find":    func(s *state.Store) error { _, _, err := s.Find(many[7].Founder); return err },
		"Overdue": func(s *state.Store) error { _, err := s.Overdue("", 10, 10); return err },
		"Centres": func(s *state.Store) error {
			return s.Centres(t.Context(), func(singlepass.Centre, int64) error { return nil })
		},
		"Apply": func(s *state.Store) error { return s.Apply(many[:1], nil, m.meta) },
	} {
		t.Run(name, func(t *testing.T) {
			var broken atomic.Bool
			s := open(t, errorfs.Wrap(disk, errorfs.InjectorFunc(func(op errorfs.Op) error {
				if broken.Load() && op.Kind == errorfs.OpFileReadAt {
					return &fs.PathError{Op: "read", Path: op.Path, Err: syscall.EIO}
				}
				return nil
			})))
			broken.Store(true)
			if err := read(s); !errors.Is(err, syscall.EIO) || refused(err) ||
				strings.Count(err.Error(), "Nothing is lost") != 1 {
				t.Errorf("error = %v, want it to say what happened and that nothing is lost", err)
			}
			_ = s.Close() // Pebble itself may have met the same in the background
		})
	}
}

// faulty is a disk that fails.
type faulty struct {
	after  int64 // so many writes
	once   bool
	cause  error
	writes atomic.Int64
}

func (f *faulty) String() string { return "faulty" }

// MaybeError fails writes.
func (f *faulty) MaybeError(op errorfs.Op) error {
	if op.Kind.ReadOrWrite() != errorfs.OpIsWrite {
		return nil
	}
	n := f.writes.Add(1) - 1
	if n < f.after || f.once && n > f.after {
		return nil
	}
	return &fs.PathError{Op: "write", Path: op.Path, Err: f.cause}
}

// run fills a store on the disk until something fails, and returns the error. It checks what is on
// disk then.
func (f *faulty) run(t *testing.T, history []model) error {
	t.Helper()
	disk := vfs.NewCrashableMem()
	ended := make(chan error, 1)
	go func() { ended <- f.fill(t, disk, func(model) {}) }()
	var err error
	select {
	case err = <-ended:
	case <-time.After(wait.Timeout):
		stacks := make([]byte, 1<<20)
		t.Fatalf("with write %d failing it waits for ever\n%s", f.after,
			stacks[:runtime.Stack(stacks, true)])
	}
	for _, percent := range []int{0, 100} {
		w := &walk{
			T: t, disk: disk.CrashClone(vfs.CrashCloneCfg{
				UnsyncedDataPercent: percent, RNG: rand.New(rand.NewPCG(1, 1)),
			}), history: history,
		}
		w.store = open(t, w.disk)
		w.back()
		if mark := int(w.store.Meta().Offsets[0]); err == nil && mark != len(history)-1 {
			t.Errorf("all was written, and the disk is at mark %d of %d", mark, len(history)-1)
		}
		closeStore(t, w.store)
	}
	return err
}

// fill makes a store, opens it a second time halfway, and hands on what it holds after each step.
func (f *faulty) fill(t *testing.T, disk vfs.FS, applied func(model)) error {
	m := newModel()
	for range 2 {
		err := f.session(t, disk, func(s *state.Store) error {
			for range 4 {
				step := m.meta.Offsets[0]
				put := []cluster.Cluster{founded(uint64(2*step), step), founded(uint64(2*step+1), step)}
				if err := m.apply(s, step+1, put, nil); err != nil {
					return err
				}
				applied(m)
				if step%2 == 0 {
					continue
				}
				if err := s.Flush(); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// session is the life of a process with a store, which ends by itself or by Fatal.
func (f *faulty) session(t *testing.T, disk vfs.FS, do func(*state.Store) error) error {
	ended := make(chan error, 2)
	o := options(errorfs.Wrap(disk, f))
	o.Fatal = func(err error) {
		ended <- err
		select {} // as a process that has ended, with all locks held
	}
	go func() {
		s, err := state.Open(dir, identity(), o)
		if err == nil {
			err = errors.Join(do(s), s.Close())
		}
		ended <- err
	}()
	return <-ended
}
