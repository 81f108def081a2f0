package audit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/testutil/check"
)

// A plant is one change of what a clusterd has read and written.
type plant struct {
	name string
	do   func(*honest)
}

// kindOf says what a record is, by its topic and key.
func kindOf(r *kgo.Record) string {
	kind := map[string]string{
		articles: "article", labels: "label", results: "result", dead: "dead letter",
		corrections: "correction", stories: "told", clusters: "cluster",
	}[r.Topic]
	if prefix, _, ok := strings.Cut(string(r.Key), ":"); ok && r.Topic == clusters {
		return prefix
	}
	return kind
}

// A place is that of a record: its topic, and its number there.
type place struct {
	topic string
	n     int
}

func (h *honest) at(p place) *kgo.Record { return h.records[p.topic][p.n] }

// clone returns a copy, whose records may be changed and moved.
func (h *honest) clone() *honest {
	other := *h
	other.records = make(map[string][]*kgo.Record)
	for topic, records := range h.records {
		other.records[topic] = copies(records)
	}
	return &other
}

// kinds returns the places of the records that count, by what they are: in a compacted topic these
// are the newest of their key.
func (h *honest) kinds() map[string][]place {
	all := make(map[string][]place)
	for topic, records := range h.records {
		newest := make(map[string]int)
		for n, r := range records {
			newest[string(r.Key)] = n
		}
		isCompacted := topic == clusters || topic == stories
		for n, r := range records {
			if r.Value != nil && (!isCompacted || newest[string(r.Key)] == n) {
				all[kindOf(r)] = append(all[kindOf(r)], place{topic, n})
			}
		}
	}
	return all
}

// paths calls do with each value in a JSON value that is no object or list, and with what sets and
// removes it. Of a list it is the first element.
func paths(value any, path string, set func(any), do func(path string, value any, set func(any))) {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			paths(v[name], path+"."+name, func(to any) {
				if delete(v, name); to != nil {
					v[name] = to
				}
			}, do)
		}
	case []any:
		if len(v) > 0 {
			paths(v[0], path+"[]", func(to any) { v[0] = to }, do)
		}
	default:
		do(strings.TrimPrefix(path, "."), value, set)
	}
}

// decode returns a JSON object, and one without fields for anything else.
func decode(value []byte) (v map[string]any) {
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	_ = d.Decode(&v) // nil, as what is no object
	return v
}

// another returns another value of the same kind.
func another(value any) any {
	switch v := value.(type) {
	case json.Number:
		n, _ := v.Float64()
		return n + 1
	case bool:
		return !v
	case string:
		if len(v) > 19 && v[4] == '-' && v[10] == 'T' { // a time
			return v[:17] + "59" + v[19:]
		}
		return v + "x"
	default:
		return "x"
	}
}

// fields plants another value of each field of each kind of record, and its absence, in the last
// record that has it.
func (h *honest) fields() (all []plant) {
	for kind, places := range h.kinds() {
		last := make(map[string]place)
		for _, p := range places {
			paths(decode(h.at(p).Value), "", nil, func(path string, _ any, _ func(any)) { last[path] = p })
		}
		for path, p := range last {
			edit := func(to func(any) any) func(*honest) {
				return func(h *honest) {
					r := h.at(p)
					value := decode(r.Value)
					paths(value, "", nil, func(found string, v any, set func(any)) {
						if found == path {
							set(to(v))
						}
					})
					r.Value, _ = json.Marshal(value)
				}
			}
			all = append(all, plant{kind + ": another " + path, edit(another)},
				plant{kind + ": no " + path, edit(func(any) any { return nil })})
		}
		if p := places[len(places)-1]; decode(h.at(p).Value) != nil {
			all = append(all, plant{kind + ": an unknown field", func(h *honest) {
				r := h.at(p)
				value := decode(r.Value)
				value["odd"] = 1
				r.Value, _ = json.Marshal(value)
			}})
		}
		if kind != "checkpoint" && kind != "result" {
			continue // these have no other fields than are known
		}
		for name := range decode(h.at(places[len(places)-1]).Value) {
			all = append(all, plant{kind + ": another name of " + name, func(h *honest) {
				r := h.at(places[len(places)-1])
				r.Value = bytes.Replace(r.Value, []byte(`"`+name+`"`), []byte(`"`+name+`x"`), 1)
			}})
		}
	}
	return all
}

