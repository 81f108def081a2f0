package strict

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

type text struct {
	Title string    `json:"title,omitzero"`
	At    time.Time `json:"at,omitzero"`
}

type message struct {
	text
	Articles []text `json:"articles,omitzero"`
	Number   int    `json:"number,omitzero"`
	Maybe    *int   `json:"maybe,omitzero"`
	Yes      bool   `json:"yes,omitzero"`
}

func TestJSON(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 300_000)
	for name, tt := range map[string]struct{ in, want string }{
		"all":           {`{"title":"x","articles":[{"title":"y"}],"number":7,"maybe":0,"yes":true}`, ""},
		"nothing":       {`{}`, ""},
		"a time":        {`{"at":"2026-05-01T12:00:00.5+02:00"}`, ""},
		"unknown":       {`{"titel":"x"}`, "/titel: there is no such field"},
		"other case":    {`{"Title":"x"}`, "/Title: there is no such field"},
		"unknown below": {`{"articles":[{"title":"x"},{"txet":1}]}`, "/articles/1/txet: there is no such field"},
		"twice":         {`{"title":"x","title":"y"}`, "/title: stands there twice"},
		"null":          {`{"title":null}`, "/title: is null; leave it out instead"},
		"null pointer":  {`{"maybe":null}`, "/maybe: is null; leave it out instead"},
		"null list":     {`{"articles":null}`, "/articles: is null; leave it out instead"},
		"only null":     {`null`, "is null; leave it out instead"},
		"wrong type":    {`{"title":7}`, "/title: must not be a number"},
		"an object":     {`{"title":{}}`, "/title: must not be an object"},
		"an array":      {`[]`, "must not be an array"},
		"no array":      {`{"articles":{}}`, "/articles: must not be an object"},
		"no time":       {`{"at":"yesterday"}`, "/at: a string, but no time such as 2026-05-01T12:00:00Z"},
		"huge number":   {`{"number":1e400}`, "/number: must be a whole number"},
		"long number":   {`{"number":` + strings.Repeat("9", 500) + `}`, "/number: must be a whole number"},
		"a fraction":    {`{"number":1.5}`, "/number: must be a whole number"},
		"too many":      {`{"articles":[{},{},{},{}]}`, "/articles: has more than 3 items"},
		"none":          {`{"articles":[]}`, "/articles: has no items"},
		"invalid UTF-8": {"{\"title\":\"a\xffb\"}", "/title: this is no JSON: invalid UTF-8"},
		"half a pair":   {`{"title":"\ud800"}`, "/title: this is no JSON: invalid surrogate pair"},
		"deep":          {deep, "/a: there is no such field"},
		"deep arrays":   {`{"articles":` + strings.Repeat("[", 300_000), "/articles/0: must not be an array"},
		"cut off":       {`{"title":"x`, "this is no JSON: unexpected EOF"},
		"empty":         {``, "this is no JSON: unexpected EOF"},
		"two values":    {`{}{}`, "this is no JSON: invalid character '{' after top-level value"},
		"long name": {
			`{"` + strings.Repeat("é", 1000) + `":1}`,
			"/" + strings.Repeat("é", 99) + "…: there is no such field",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var m message
			err := JSON([]byte(tt.in), &m, AtMost[text](3))
			var e *Error
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && !errors.As(err, &e):
				t.Errorf("got %v of %+v, want %s", err, m, tt.want)
			case tt.want != "" && !strings.Contains(err.Error(), tt.want):
				t.Errorf("got  %s\nwant %s", err, tt.want)
			case tt.want != "" && (len(err.Error()) > 500 || strings.Contains(err.Error(), "Go ")):
				t.Errorf("not for a person: %s", err)
			}
		})
	}
	var m message
	one := 1
	if err := JSON([]byte(`{"title":"x","articles":[{"title":"y"}],"number":7,"maybe":1,"yes":true}`),
		&m, AtMost[text](3)); err != nil {
		t.Fatal(err)
	}
	want := message{text{Title: "x"}, []text{{Title: "y"}}, 7, &one, true}
	if diff := cmp.Diff(want, m, cmp.AllowUnexported(message{}, text{})); diff != "" {
		t.Error(diff)
	}
}

func TestQuery(t *testing.T) {
	for query, want := range map[string]string{
		"":                            " size 50 <nil>",
		"label=spam":                  "spam size 50 <nil>",
		"label=&sort=newest":          " newest 50 <nil>",
		"limit=200":                   " size 200 <nil>",
		"limit=0":                     "limit: must be a whole number from 1 to 200",
		"limit=201":                   "limit: must be a whole number from 1 to 200",
		"limit=":                      "limit: must be a whole number from 1 to 200",
		"limit=1e1":                   "limit: must be a whole number from 1 to 200",
		"sort=":                       "sort: must be one of size, newest",
		"sort=SIZE":                   "sort: must be one of size, newest",
		"label=a&label=b":             "label: stands there 2 times",
		"label=%ff":                   "label: is not UTF-8",
		"label=" + "123456789012":     "label: is longer than 10 bytes",
		"labels=x":                    "labels: there is no such parameter; there is label, sort, limit",
		"l%ffb=x":                     "l\uFFFDb: there is no such parameter",
		strings.Repeat("x", 99) + "=": strings.Repeat("x", 40) + "…: there is no such parameter",
		"a;b":                         "the address: invalid semicolon separator in query",
		"%zz":                         "the address: invalid URL escape",
	} {
		q := NewQuery(&url.URL{RawQuery: query})
		got := fmt.Sprint(q.Text("label", 10), " ", q.OneOf("sort", "size", "newest"), " ",
			q.Int("limit", 1, 200, 50), " ", q.Err())
		if !strings.Contains(got, want) {
			t.Errorf("%q: got %s, want %s", query, got, want)
		}
	}
}

func TestFew(t *testing.T) {
	for value, want := range map[string]bool{
		`{}`: true, `{"a":1,"b":{"c":1,"d":2},"e":[1,2,3,4]}`: true, `{"a":1,"b":2,"c":3,"d":4}`: false,
		`[1,2,3,4,5]`: true, `7`: true, ``: true, `{"a":1,"a":1}`: true, `{"a":`: true, `{"a" 1`: true,
	} {
		if err := Few([]byte(value), 3); (err == nil) != want {
			t.Errorf("%.40s: %v", value, err)
		}
	}
}
