package pipeline

import (
	"strconv"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/sink"
)

func TestRunStandbyTakesOver(t *testing.T) {
	t.Parallel()
	b := newBench(t, testConfig(), 4)
	values := feed(3, 100)
	first := b.start()
	first.log.WaitFor(t, "msg=live", 1)
	second := b.start()
	second.log.WaitFor(t, "standing by", 1)
	b.produce(spread(values)...)
	b.committed()
	if strings.Contains(second.log.String(), "msg=live") {
		t.Error("the standby works")
	}
	first.end()
	second.log.WaitFor(t, "msg=live", 1)
	b.produce(spread(values)...)
	b.committed()
	second.end()
	b.verify()
}

func TestRunPartitionsAreShared(t *testing.T) {
	t.Parallel()
	c := testConfig()
	c.Cluster.Scope = "partition"
	b := newBench(t, c, 4)
	values := feed(4, 100)
	first := b.start()
	first.log.WaitFor(t, "msg=live", 4)
	b.produce(spread(values)...)
	second := b.start()
	second.log.WaitFor(t, "msg=live", 2)
	b.produce(spread(values)...)
	b.committed()
	if given := strings.Count(first.log.String(), "giving up partitions"); given != 2 {
		t.Errorf("the first gave up %d partitions, want 2", given)
	}
	first.end()
	second.log.WaitFor(t, "msg=live", 4)
	b.produce(spread(values)...)
	b.committed()
	second.end()
	b.verify()
}

// intruder is a producer with the transactional id of the instance.
func (b *bench) intruder(id string) *sink.Producer {
	b.Helper()
	p, err := sink.NewProducer(b.client, discard,
		sink.Settings{TransactionalID: id, Group: b.config.Input.Group, Compression: "lz4"})
	if err != nil {
		b.Fatal(err)
	}
	if err := p.Fence(b.Context()); err != nil {
		b.Fatal(err)
	}
	return p
}

func TestRunRejoinsWhenFenced(t *testing.T) {
	t.Parallel()
	b := newBench(t, testConfig(), 2).alone()
	values := feed(5, 100)
	i := b.start()
	b.produce(spread(values)...)
	b.committed()
	b.intruder("clusterd-articles")
	b.produce(spread(values)...)
	i.log.WaitFor(t, "this instance's view of the group is out of date; joining anew", 1)
	i.log.WaitFor(t, "msg=live", 2)
	b.committed()
	i.end()
	b.verify()
}

func TestRunRejoinsWhenOnePartitionIsFenced(t *testing.T) {
	t.Parallel()
	c := testConfig()
	c.Cluster.Scope = "partition"
	b := newBench(t, c, 3).alone()
	values := feed(6, 100)
	i := b.start()
	i.log.WaitFor(t, "msg=live", 3)
	b.intruder("clusterd-articles-1")
	b.produce(spread(values)...)
	i.log.WaitFor(t, "msg=live", 4)
	b.committed()
	i.end()
	b.verify()
	for _, p := range []int{0, 2} {
		if n := strings.Count(i.log.String(), "msg=live partition="+strconv.Itoa(p)); n != 1 {
			t.Errorf("partition %d was taken up %d times; its worker had nothing to do with it", p, n)
		}
	}
}