// states plants another value of each field of the state of a story, in the last one that has it.
func (h *honest) states() (all []plant) {
	for _, p := range slices.Backward(h.kinds()["story"]) {
		r := h.at(p)
		s, err := cluster.ParseStory(r.Key, r.Value, 0)
		if err != nil {
			continue
		}
		for _, name := range fieldsOf(reflect.ValueOf(&s).Elem(), "") {
			all = append(all, plant{"state: another " + name, func(h *honest) {
				r := h.at(p)
				s, _ := cluster.ParseStory(r.Key, r.Value, 0)
				spoil(field(reflect.ValueOf(&s).Elem(), name))
				r.Value = s.AppendJSON(nil)
			}})
		}
	}
	return all
}

// fieldsOf returns the names of the fields of a struct that are not zero, and of those in it.
func fieldsOf(v reflect.Value, prefix string) (names []string) {
	for i := range v.NumField() {
		name := prefix + v.Type().Field(i).Name
		switch f := v.Field(i); {
		case f.Kind() == reflect.Struct:
			names = append(names, fieldsOf(f, name+".")...)
		case !f.IsZero():
			names = append(names, name)
		}
	}
	return names
}

func field(v reflect.Value, name string) reflect.Value {
	for part := range strings.SplitSeq(name, ".") {
		v = v.FieldByName(part)
	}
	return v
}

func spoil(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + v.String()[max(0, v.Len()-6):])
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
	default:
		v.SetUint(v.Uint() + 1)
	}
}

// wholes plants what may become of a whole record: of the last of each kind, and the first.
func (h *honest) wholes() (all []plant) {
	for kind, places := range h.kinds() {
		if kind == "article" || kind == "label" {
			continue // a topic that has lost a record has other offsets
		}
		for which, p := range map[string]place{"first": places[0], "last": places[len(places)-1]} {
			r := h.at(p)
			add := func(what string, do func(h *honest, r *kgo.Record)) {
				all = append(all, plant{
					fmt.Sprintf("%s: the %s %s", kind, which, what), func(h *honest) { do(h, h.at(p)) },
				})
			}
			add("is lost", func(h *honest, _ *kgo.Record) {
				h.records[p.topic] = slices.Delete(h.records[p.topic], p.n, p.n+1)
			})
			add("comes again", func(h *honest, r *kgo.Record) {
				again := *r
				h.records[p.topic] = append(h.records[p.topic], &again)
			})
			add("has another key", func(_ *honest, r *kgo.Record) { r.Key = append([]byte("x"), r.Key...) })
			if r.Key != nil {
				add("has no key", func(_ *honest, r *kgo.Record) { r.Key = nil })
			}
			add("is in another partition", func(_ *honest, r *kgo.Record) { r.Partition ^= 1 })
			add("is empty", func(_ *honest, r *kgo.Record) { r.Value = []byte{} })
			add("is no JSON", func(_ *honest, r *kgo.Record) { r.Value = []byte("{") })
			add("has a tombstone behind it", func(h *honest, r *kgo.Record) {
				gone := *r
				gone.Value = nil
				h.records[p.topic] = append(h.records[p.topic], &gone)
			})
			add("has a header too many", func(_ *honest, r *kgo.Record) {
				r.Headers = append(slices.Clone(r.Headers), kgo.RecordHeader{Key: "clusterd.odd"})
			})
			for i, header := range r.Headers {
				add("has another "+header.Key, func(_ *honest, r *kgo.Record) {
					r.Headers = slices.Clone(r.Headers)
					r.Headers[i].Value = append([]byte("1"), header.Value...)
				})
				add("has no "+header.Key, func(_ *honest, r *kgo.Record) {
					r.Headers = slices.Delete(slices.Clone(r.Headers), i, i+1)
				})
			}
		}
		all = append(all, h.swaps(kind, places)...)
	}
	return all
}

// swaps plants the values of two records each in the other's place, and the records themselves: of
// the last one with its key, and the one before it of the same key and of another.
func (h *honest) swaps(kind string, places []place) (all []plant) {
	last := places[len(places)-1]
	for what, other := range map[string]func(*kgo.Record) bool{
		"of its key":   func(r *kgo.Record) bool { return bytes.Equal(r.Key, h.at(last).Key) },
		"of other key": func(r *kgo.Record) bool { return !bytes.Equal(r.Key, h.at(last).Key) },
	} {
		i := len(places) - 2
		for i >= 0 && !other(h.at(places[i])) {
			i--
		}
		if i < 0 {
			continue
		}
		before := places[i]
		all = append(all, plant{kind + ": two values swapped, " + what, func(h *honest) {
			x, y := h.at(before), h.at(last)
			x.Value, y.Value = y.Value, x.Value
		}}, plant{kind + ": two records swapped, " + what, func(h *honest) {
			records := h.records[last.topic]
			records[before.n], records[last.n] = records[last.n], records[before.n]
		}})
	}
	return all
}

