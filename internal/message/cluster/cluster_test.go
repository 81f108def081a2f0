package cluster_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/testutil/clustertest"
)

func TestValidate(t *testing.T) {
	for _, c := range clustertest.Extremes() {
		if err := c.Validate(); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for name, c := range clustertest.Impossible() {
		if c.Validate() == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

func TestJoin(t *testing.T) {
	c := clustertest.Full()
	for _, test := range []struct {
		at          int64
		first, last int64
	}{
		{c.FirstSeen + 1, c.FirstSeen, c.LastSeen},
		{c.FirstSeen - 5, c.FirstSeen - 5, c.LastSeen},
		{c.LastSeen + 5, c.FirstSeen, c.LastSeen + 5},
	} {
		want, got := c, c
		want.Size, want.Position, want.FirstSeen, want.LastSeen = c.Size+1, 50, test.first, test.last
		if got.Join(50, test.at); got != want {
			t.Errorf("at %d: %+v, want %+v", test.at, got, want)
		}
		if err := got.Follows(&c); err != nil {
			t.Errorf("at %d: %v", test.at, err)
		}
	}
}

// What a cluster never changes, and what only grows, is held for every field.
func TestFollows(t *testing.T) {
	before := clustertest.Full()
	for want, changes := range map[string]map[string]func(*cluster.Cluster){
		"a cluster's never change": {
			"hash":    func(c *cluster.Cluster) { c.Hash++ },
			"sketch":  func(c *cluster.Cluster) { c.Sketch = "" },
			"seq":     func(c *cluster.Cluster) { c.Seq-- },
			"id":      func(c *cluster.Cluster) { c.Representative.ID = "b" },
			"title":   func(c *cluster.Cluster) { c.Representative.Title = "" },
			"excerpt": func(c *cluster.Cluster) { c.Representative.Excerpt = "b" },
		},
		"goes back": {
			"position":   func(c *cluster.Cluster) { c.Position-- },
			"size":       func(c *cluster.Cluster) { c.Size-- },
			"first seen": func(c *cluster.Cluster) { c.FirstSeen++ },
			"last seen":  func(c *cluster.Cluster) { c.LastSeen-- },
		},
	} {
		for name, change := range changes {
			c := before
			change(&c)
			if err := c.Follows(&before); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error = %v, want %q", name, err, want)
			}
		}
	}
	erased := before
	if !erased.EraseText() || erased.EraseText() {
		t.Error("not erased once")
	}
	if err := erased.Follows(&before); err != nil {
		t.Errorf("erased: %v", err)
	}
	if err := before.Follows(&erased); err == nil {
		t.Error("an erased text has come back")
	}
	if err := before.Follows(&before); err != nil {
		t.Error(err)
	}
	with := before
	with.Representative.Excerpt = ""
	if err := with.Follows(&before); err != nil {
		t.Errorf("an earlier clusterd wrote it without its excerpt: %v", err)
	}
}

// Labels come and go.
func TestLabelsFollow(t *testing.T) {
	with, without := clustertest.Full(), clustertest.Full()
	without.Labels, without.Kept = "", 0
	if err := errors.Join(with.Follows(&without), without.Follows(&with)); err != nil {
		t.Error(err)
	}
	if with.SeenAs() != with.LastSeen+with.Kept || without.SeenAs() != without.LastSeen {
		t.Errorf("last seen at %d, and counts as %d and %d", with.LastSeen, with.SeenAs(),
			without.SeenAs())
	}
}

// A new field must be in the cluster by which the borders are tested.
func TestFullHasNoZeroField(t *testing.T) {
	var check func(name string, v reflect.Value)
	check = func(name string, v reflect.Value) {
		if v.IsZero() {
			t.Errorf("clustertest.Full: %s is zero: give it a value, and carry it through wire.go and "+
				"through encode.go of state", name)
		}
		for i := range v.NumField() {
			if f := v.Field(i); f.Kind() == reflect.Struct {
				check(name+"."+v.Type().Field(i).Name, f)
			} else if f.IsZero() {
				t.Errorf("clustertest.Full: %s.%s is zero: give it a value, and carry it through wire.go and "+
					"through encode.go of state",
					name, v.Type().Field(i).Name)
			}
		}
	}
	check("Cluster", reflect.ValueOf(clustertest.Full()))
}

func TestParse(t *testing.T) {
	for _, want := range append(clustertest.Extremes(), clustertest.Full()) {
		got, identity, err := cluster.Parse([]byte(want.ID()), want.AppendJSON(nil, "method=test"),
			want.Position)
		if got != want || identity != "method=test" || err != nil {
			t.Errorf("%+v, %s, %v, want %+v", got, identity, err, want)
		}
	}
}

// An earlier version said in another way that a cluster has more publishers than are told apart.
func TestParseOfAnEarlierVersion(t *testing.T) {
	const now, before = `"publishers":64,"publishers_more":true,`, `"publishers":"64+",`
	n := 0
	for _, want := range clustertest.Extremes() {
		value := string(want.AppendJSON(nil, "method=test"))
		n += strings.Count(value, now)
		value = strings.Replace(value, now, before, 1)
		got, _, err := cluster.Parse([]byte(want.ID()), []byte(value), want.Position)
		if got != want || err != nil {
			t.Errorf("%s: %+v, %v, want %+v", value, got, err, want)
		}
	}
	if n == 0 {
		t.Error("no cluster has so many publishers")
	}
}

func TestParseRefuses(t *testing.T) {
	c := clustertest.Full()
	value := string(c.AppendJSON(nil, "method=test"))
	odd := strings.Replace(value, "articles/3/17", "articles/03/17", 1)
	for name, test := range map[string]struct{ key, value, want string }{
		"no JSON": {c.ID(), "{", "not a cluster"},
		"another key": {
			article.Address{Topic: "articles"}.String(), value, `cluster_id "articles/3/17" is not its key`,
		},
		"an odd address": {"articles/03/17", odd, `cluster_id "articles/03/17" is not its key`},
		"not an address": {
			"articles/3", strings.Replace(value, "articles/3/17", "articles/3", 1), "not an address",
		},
		"a field too few":  {c.ID(), strings.Replace(value, `"size":9,`, "", 1), "a field is missing"},
		"an empty address": {"", strings.Replace(value, "articles/3/17", "", 1), "not an address"},
	} {
		if got, _, err := cluster.Parse([]byte(test.key), []byte(test.value), 41); err == nil ||
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %+v, error %v, want %q", name, got, err, test.want)
		}
	}
}
