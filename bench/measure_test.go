package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"

	"github.com/clusterd/clusterd/bench/stage"
	"github.com/clusterd/clusterd/internal/testutil/kafkatest"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

// A rate is of what was done between the first reading of the share skipped, or more, and that of
// all but the tail.
func TestWatch(t *testing.T) {
	began := time.Now()
	readings := []reading{
		{records: 0},
		{records: 99, cpu: 1},
		{records: 100, cpu: 2},
		{records: 899, cpu: 3},
		{records: 910, cpu: time.Second, broker: time.Minute},
		{records: 1_000},
	}
	next := 0
	from, until, err := watch(t.Context(), 1_000, 0.1, func(context.Context) (reading, error) {
		r := readings[next]
		r.at = began.Add(time.Duration(next) * time.Second)
		next++
		return r, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := measurement{
		Records: 810, Seconds: 2, CPUSeconds: (time.Second - 2).Seconds(), BrokerCPUSeconds: 60,
	}
	if got := from.to(until); got != want || got.rate() != 405 || next != len(readings) {
		t.Errorf("%+v at %v/s, want %+v at 405/s", got, got.rate(), want)
	}
}

func TestWatchGivesUp(t *testing.T) {
	began, polls := time.Now(), 0
	_, _, err := watch(t.Context(), 1_000, 0.1, func(context.Context) (reading, error) {
		polls++
		return reading{at: began.Add(time.Duration(polls) * stallTimeout), records: int64(min(polls, 3))},
			nil
	})
	if err == nil || !strings.Contains(err.Error(),
		"nothing has moved for 2m0s; 3 of 1000 records are done") {
		t.Errorf("%v after %d polls", err, polls)
	}
}

func TestSettings(t *testing.T) {
	for line, want := range map[string]string{
		"":                                "",
		"-roles clusterd -inputs news":    "",
		"-roles clusterd,linear":          `-roles: "linear" is none of clusterd, ceiling, streams`,
		"-inputs mail":                    `-inputs: "mail" is neither news nor comments`,
		"-rounds 0":                       "must be positive",
		"-skip 0.9":                       "-skip: want 0 to less than 0.9",
		"more":                            "no arguments are taken",
		"-role ceiling -brokers b in out": "",
	} {
		_, _, _, err := parse(strings.Fields(line))
		if want == "" && err != nil || want != "" &&
			(err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", line, err, want)
		}
	}
}

// The roles that this program plays itself, on a broker in the test's process: the ceiling writes a
// result for each record and commits them all, the fingerprint stage counts them.
func TestRoles(t *testing.T) {
	const n = 500
	k := testCluster(t)
	c := corpus{prefix: "c", texts: []text{
		{Content: "first!"}, {Content: "what a game, what a goal"}, {Content: "转发微博。"},
	}}
	size, err := k.produce(t.Context(), "input", 4, c, n)
	if err != nil || size < n*int64(len(c.value(0))) {
		t.Fatalf("%d bytes were produced, %v", size, err)
	}
	if err := k.createTopic(t.Context(), "output", 4); err != nil {
		t.Fatal(err)
	}
	if done, err := k.committed(t.Context(), "group", "input"); done != 0 || err != nil {
		t.Errorf("%d records are committed before, %v", done, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var playing errgroup.Group
	playing.Go(func() error {
		return stage.Play(ctx, "ceiling", k.address, "simhash", []string{"input", "output", "group"},
			io.Discard)
	})
	wait.Until(t, "the ceiling's commits", func() bool {
		done, err := k.committed(t.Context(), "group", "input")
		return err == nil && done == n
	})
	cancel()
	if err := playing.Wait(); err != nil {
		t.Error(err)
	}
	if results, err := k.count(t.Context(), "output"); results != n || err != nil {
		t.Errorf("%d results, %v; want %d", results, err, n)
	}
	ctx, cancel = context.WithCancel(t.Context())
	var counted wait.Buffer
	var counting errgroup.Group
	counting.Go(func() error {
		return stage.Play(ctx, "fingerprint", k.address, "simhash", []string{"input"}, &counted)
	})
	counted.WaitFor(t, fmt.Sprintln(n), 1)
	cancel()
	if err := counting.Wait(); err != nil {
		t.Error(err)
	}
	if err := k.dropTopics(t.Context(), "out"); err != nil {
		t.Error(err)
	}
	if _, err := k.count(t.Context(), "output"); err == nil {
		t.Error("the topic is still there")
	}
	if err := stage.Play(t.Context(), "streams", k.address, "simhash", nil, io.Discard); err == nil {
		t.Error("a role that is none was played")
	}
	if err := stage.Play(t.Context(), "ceiling", k.address, "simhash", []string{"input"},
		io.Discard); err == nil {
		t.Error("a role without its topics was played")
	}
}

func testCluster(t *testing.T) *cluster {
	t.Helper()
	k := &cluster{address: kafkatest.Start(t, 1).ListenAddrs()[0]}
	client, err := kgo.NewClient(kgo.SeedBrokers(k.address))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	k.client, k.admin = client, kadm.NewClient(client)
	return k
}

// What is seen is of an article that was sent, once; anything else ends the waiting.
func TestSeen(t *testing.T) {
	in := corpus{prefix: "n"}
	record := func(id string) *kgo.Record {
		return &kgo.Record{Value: []byte(`{"article_id":"` + id +
			`"}`)}
	}
	for _, test := range []struct {
		ids  []string
		want string
	}{
		{[]string{"n0000001", "n0000000"}, ""},
		{[]string{"n0000000", "n0000000"}, "a second result of article 0"},
		{[]string{"n0000002"}, "a result of article 2, which was not sent"},
		{[]string{"c0000001"}, `"c0000001" is not the id of an article`},
	} {
		s := &seen{at: make([]time.Time, 2), news: make(chan struct{}, 1)}
		for _, id := range test.ids {
			s.note(record(id), in, time.Now())
		}
		err := s.wait(t.Context(), 2)
		if test.want == "" && err != nil || test.want != "" && (err == nil || err.Error() != test.want) {
			t.Errorf("%v: %v, want %q", test.ids, err, test.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (&seen{}).wait(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
