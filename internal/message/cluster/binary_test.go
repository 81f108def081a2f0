package cluster_test

import (
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/testutil/clustertest"
)

const identity = "method=simhash …"

// Either form says all that the other does.
func TestForms(t *testing.T) {
	for _, c := range append(clustertest.Extremes(), clustertest.Full()) {
		text := c.AppendJSON(nil, identity)
		for name, value := range map[string][]byte{
			"json": text, "binary": c.AppendBinary(nil, identity),
		} {
			got, of, err := cluster.Parse([]byte(c.ID()), value, c.Position)
			if err != nil || got != c || of != identity {
				t.Errorf("%s: read %+v of %q, %v; want %+v", name, got, of, err, c)
			}
			if again := string(got.AppendJSON(nil, of)); again != string(text) {
				t.Errorf("%s: as JSON %s, want %s", name, again, text)
			}
		}
	}
}

// What is no cluster is an error that says so.
func TestParseBinaryOfWhatIsNone(t *testing.T) {
	c := clustertest.Full()
	value := c.AppendBinary(nil, identity)
	for n := range len(value) {
		if _, _, err := cluster.Parse([]byte(c.ID()), value[:n], 1); err == nil {
			t.Errorf("%d of %d bytes are taken", n, len(value))
		}
	}
	other := func(at int, b byte) []byte {
		changed := append([]byte{}, value...)
		changed[at] = b
		return changed
	}
	for want, value := range map[string][]byte{
		"version 3":          other(0, 3),
		"too late":           append(other(0, 2), 0),
		"has another key":    value,
		"looking for beginn": other(0, '?'),
	} {
		key := c.ID()
		if want == "has another key" {
			key = strings.Replace(key, "/", "/0", 1)
		}
		if _, _, err := cluster.Parse([]byte(key), value, 1); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// Whatever stands in the topic, it is a cluster that is written as it was read, or an error.
func FuzzParseBinary(f *testing.F) {
	for _, c := range append(clustertest.Extremes(), clustertest.Full()) {
		f.Add(c.AppendBinary(nil, identity))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		if len(value) == 0 || value[0] != 1 {
			return
		}
		key := []byte(clustertest.Full().Founder.String())
		c, of, err := cluster.Parse(key, value, 1<<40)
		if err != nil || c.Validate() != nil {
			return
		}
		again, of2, err := cluster.Parse(key, c.AppendBinary(nil, of), 1<<40)
		if err != nil || again != c || of2 != of {
			t.Errorf("read %+v, %q; written and read again %+v, %q, %v", c, of, again, of2, err)
		}
	})
}

func BenchmarkForms(b *testing.B) {
	c := clustertest.Full()
	c.Contacts, c.Labels, c.Kept, c.Signals, c.Sketch, c.Space = "", "", 0, "", "", ""
	key := []byte(c.ID())
	for name, append := range map[string]func([]byte, string) []byte{
		"json": c.AppendJSON, "binary": c.AppendBinary,
	} {
		value := append(nil, identity)
		b.Run(name+"/write", func(b *testing.B) {
			for b.Loop() {
				value = append(value[:0], identity)
			}
			b.ReportMetric(float64(len(value)), "bytes")
		})
		b.Run(name+"/read", func(b *testing.B) {
			for b.Loop() {
				if _, _, err := cluster.Parse(key, value, c.Position); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
