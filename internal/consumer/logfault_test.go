package consumer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/kafka/recordbatch"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

// After a fetch that failed, reading goes on where it was: nothing is lost or read twice.
func TestLogGoesOnAfterTrouble(t *testing.T) {
	t.Parallel()
	cluster, client := startBrokers(t, 1, kfake.SeedTopics(2, "articles"))
	writer := newWriter(t, client)
	var want []string
	for i := range 9 {
		value := fmt.Sprint(i)
		write(t, writer, 0, value)
		write(t, writer, 1, value)
		want = append(want, value)
	}
	var fetches atomic.Int64
	cluster.ControlKey(int16(kmsg.Fetch), func(request kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		switch fetches.Add(1) {
		case 2:
			return nil, errors.New("hang up"), true
		case 4, 5:
			return refusedFetch(request, kafkago.NotLeaderForPartition), nil, true
		}
		return nil, nil, false
	})
	got := readAllOf(t, client, map[int]int64{0: 0, 1: 0}, 1)
	if !slices.Equal(got[0], want) || !slices.Equal(got[1], want) || fetches.Load() < 5 {
		t.Errorf("got %v after %d fetches, want %v of both partitions", got, fetches.Load(), want)
	}
}

// refusedFetch answers a fetch with an error of partition 0.
func refusedFetch(request kmsg.Request, refused kafkago.Error) kmsg.Response {
	response := request.ResponseKind().(*kmsg.FetchResponse)
	topic, partition := kmsg.NewFetchResponseTopic(), kmsg.NewFetchResponseTopicPartition()
	topic.Topic, partition.ErrorCode = "articles", int16(refused)
	topic.Partitions = append(topic.Partitions, partition)
	response.Topics = append(response.Topics, topic)
	return response
}

func TestLogStopsAtAnErrorThatWaitingDoesNotMend(t *testing.T) {
	cluster, client := startBrokers(t, 1, kfake.SeedTopics(1, "articles"))
	cluster.ControlKey(int16(kmsg.Fetch), func(request kmsg.Request) (kmsg.Response, error, bool) {
		return refusedFetch(request, kafkago.TopicAuthorizationFailed), nil, true
	})
	ctx, cancel := context.WithTimeout(t.Context(), wait.Timeout)
	defer cancel()
	err := NewLog(client, slog.New(slog.DiscardHandler), "articles", map[int]int64{0: 0},
		1<<20).Read(ctx, make(chan Chunk))
	if !errors.Is(err, kafkago.TopicAuthorizationFailed) ||
		!strings.Contains(err.Error(), "reading articles/0 at offset 0") ||
		!strings.Contains(err.Error(), "grant read") {
		t.Errorf("error = %v, want where it was and what to do", err)
	}
}

// A record batch that was damaged on the way is read after all; one that stays so ends the reading,
// with all that came before it handed on.
func TestLogFetchesADamagedBatchAgain(t *testing.T) {
	t.Parallel()
	for name, heals := range map[string]bool{"damaged on the way": true, "damaged for good": false} {
		t.Run(name, func(t *testing.T) {
			cluster, client := startBrokers(t, 1, kfake.SeedTopics(1, "articles"))
			good, damaged := entry{first: 0, last: 1, producer: -1, kept: []int64{0, 1}}.bytes(),
				entry{first: 2, last: 2, producer: -1, kept: []int64{2}}.bytes()
			intact := slices.Clone(damaged)
			damaged[len(damaged)-1] ^= 1
			var fetches, atDamage atomic.Int64
			cluster.ControlKey(int16(kmsg.Fetch), func(request kmsg.Request) (kmsg.Response, error, bool) {
				cluster.KeepControl()
				fetches.Add(1)
				response := request.ResponseKind().(*kmsg.FetchResponse)
				topic, partition := kmsg.NewFetchResponseTopic(), kmsg.NewFetchResponseTopicPartition()
				topic.Topic = "articles"
				switch from := request.(*kmsg.FetchRequest).Topics[0].Partitions[0].FetchOffset; {
				case from == 0:
					partition.RecordBatches = append(slices.Clone(good), damaged...)
				case from == 2 && heals && atDamage.Add(1) > 1:
					partition.RecordBatches = intact
				case from == 2:
					partition.RecordBatches = damaged
				}
				topic.Partitions = append(topic.Partitions, partition)
				response.Topics = append(response.Topics, topic)
				return response, nil, true
			})
			ctx, cancel := context.WithTimeout(t.Context(), wait.Timeout)
			defer cancel()
			chunks, failed := make(chan Chunk), make(chan error, 1)
			go func() {
				failed <- NewLog(client, slog.New(slog.DiscardHandler), "articles", map[int]int64{0: 0},
					1<<20).Read(ctx, chunks)
			}()
			var got []int64
			var err error
			for err == nil && len(got) < 3 {
				select {
				case c := <-chunks:
					got = append(got, offsetsOf(c)...)
				case err = <-failed:
				}
			}
			if heals {
				if err != nil || !slices.Equal(got, []int64{0, 1, 2}) {
					t.Errorf("got %v, %v", got, err)
				}
				return
			}
			if !errors.Is(err, recordbatch.ErrUnreadable) || !slices.Equal(got, []int64{0, 1}) ||
				fetches.Load() < damageTries {
				t.Errorf("got %v after %d fetches, %v", got, fetches.Load(), err)
			}
			for _, want := range []string{
				"reading articles/0 at offset 2", "its checksum is wrong",
				"Nothing was skipped", "To go on without it, start anew",
			} {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error = %v, want %q in it", err, want)
				}
			}
		})
	}
}