// An unfindable is changes by their names, and why the audit does not find them.
type unfindable struct {
	names *regexp.Regexp
	why   string
}

func because(names, why string) unfindable {
	return unfindable{regexp.MustCompile("^(" + names + ")$"), why}
}

// unfound are changes that the audit cannot find, or does not look for, and why.
var unfound = []unfindable{
	because(`article: an unknown field|label: (an unknown field|(another|no) article_id)`, "nobody reads it"),
	because(`label: (another|no) by`, "it is of a merge of stories, and nothing says who did that"),
	because(`cluster: (another|no) signals.state`, "it is for clusterd, and what it comes to is compared"),
	because(`state: another (Own)?Signals`, "what they come to is compared"),
	because(`state: another (Own)?Headline.Rank`, "stories.ranks may have changed: the report says so"),
	because(`cluster: (another|no) exceptions\[\].(article_id|member_position|source)`, "any of equal articles may be named"),
	because(`contact: (another|no) marks\[\].clicked\[\].(at|by|cluster_id|note)`, "it is what the label record says"),
	because(`dead letter: .* has another clusterd.(reason|stage)`, "it is for people"),
	because(`(cluster|contact|correction|story|told): an unknown field`, "later versions may write it"),
	because(`(checkpoint|contact|story): .* has no clusterd.own`, "earlier versions did not write it"),
	because(`(checkpoint|contact|story|told): .* has a header too many`, "readers pass over it"),
	because(`(contact|told): .* another clusterd.position`, "it may have changed since without a trace"),
	because(`told: another last_seen`, "a part of another story may be behind"),
	because(`result: no representative`, "null is what an unclustered result has"),
	because(`(result|correction): no source.partition`, "it is 0"),
	because(`(checkpoint|cluster|contact|story|told): .* comes again`, "it says the same again"),
	because(`checkpoint: .* has a tombstone behind it`, "the next one takes its place"),
	because(`(correction|dead letter|told): .* is in another partition`, "of topics to which partitions were added, too"),
	because(`(cluster|story|result): two records swapped, of other key`, "their order is not promised"),
	because(`(correction|dead letter): two records swapped.*|correction: two values swapped, of its key`, "their order is not promised"),
	because(`checkpoint: (another|no) (begins|ids|labels.flood|stories_since).*`, "nothing else says it"),
	because(`checkpoint: (another|no) (threshold|version)|checkpoint: no (input|output|pipeline|scope|window)`,
		"clusterd compares it at the start, or does without"),
	because(`checkpoint: ((another|no) labels.topic|no labels.offsets.0)`, "labels were of another topic, or off"),
}

// Whatever one changes of what a clusterd has read and written, the audit finds it, but for what is
// listed. With the build tag long all changes are planted, else some.
func TestPlanted(t *testing.T) {
	t.Parallel()
	h := newHonest(t)
	for _, c := range h.audit(t).Checks {
		if c.Violations > 0 || c.NotChecked != "" || c.Checked == 0 {
			t.Fatalf("%s: %d violations, %d checked, not checked %q: %+v", c.ID, c.Violations, c.Checked,
				c.NotChecked, c.Shown)
		}
	}
	all := slices.Concat(h.fields(), h.states(), h.wholes())
	slices.SortStableFunc(all, func(a, b plant) int { return strings.Compare(a.name, b.name) })
	all = slices.CompactFunc(all, func(a, b plant) bool { return a.name == b.name })
	missed := make([]atomic.Int64, len(unfound))
	listed := 0
	t.Run("all", func(t *testing.T) {
		for i, p := range all {
			reason := slices.IndexFunc(unfound,
				func(u unfindable) bool { return u.names.MatchString(p.name) })
			if reason >= 0 {
				listed++
			}
			if !check.Long && i%12 > 0 {
				continue
			}
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				other := h.clone()
				p.do(other)
				switch found := other.audit(t).Violations(); {
				case found == 0 && reason < 0:
					t.Error("nothing is found")
				case found == 0:
					missed[reason].Add(1)
					t.Logf("not found: %s", unfound[reason].why)
				}
			})
		}
	})
	t.Logf("%d planted changes, of which %d are listed as not found", len(all), listed)
	if len(all)-listed < 400 {
		t.Errorf("%d changes are to be found, want 400 or more", len(all)-listed)
	}
	for i := range unfound {
		if check.Long && missed[i].Load() == 0 {
			t.Errorf("all of %s is found, which is listed as not found", unfound[i].names)
		}
	}
}
