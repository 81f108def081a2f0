package state_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space/state"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

func TestEmptyStore(t *testing.T) {
	disk := vfs.NewMem()
	s := open(t, disk)
	newModel().check(t, s)
	closeStore(t, s)
	s = open(t, disk)
	newModel().check(t, s)
	s.Meta().Founders[0] = 7 // a copy, that can be written to
	newModel().check(t, s)
	closeStore(t, s)
}

func TestApply(t *testing.T) {
	one, two := founded(1, 100), founded(2, 200)
	get := func(t *testing.T, s *state.Store, seq uint64) cluster.Cluster {
		c, ok, err := s.Get(seq)
		if err != nil || !ok {
			t.Fatalf("Get(%d) = %t, %v", seq, ok, err)
		}
		return c
	}
	type step func(t *testing.T, s *state.Store, m *model) (put, remove []cluster.Cluster)
	put := func(clusters ...cluster.Cluster) step {
		return func(*testing.T, *state.Store, *model) (_, _ []cluster.Cluster) { return clusters, nil }
	}
	remove := func(clusters ...cluster.Cluster) step {
		return func(*testing.T, *state.Store, *model) (_, _ []cluster.Cluster) { return nil, clusters }
	}
	for name, steps := range map[string][]step{
		"a new cluster":                   {put(one)},
		"two at once":                     {put(one, two)},
		"nothing but the mark":            {put(one), put(), put()},
		"founded and joined in one batch": {put(joined(joined(one, 2, 150), 3, 90))},
		"without id and title": {put(cluster.Cluster{
			Centre: singlepass.Centre{Seq: 1}, Founder: one.Founder, Position: 1, Size: 1,
		})},
		"the same again":                     {put(one, two), put(one, two)},
		"older than what is there":           {put(two), put(one), put(founded(0, 50))},
		"joined, from what was made":         {put(one), put(joined(one, 5, 300))},
		"one that was never there goes":      {put(one), remove(two)},
		"one that is new goes":               {remove(two), put(one)},
		"removed, from what was made":        {put(one, two), remove(one)},
		"removed twice":                      {put(one, two), remove(one), remove(one)},
		"removed, from what was made, later": {put(one, two), put(joined(one, 5, 300)), remove(one)},
		"removed and put again":              {put(one, two), remove(one), put(one)},
		"joined, from what was read": {
			put(one, two),
			func(t *testing.T, s *state.Store, _ *model) (_, _ []cluster.Cluster) {
				return []cluster.Cluster{joined(get(t, s, 1), 5, 300)}, nil
			},
		},
		"removed, from what was read": {
			put(one, two), put(joined(one, 5, 300)),
			func(t *testing.T, s *state.Store, _ *model) (_, _ []cluster.Cluster) {
				return nil, []cluster.Cluster{get(t, s, 1)}
			},
		},
		"joined, when Overdue has moved its expiry entry since it was read": {
			put(one, two), put(joined(one, 5, 300)),
			func(t *testing.T, s *state.Store, _ *model) (_, _ []cluster.Cluster) {
				c := get(t, s, 1)
				if overdue, err := s.Overdue("", 150, 10); err != nil || overdue != nil {
					t.Fatalf("Overdue = %v, %v", overdue, err)
				}
				return []cluster.Cluster{joined(c, 6, 400)}, nil
			},
			func(t *testing.T, s *state.Store, _ *model) (_, _ []cluster.Cluster) {
				return nil, []cluster.Cluster{get(t, s, 1)}
			},
		},
		"removed, from what was read before another change": {
			put(one, two),
			func(t *testing.T, s *state.Store, m *model) (_, _ []cluster.Cluster) {
				read := get(t, s, 1)
				if err := m.apply(s, 9, []cluster.Cluster{joined(read, 5, 300)}, nil); err != nil {
					t.Fatal(err)
				}
				if overdue, err := s.Overdue("", 150, 10); err != nil || overdue != nil {
					t.Fatalf("Overdue = %v, %v", overdue, err)
				}
				return nil, []cluster.Cluster{read}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			disk := vfs.NewMem()
			s, m := open(t, disk), newModel()
			for i, step := range steps {
				put, remove := step(t, s, &m)
				if err := m.apply(s, int64(10+i), put, remove); err != nil {
					t.Fatal(err)
				}
				m.check(t, s)
			}
			closeStore(t, s)
			s = open(t, disk)
			m.check(t, s)
			closeStore(t, s)
		})
	}
}

