//go:build integration

package integration

import (
	"bytes"
	"fmt"
	"maps"

	"github.com/twmb/franz-go/pkg/kgo"
)

// sendForms sends articles whose results differ between this version and the version before: copies
// of one text by twenty further publishers, and a text without a word.
func (w *world) sendForms() {
	w.Helper()
	var records []*kgo.Record
	headers := []kgo.RecordHeader{
		{Key: "ce_type", Value: []byte("article")}, {Key: "traceparent", Value: []byte("00-1-2-01")},
	}
	for i := range 20 {
		records = append(records, &kgo.Record{
			Headers: headers, Value: fmt.Appendf(nil, `{"content":%q,"source":"site-%d-%d"}`, advert, w.sends, i),
		})
	}
	w.sends++
	w.produce(append(records, &kgo.Record{Value: []byte(`{"content":"!!!"}`)})...)
}

// bothForms fails the test unless there are results of the forms of both versions.
func (w *world) bothForms() {
	w.Helper()
	missing := map[string]func(*kgo.Record) bool{
		"an unclustered result without a position": func(r *kgo.Record) bool {
			return unclustered(r) && header(r, "clusterd.position") == ""
		},
		"an unclustered result with a position": func(r *kgo.Record) bool {
			return unclustered(r) && header(r, "clusterd.position") != ""
		},
		"with all headers of its record": func(r *kgo.Record) bool {
			return header(r, "traceparent") == "00-1-2-01" && header(r, "ce_type") == "article"
		},
		"with the header of a trace alone": func(r *kgo.Record) bool {
			return header(r, "traceparent") == "00-1-2-01" && header(r, "ce_type") == ""
		},
		"of more publishers than are told apart, as a text": func(r *kgo.Record) bool {
			return bytes.Contains(r.Value, []byte(`"signals":{"publishers":"64+","recent":`))
		},
		"of more publishers than are told apart, as a number": func(r *kgo.Record) bool {
			return bytes.Contains(r.Value, []byte(`"signals":{"publishers":64,"publishers_more":true,`))
		},
	}
	for _, r := range w.read(w.output, kgo.ReadCommitted()) {
		maps.DeleteFunc(missing, func(_ string, is func(*kgo.Record) bool) bool { return is(r) })
	}
	for what := range missing {
		w.Errorf("no result is %s: the test shows little", what)
	}
}

func unclustered(r *kgo.Record) bool {
	return bytes.Contains(r.Value, []byte(`"status":"unclustered"`))
}
