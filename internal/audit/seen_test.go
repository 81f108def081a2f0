package audit

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// values returns the results of a topic as kcat prints them.
func (s *stage) values() []string {
	var lines []string
	for _, t := range s.transactions {
		for _, r := range t.records {
			if r.Topic == s.config.Output.Topic {
				lines = append(lines, string(r.Value))
			}
		}
	}
	return lines
}

var seenTests = []struct {
	name string
	read func(lines []string) [][]string // of each reader, from what was written
	want []string
}{
	{"the same", func(lines []string) [][]string { return [][]string{lines} }, nil},
	{
		"by several, in part",
		func(lines []string) [][]string { return [][]string{lines[:5], lines[2:], nil} }, nil,
	},
	{"another cluster", func(lines []string) [][]string {
		lines[2] = strings.Replace(
			lines[2], `"cluster_id":"articles/0/0"`, `"cluster_id":"articles/1/0"`, 1,
		)
		return [][]string{lines}
	}, []string{"I5 article-clusters/0/1: cluster articles/1/0 of articles/0/1, " +
		"as it was read earlier; found cluster articles/0/0"}},
	{"clustered then, and not now", func(lines []string) [][]string {
		lines[4] = strings.Replace(
			lines[2], `"source":{"topic":"articles","partition":0,"offset":1}`,
			`"source":{"topic":"articles","partition":1,"offset":2}`, 1,
		)
		return [][]string{lines}
	}, []string{"I5 article-clusters/1/2: cluster articles/0/0 of articles/1/2, " +
		"as it was read earlier; found cluster null"}},
	{"what is not there now", func(lines []string) [][]string {
		return [][]string{
			{strings.Replace(lines[2], `"partition":0,"offset":1}`, `"partition":1,"offset":1}`, 1)},
		} // a dead letter
	}, []string{"I5 articles/1/1: a result, as one was read earlier; found none"}},
	{"a record that never was", func(lines []string) [][]string {
		return [][]string{{strings.Replace(lines[2], `"offset":1}`, `"offset":77}`, 1)}}
	}, []string{"I5 reader 0, result 1: a result of a record of articles; " +
		"found one of articles/0/77"}},
	{"two readers that differ", func(lines []string) [][]string {
		return [][]string{
			lines,
			{strings.Replace(lines[2], `"cluster_id":"articles/0/0"`, `"cluster_id":"articles/1/0"`, 1)},
		}
	}, []string{"I5 reader 1, result 1: cluster articles/0/0 of articles/0/1, " +
		"as it was read before; found cluster articles/1/0"}},
}

func TestSeen(t *testing.T) {
	t.Parallel()
	for _, test := range seenTests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, nil)
			s.cluster(story, s.input(story))
			s.write()
			var o Options
			for i, lines := range test.read(s.values()) {
				o.Seen = append(
					o.Seen, Source{
						Name: fmt.Sprintf("reader %d", i), Reader: strings.NewReader(strings.Join(lines, "\n")),
					},
				)
			}
			if got := violations(s.audit(o)); !slices.Equal(got, test.want) {
				t.Errorf("found %q, want %q", got, test.want)
			}
		})
	}
}