// What would make the store another than the topic is refused, and changes nothing.
func TestApplyRefuses(t *testing.T) {
	one, two := founded(1, 100), founded(2, 200)
	foreign := founded(3, 300)
	foreign.Founder.Topic = "comments"
	impostor := one
	impostor.Founder.Offset = 99
	for name, tt := range map[string]struct {
		put, remove []cluster.Cluster
		next        uint64
		want        string
	}{
		"put twice": {
			[]cluster.Cluster{two, two},
			nil, 4,
			"cluster articles/2/2, 2 in the order of founding, is changed twice at once",
		},
		"put and removed": {
			[]cluster.Cluster{one},
			[]cluster.Cluster{one},
			4,
			"cluster articles/1/1, 1 in the order of founding, is changed twice at once",
		},
		"of another topic": {
			[]cluster.Cluster{foreign}, nil, 4, "cluster comments/0/3 is not of topic articles",
		},
		"remove of another": {
			nil, []cluster.Cluster{foreign}, 4, "cluster comments/0/3 is not of topic articles",
		},
		"two of one seq": {
			[]cluster.Cluster{impostor},
			nil, 4,
			"clusters articles/1/1 and articles/1/99 are both 1 in the order of founding",
		},
		"one that is impossible": {[]cluster.Cluster{{
			Centre: singlepass.Centre{Seq: 2}, Position: 2, Founder: two.Founder, Size: -1,
		}}, nil, 4, "cluster articles/2/2: size -1: the founder has position 2, the last member 2"},
		"a position yet to come": {
			[]cluster.Cluster{founded(4, 1)}, nil, 4, "cluster 4 is not below the next position, 4",
		},
		"positions go back": {nil, nil, 1, "the next position was 2 and would be 1"},
	} {
		t.Run(name, func(t *testing.T) {
			s, m := open(t, vfs.NewMem()), newModel()
			if err := m.apply(s, 1, []cluster.Cluster{one}, nil); err != nil {
				t.Fatal(err)
			}
			meta := m.clone().meta
			meta.Next = tt.next
			if err := s.Apply(tt.put, tt.remove, meta); err == nil || err.Error() != tt.want {
				t.Errorf("error = %v, want %s", err, tt.want)
			}
			m.check(t, s)
			closeStore(t, s)
		})
	}
}

func TestFind(t *testing.T) {
	s, m := open(t, vfs.NewMem()), newModel()
	if err := m.apply(s, 1, []cluster.Cluster{founded(1, 100), founded(4, 100)}, nil); err != nil {
		t.Fatal(err)
	}
	for founder, want := range map[article.Address]uint64{
		{Topic: "articles", Partition: 1, Offset: 1}: 1,
		{Topic: "articles", Partition: 1, Offset: 4}: 4,
		{Topic: "articles", Partition: 1, Offset: 2}: 0,
		{Topic: "articles", Partition: 0, Offset: 1}: 0,
		{Topic: "comments", Partition: 1, Offset: 1}: 0,
	} {
		c, ok, err := s.Find(founder)
		if err != nil || ok != (want != 0) || c.Seq != want {
			t.Errorf("Find(%s) = %d, %t, %v, want %d", founder, c.Seq, ok, err, want)
		}
	}
	closeStore(t, s)
}

