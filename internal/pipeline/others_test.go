package pipeline

import "testing"

// While clusterd runs, somebody lets Kafka delete clusters: that is said, with the command that
// puts it right, and work goes on.
func TestRunWatchesTheClustersTopic(t *testing.T) {
	t.Parallel()
	c := testConfig()
	b := newBench(t, c, 1).alone()
	i := b.start()
	b.produce(spread(feed(1, 30))...)
	b.committed()
	b.setConfig(c.Output.ClustersTopic, "cleanup.policy", "delete")
	i.log.WaitFor(t, "clusters will be deleted", 1)
	i.log.WaitFor(t, "--alter --topic "+c.Output.ClustersTopic+
		" --add-config cleanup.policy=compact", 1)
	b.produce(spread(feed(2, 30))...)
	b.committed()
	i.end()
}
