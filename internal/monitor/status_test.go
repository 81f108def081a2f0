package monitor

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/clusterd/clusterd/internal/kafka"
)

const openSaid = "an open transaction holds articles/0 back at offset 7 since " +
	"2026-01-02T03:04:05Z, with 1600 records from there on " +
	"(it ends when its producer commits or aborts. " +
	"Whose it is: kafka-transactions.sh --bootstrap-server HOST:PORT describe-producers --topic " +
	"articles --partition 0. " +
	"Whether nobody will end it: kafka-transactions.sh --bootstrap-server HOST:PORT find-hanging " +
	"--topic articles --partition 0. " +
	"To end it: kafka-transactions.sh --bootstrap-server HOST:PORT abort --topic articles " +
	"--partition 0 --start-offset 7)"

var errRefused = fmt.Errorf("%w", syscall.ECONNREFUSED)

var errDown = errors.New("dial tcp 127.0.0.1:9092: connection refused")

func TestStatus(t *testing.T) {
	for _, tt := range []struct {
		name      string
		do        func(i *instance)
		ready     bool
		state     string
		reachable bool
		reason    string
	}{
		{
			"it has just begun", func(*instance) {},
			false, "joining", false, "joining the consumer group",
		},
		{
			"the brokers were never there",
			func(i *instance) { i.Joining(); i.wait(time.Minute); i.Failed(errDown) },
			false, "joining", false,
			"joining the consumer group: dial tcp 127.0.0.1:9092: connection refused",
		},
		{
			"it follows its space before it has joined", func(i *instance) { i.Standby("all"); i.Joining() },
			false, "joining", true, "joining the consumer group",
		},
		{
			"it has joined and been given nothing", func(i *instance) { i.Joining(); i.Joined(nil) },
			true, "standby", true, "standing by: other members of the group own all partitions",
		},
		{
			"it only serves, and does not know the topics yet",
			func(i *instance) { i.Serving() },
			false, "recovering", false, "looking for the topics",
		},
		{
			"it only serves, and reads the clusters",
			func(i *instance) { i.Serving(); i.Recovering("all", "reading clusters back") },
			false, "recovering", false, "recovering space all: reading clusters back",
		},
		{
			"it only serves, and has all but one space",
			func(i *instance) { i.Serving(); i.Standby("0"); i.Recovering("1", "filling the index") },
			false, "recovering", true, "recovering space 1: filling the index",
		},
		{
			"it only serves", func(i *instance) { i.Serving(); i.Standby("all"); i.fetching(time.Hour) },
			true, "standby", true, "answering: role serve never joins the group",
		},
		{
			"given nothing and following nothing, it needs no fetch",
			func(i *instance) { i.Joined(nil); i.wait(time.Hour) },
			true, "standby", true, "standing by: other members of the group own all partitions",
		},
		{
			"standing by while fetches come back",
			func(i *instance) { i.Joined(nil); i.Standby("all"); i.fetching(time.Hour) },
			true, "standby", true, "standing by: other members of the group own all partitions",
		},
		{
			"standing by while no fetch comes back",
			func(i *instance) { i.Joined(nil); i.Standby("all"); i.wait(failureTimeout) },
			false, "standby", false, "no fetch has come back for 7s",
		},
		{
			"standing by while errors go on",
			func(i *instance) { i.Joined(nil); i.Failed(errDown); i.wait(failureTimeout) },
			false, "standby", false, "failing for 7s: dial tcp 127.0.0.1:9092: connection refused",
		},
		{
			"standing by while the brokers are gone",
			func(i *instance) { i.Joined(nil); i.Standby("all"); i.Failed(errDown); i.wait(failureTimeout) },
			false, "standby", false,
			"no fetch has come back for 7s: dial tcp 127.0.0.1:9092: connection refused",
		},
		{
			"standing by while it reads all back",
			func(i *instance) { i.Joined(nil); i.Recovering("all", "reading clusters back") },
			false, "recovering", true, "recovering space all: reading clusters back",
		},
		{
			"it was given partitions and has not begun",
			func(i *instance) { i.Joined([]int{0, 1}); i.Standby("all") },
			false, "recovering", true, "taking over the partitions that the group gave",
		},
		{
			"it works on some of what it was given",
			func(i *instance) { i.Joined([]int{0, 1}); i.Live("0", []int{0}); i.PolledInput("all", nil) },
			false, "recovering", true, "taking over the partitions that the group gave",
		},
		{
			"one of two recovers, part done", func(i *instance) {
				i.Joined([]int{0, 1})
				i.Live("0", []int{0})
				i.Recovering("1", "reading clusters back")
				i.Progress("1", 1000, 9000) // what was on disk
				i.fetching(10 * time.Second)
				i.Progress("1", 3000, 9000)
			},
			false, "recovering", true, "recovering space 1: reading clusters back, 33.3 %, about 30 s left",
		},
		{
			"recovery goes on to its next part", func(i *instance) {
				i.Recovering("all", "reading clusters back")
				i.Progress("all", 5, 10)
				i.Recovering("all", "filling the index")
			},
			false, "recovering", true, "recovering space all: filling the index",
		},
		{
			"recovery fails",
			func(i *instance) { i.Recovering("all", "fencing"); i.Failed(errDown); i.wait(failureTimeout) },
			false, "recovering", false, "failing for 7s: dial tcp 127.0.0.1:9092: connection refused",
		},
		{
			"it works", func(i *instance) { i.owner(0, 1); i.fetching(time.Hour) },
			true, "live", true, "live",
		},
		{
			"to say again that it works is no fetch",
			func(i *instance) { i.owner(0); i.wait(time.Hour); i.Live("all", []int{0}) },
			false, "live", false, "no fetch has come back for 1h0m0s",
		},
		{
			"it begins to work long after its last fetch", func(i *instance) {
				i.owner(0)
				i.wait(time.Hour)
				i.Recovering("all", "fencing")
				i.Live("all", []int{0})
			},
			true, "live", true, "live",
		},
		{
			"fetches are a little late", func(i *instance) { i.owner(0); i.wait(failureTimeout - 1) },
			true, "live", true, "live",
		},
		{
			"fetches do not come back",
			func(i *instance) { i.owner(0); i.Failed(errDown); i.wait(failureTimeout) },
			false, "live", false,
			"no fetch has come back for 7s: dial tcp 127.0.0.1:9092: connection refused",
		},
		{
			"fetches come back again",
			func(i *instance) {
				i.owner(0)
				i.Failed(errDown)
				i.wait(time.Minute)
				i.PolledInput("all",
					nil)
			},
			true, "live", true, "live",
		},
		{
			"an error, and all goes on",
			func(i *instance) { i.owner(0); i.Failed(errDown); i.fetching(time.Second) },
			true, "live", true, "live",
		},
		{
			"every transaction fails while fetches come back", func(i *instance) {
				i.owner(0)
				for range 5 {
					i.Failed(errDown)
					i.fetching(4 * time.Second)
				}
			},
			false, "live", false, "failing for 20s: dial tcp 127.0.0.1:9092: connection refused",
		},
		{
			"a transaction succeeds after many that failed", func(i *instance) {
				i.owner(0)
				for range 5 {
					i.Failed(errDown)
					i.fetching(4 * time.Second)
				}
				i.Committed(Commit{Space: "all"})
			},
			true, "live", true, "live",
		},
		{
			"it works on while it joins anew", func(i *instance) { i.owner(0); i.Joining() },
			true, "live", true, "live",
		},
		{
			"another instance has taken over, and it does not know why yet",
			func(i *instance) { i.owner(0); i.NotCommitted(Fenced); i.Gone("all") },
			false, "recovering", true, "taking over the partitions that the group gave",
		},
		{
			"another instance has taken over", func(i *instance) {
				i.owner(0)
				i.Failed(errDown)
				i.Gone("all")
				i.Joined(nil)
				i.Standby("all")
				i.fetching(time.Hour)
			},
			true, "standby", true, "standing by: other members of the group own all partitions",
		},
		{
			"the brokers do not answer from the start",
			func(i *instance) { i.Request(); i.wait(answerTimeout) },
			false, "joining", false, "joining the consumer group: the brokers have not answered for 5s",
		},
		{
			"nobody listens from the start", func(i *instance) { i.Request()(errRefused) },
			false, "joining", false,
			"joining the consumer group: no broker listens there: check kafka.brokers and that the broker " +
				"runs (connection refused)",
		},
		{
			"nobody listened, and somebody does",
			func(i *instance) { i.Request()(errRefused); i.wait(time.Minute); i.Request()(nil) },
			false, "joining", true, "joining the consumer group",
		},
		{
			"what was asked is no use any more",
			func(i *instance) { i.Request()(context.Canceled); i.wait(time.Minute) },
			false, "joining", false, "joining the consumer group",
		},
		{
			"a topic that is not known says nothing of brokers",
			func(i *instance) { i.owner(0); i.Request()(kafkago.UnknownTopicOrPartition) },
			true, "live", true, "live",
		},
		{
			"nothing is asked for long, as while the index is filled", func(i *instance) {
				i.Request()(nil)
				i.Recovering("all", "filling the index")
				i.wait(time.Hour)
			},
			false, "recovering", true, "recovering space all: filling the index",
		},
		{
			"it works, and a request fails", func(i *instance) { i.owner(0); i.Request()(errRefused) },
			true, "live", false,
			"live: no broker listens there: check kafka.brokers and that the broker runs (connection " +
				"refused)",
		},
		{
			"it works, and requests have no answer for a while",
			func(i *instance) { i.owner(0); i.Request()(nil); i.Request(); i.wait(6 * time.Second) },
			true, "live", false, "live: the brokers have not answered for 6s",
		},
		{
			"it works, one request waits, and others are answered", func(i *instance) {
				i.owner(0)
				i.Request()
				for range 30 {
					i.wait(time.Second)
					i.Request()(nil)
					i.PolledInput("all", nil)
				}
			},
			true, "live", true, "live",
		},
		{
			"standing by, and a request fails",
			func(i *instance) { i.Joined(nil); i.Standby("all"); i.Request()(errRefused) },
			true, "standby", false,
			"standing by: other members of the group own all partitions: no broker listens there: check " +
				"kafka.brokers and that the broker runs (connection refused)",
		},
		{
			"requests fail while it recovers",
			func(i *instance) { i.Recovering("all", "taking the space over"); i.Request()(errRefused) },
			false, "recovering", false,
			"recovering space all: taking the space over: no broker listens there: check kafka.brokers " +
				"and that the broker runs (connection refused)",
		},
		{
			"a transaction is open for a moment",
			func(i *instance) { i.owner(0); i.opened(kafka.LongOpen - time.Second) },
			true, "live", true, "live",
		},
		{
			"a transaction is open for some time",
			func(i *instance) { i.owner(0); i.opened(kafka.LongOpen) },
			true, "live", true, "live; " + openSaid,
		},
		{
			"a transaction is open for long", func(i *instance) { i.owner(0); i.opened(openTimeout) },
			false, "live", true, "live; " + openSaid,
		},
		{
			"a transaction was open for long", func(i *instance) {
				i.owner(0)
				i.opened(openTimeout)
				i.PolledInput("all", []kafka.Position{stands(0, 0, nil)})
			},
			true, "live", true, "live",
		},
		{
			"a transaction holds up who recovers", func(i *instance) {
				i.Recovering("all", "reading clusters back")
				i.opened(openTimeout)
			},
			false, "recovering", true, "recovering space all: reading clusters back; " + openSaid,
		},
		{
			"a transaction holds up who stands by",
			func(i *instance) { i.Joined(nil); i.Standby("all"); i.opened(openTimeout) },
			false, "standby", true, "standing by: other members of the group own all partitions; " +
				openSaid,
		},
		{
			"a transaction held up a space that has gone", func(i *instance) {
				i.owner(0)
				i.opened(openTimeout)
				i.Gone("all")
				i.Joined(nil)
				i.Standby("all")
				i.fetching(time.Second)
			},
			true, "standby", true, "standing by: other members of the group own all partitions",
		},
		{
			"a topic refuses what is written", func(i *instance) {
				i.owner(0)
				i.Failed(errDown)
				i.Blocked("all", errors.New("topic results refuses it"))
			},
			false, "blocked", true, "blocked: space all: topic results refuses it",
		},
		{
			"a topic refuses what is written for hours", func(i *instance) {
				i.owner(0)
				i.Blocked("all", errors.New("topic results refuses it"))
				i.wait(time.Hour)
			},
			false, "blocked", true, "blocked: space all: topic results refuses it",
		},
		{
			"it goes on after it was blocked", func(i *instance) {
				i.owner(0)
				i.Failed(errDown)
				i.Blocked("all", errors.New("topic results refuses it"))
				i.wait(time.Hour)
				i.Recovering("all", "taking the space over")
				i.Live("all", []int{0})
				i.PolledInput("all", nil)
				i.Committed(Commit{Space: "all"})
			},
			true, "live", true, "live",
		},
		{
			"it stops", func(i *instance) { i.owner(0); i.Stopping() },
			false, "stopping", true, "stopping: finishing what is in hand",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			i := newInstance()
			tt.do(i)
			got := i.Status()
			if got.Ready != tt.ready || got.State != tt.state || got.BrokerReachable != tt.reachable ||
				got.Reason != tt.reason {
				t.Errorf("ready %t, state %s, reachable %t: %s\nwant  %t, state %s, reachable %t: %s",
					got.Ready, got.State, got.BrokerReachable, got.Reason, tt.ready, tt.state, tt.reachable,
					tt.reason)
			}
		})
	}
}