func TestOverdue(t *testing.T) {
	s, m := open(t, vfs.NewMem()), newModel()
	var all []cluster.Cluster
	for seq := range uint64(10) {
		all = append(all, founded(seq, int64(100-seq))) // the newest was seen longest ago
	}
	again := joined(all[9], 20, 500) // but for this one
	if err := errors.Join(m.apply(s, 1, all, nil),
		m.apply(s, 2, []cluster.Cluster{again}, nil)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		before int64
		limit  int
		want   []uint64
	}{
		{91, 5, nil}, // 9 is moved
		{92, 5, nil}, // before is not within
		{93, 5, []uint64{8}},
		{96, 2, []uint64{8, 7}}, // those last seen longest ago
		{96, 0, nil},
		{96, 9, []uint64{8, 7, 6, 5}}, // the same, until they are removed
		{501, 99, []uint64{8, 7, 6, 5, 4, 3, 2, 1, 0, 9}},
		{90, 5, nil},
	} {
		got, err := s.Overdue("", tt.before, tt.limit)
		var seqs []uint64
		for _, c := range got {
			seqs = append(seqs, c.Seq)
		}
		if err != nil || !slices.Equal(seqs, tt.want) {
			t.Errorf("Overdue(%d, %d) = %v, %v, want %v", tt.before, tt.limit, seqs, err, tt.want)
		}
	}
	// One that was seen long ago is found although younger ones have been looked at.
	if err := m.apply(s, 3, []cluster.Cluster{founded(30, 5)}, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Overdue("", 50, 5); err != nil || len(got) != 1 || got[0].Seq != 30 {
		t.Errorf("Overdue(50) = %v, %v, want cluster 30", got, err)
	}
	if err := m.apply(s, 4, []cluster.Cluster{joined(founded(30, 5), 31, 50)}, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Overdue("", 50, 5); err != nil || len(got) != 0 {
		t.Errorf("Overdue(50) = %v, %v, want none: cluster 30 was seen at 50", got, err)
	}
	m.check(t, s)
	closeStore(t, s)
}

// The work of a call is bounded where many entries have to be moved, and the calls after it go on.
func TestOverdueIsBounded(t *testing.T) {
	s, m := open(t, vfs.NewMem()), newModel()
	var all, again []cluster.Cluster
	for seq := range uint64(20) {
		c := founded(seq, int64(seq))
		if all = append(all, c); seq < 19 {
			again = append(again, joined(c, 100+seq, 1000))
		}
	}
	if err := errors.Join(m.apply(s, 1, all, nil), m.apply(s, 2, again, nil)); err != nil {
		t.Fatal(err)
	}
	calls := 0
	for ; calls < 10; calls++ {
		got, err := s.Overdue("", 500, 1)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) == 1 && got[0].Seq == 19 {
			break
		}
	}
	if calls != 4 { // four entries a call
		t.Errorf("cluster 19 was found after %d calls, want 4", calls)
	}
	m.check(t, s)
	closeStore(t, s)
}

func TestCentresEnd(t *testing.T) {
	s, m := open(t, vfs.NewMem()), newModel()
	var all []cluster.Cluster
	for seq := range uint64(5000) {
		all = append(all, founded(seq, 1))
	}
	if err := m.apply(s, 1, all, nil); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := s.Centres(t.Context(), func(singlepass.Centre, int64) error { return broken })
	if !errors.Is(err, broken) {
		t.Errorf("error = %v, want that of each", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(broken)
	err = s.Centres(ctx, func(singlepass.Centre, int64) error { return nil })
	if !errors.Is(err, broken) {
		t.Errorf("error = %v, want the context's cause", err)
	}
	closeStore(t, s)
}

// Clusters without a centre would be joined by nobody.
func TestCentresAreAll(t *testing.T) {
	disk := vfs.NewMem()
	s, m := open(t, disk), newModel()
	if err := m.apply(s, 1, []cluster.Cluster{founded(1, 100)}, nil); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	rewriteHeader(t, disk,
		func(value []byte) []byte {
			return bytes.Replace(value, []byte(`"live":1`), []byte(`"live":2`),
				1)
		})
	s = open(t, disk)
	err := s.Centres(t.Context(), func(singlepass.Centre, int64) error { return nil })
	if !errors.Is(err, state.ErrDamaged) {
		t.Errorf("error = %v, want it to be damaged", err)
	}
	closeStore(t, s)
}

// A change reaches the disk without Close: with the first Apply some seconds later.
func TestFlushedInTime(t *testing.T) {
	disk := vfs.NewCrashableMem()
	now := wallClock()
	o := options(disk)
	o.Now = func() time.Time { return now }
	s, err := state.Open(dir, identity(), o)
	if err != nil {
		t.Fatal(err)
	}
	m := newModel()
	apply := func(step int64) {
		t.Helper()
		if err := m.apply(s, step, []cluster.Cluster{founded(uint64(step), 100)}, nil); err != nil {
			t.Fatal(err)
		}
	}
	onDisk := func() int64 {
		t.Helper()
		crashed := open(t, disk.CrashClone(vfs.CrashCloneCfg{}))
		defer closeStore(t, crashed)
		return crashed.Meta().Offsets[0]
	}
	apply(1)
	now = now.Add(15*time.Second - 1)
	apply(2)
	if at := onDisk(); at != 0 {
		t.Errorf("step %d is on disk, want none yet", at)
	}
	now = now.Add(1)
	apply(3)
	wait.Until(t, "the flush", func() bool { return onDisk() == 3 })
	now = now.Add(time.Second)
	apply(4)
	if at := onDisk(); at != 3 {
		t.Errorf("step %d is on disk, want 3", at)
	}
	closeStore(t, s)
	if at := onDisk(); at != 4 {
		t.Errorf("after Close, step %d is on disk, want 4", at)
	}
}
