package pipeline

import (
	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/pipeline/intake"
	"github.com/clusterd/clusterd/internal/singlepass"
)

// verify holds all that was written to all that was sent: every record once, in results or dead
// letters, and the clusters those of the rule, applied with a plain scan in the order of the
// positions. It returns the results in that order.
func (b *bench) verify() []result {
	b.Helper()
	inputs, results := b.inputs(), b.results()
	ended := make(map[string]int)
	for _, r := range b.read(b.config.Output.DeadLetterTopic) {
		ended[header(r, article.HeaderSource)]++
	}
	spaces := make(map[int]*singlepass.Space) // by input partition, or all in one
	members := make(map[string]int)
	fingerprinter := testFingerprinter(b, b.config)
	for _, r := range results {
		ended[header(r.Record, article.HeaderSource)]++
		if r.Source.String() != header(r.Record, article.HeaderSource) {
			b.Errorf("source %s in the result and %s in the header", r.Source,
				header(r.Record, article.HeaderSource))
		}
		in := inputs[r.Source.String()]
		items, err := intake.Records(fingerprinter, &intake.Carried{})(b.Context(), []kafka.Record{in})
		if err != nil {
			b.Fatal(err)
		}
		f := items[0]
		if f.Representative.ID != r.ArticleID || f.Comparable != (r.Status != article.Unclustered) {
			b.Errorf("%s: result %+v of article %s", r.Source, r.Result, f.Representative.ID)
		}
		if r.Status == article.Unclustered {
			continue
		}
		key := 0
		if b.config.Cluster.Scope == "partition" {
			key = r.Source.Partition
		}
		if spaces[key] == nil {
			spaces[key] = singlepass.NewSpace(singlepass.NewLinear(fingerprinter.Threshold(),
				fingerprinter.Distance), singlepass.Rule{}, nil)
		}
		b.verifyOne(spaces[key], members, r, f.Fingerprint)
	}
	for source := range inputs {
		if ended[source] != 1 {
			b.Errorf("%s ended %d times in results or dead letters", source, ended[source])
		}
	}
	if len(ended) != len(inputs) {
		b.Errorf("%d sources in the outputs, %d records were sent", len(ended), len(inputs))
	}
	b.verifyClusters(members)
	return results
}

// verifyOne asks the oracle. Members counts those of each cluster, whose founders it knows by
// their positions: founders["seq of a space"] is not needed, since ids are addresses of founders.
func (b *bench) verifyOne(
	space *singlepass.Space, members map[string]int, r result, fingerprint singlepass.Fingerprint,
) {
	b.Helper()
	a := space.Assign(fingerprint, 0)
	members[*r.ClusterID]++
	switch {
	case a.Position != r.position:
		b.Errorf("%s has position %d, want %d: one was left out", r.Source, r.position, a.Position)
	case a.Joined != (r.Status == article.Joined):
		b.Errorf("%s is %s, the oracle says joined = %t", r.Source, r.Status, a.Joined)
	case a.Distance != *r.Distance || uint64(*r.Fingerprint) != fingerprint.Hash:
		b.Errorf("%s is at distance %v, want %v", r.Source, *r.Distance, a.Distance)
	case !a.Joined && *r.ClusterID != r.Source.String():
		b.Errorf("%s founds %s", r.Source, *r.ClusterID)
	case r.Size != members[*r.ClusterID]:
		b.Errorf("%s makes a cluster of %d, want %d", r.Source, r.Size, members[*r.ClusterID])
	}
}

// verifyClusters holds the clusters topic, of each key the last, to the sizes.
func (b *bench) verifyClusters(members map[string]int) {
	b.Helper()
	got := make(map[string]int)
	for _, r := range b.read(b.config.Output.ClustersTopic) {
		if checkpoint.Is(r.Key) {
			continue
		}
		c, err := article.ParseCluster(r.Value)
		if err != nil {
			b.Fatal(err)
		}
		got[c.ClusterID] = c.Size
	}
	if diff := cmp.Diff(members, got); diff != "" {
		b.Errorf("sizes of clusters by results (-) and in the clusters topic (+):\n%s", diff)
	}
}

func countStatus(results []result, status article.Status) int {
	n := 0
	for _, r := range results {
		if r.Status == status {
			n++
		}
	}
	return n
}
