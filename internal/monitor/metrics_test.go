package monitor

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/label"
	"github.com/clusterd/clusterd/internal/testutil/golden"
)

// busy returns one that has had every event.
func busy() *instance {
	i := newInstance()
	i.owner(0, 1)
	i.Received(300, 4000)
	i.PolledInput("all", []kafka.Position{
		stands(0, 12, &kafka.OpenTransaction{
			Topic: "articles", Offset: 7, Since: i.now().Add(-30 * time.Second), Records: 9,
		}),
		stands(1, 34, nil),
	})
	i.Waiting("all", 1000)
	i.Committed(Commit{
		Space: "all", Took: 30 * time.Millisecond, New: 100, Joined: 150, Unclustered: 40,
		Contained: 19,
		Rejected:  map[string]int{"bad_json": 7, "empty": 3}, Expired: 5, TimesAhead: 6, TimesOld: 8,
		Candidates: 70, Distances: []float64{0, 0, 1. / 3, 1, 1.5},
		Odd: Odd{
			Invalid: 2, Transcoded: map[string]int{"gb18030": 9},
			Fallbacks: map[[2]string]int{{"published_at", "format"}: 4},
		},
		Fingerprinted: 17, Repeated: 19,
		Labels: Labels{
			Applied: map[string]int{"add": 2, "remove": 1}, Articles: 44, ByContact: 31, EndedMarks: 2,
			Corrections: 13,
		},
	})
	i.Loaded("all", 1234)
	i.Labelling("all", Labelling{
		Flood: []string{"eggs", "spam"}, Pending: 3,
		Marks: label.Tally{Waiting: 5, Labelling: 7, UsedUp: 2, Ended: 1, Reach: 54, Used: 23},
	})
	i.Spent(Encoding, i.now().Add(-1500*time.Millisecond))
	i.Spent(Encoding, i.now().Add(-time.Second))
	i.NotCommitted(Aborted)
	i.NotCommitted(Fenced)
	i.Recovered(time.Second, FromTail)
	i.Rebuilt(Damaged)
	i.Members(17, 5000)
	i.Failed(errDown)
	i.Answered("/v1/check", 200, 300*time.Microsecond)
	i.Answered("/v1/check", 429, time.Microsecond)
	return i
}

// Dashboards and alerts depend on names, types and labels, and people on what is said of them.
func TestMetricNames(t *testing.T) {
	families, err := busy().metrics.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), namespace+"_") {
			continue
		}
		var labels []string
		for _, l := range f.Metric[0].Label {
			labels = append(labels, l.GetName())
		}
		fmt.Fprintf(&got, "%s{%s} %s: %s\n", f.GetName(), strings.Join(labels, ","),
			strings.ToLower(f.GetType().String()), f.GetHelp())
	}
	golden.Check(t, "testdata/metrics.golden", []byte(got.String()))
}

func scrape(m *Monitor) string {
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return w.Body.String()
}

// A counter that no event counts would stay at zero for ever.
func TestEveryCounterCounts(t *testing.T) {
	families, err := busy().metrics.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), namespace+"_") || f.GetType().String() != "COUNTER" {
			continue
		}
		sum := 0.0
		for _, m := range f.Metric {
			sum += m.GetCounter().GetValue()
		}
		if sum == 0 {
			t.Errorf("nothing counts %s: let busy have an event of it", f.GetName())
		}
	}
}

func TestMetricValues(t *testing.T) {
	i := busy()
	got := strings.Split(scrape(i.Monitor), "\n")
	for _, want := range []string{
		`clusterd_input_records_total 300`,
		`clusterd_input_bytes_total 4000`,
		`clusterd_input_lag_records{partition="0"} 12`,
		`clusterd_input_lag_records{partition="1"} 34`,
		`clusterd_open_transaction_seconds{partition="0",topic="articles"} 30`,
		`clusterd_open_transaction_seconds{partition="1",topic="articles"} 0`,
		`clusterd_waiting_bytes{space="all"} 1000`,
		`clusterd_join_distance_ratio_bucket{le="0"} 2`,
		`clusterd_join_distance_ratio_bucket{le="0.4"} 3`,
		`clusterd_join_distance_ratio_bucket{le="1"} 4`,
		`clusterd_join_distance_ratio_bucket{le="+Inf"} 5`,
		`clusterd_http_requests_total{code="200",route="/v1/check"} 1`,
		`clusterd_http_requests_total{code="429",route="/v1/check"} 1`,
		`clusterd_http_request_seconds_count{route="/v1/check"} 1`,
		`clusterd_articles_total{outcome="new"} 100`,
		`clusterd_articles_total{outcome="joined"} 150`,
		`clusterd_articles_total{outcome="unclustered"} 40`,
		`clusterd_joined_total{matched="text"} 131`,
		`clusterd_joined_total{matched="contained"} 19`,
		`clusterd_dead_letters_total{class="bad_json"} 7`,
		`clusterd_dead_letters_total{class="empty"} 3`,
		`clusterd_transactions_total{result="committed"} 1`,
		`clusterd_transactions_total{result="aborted"} 1`,
		`clusterd_transactions_total{result="fenced"} 1`,
		`clusterd_transaction_seconds_sum 0.03`,
		`clusterd_stage_seconds_total{stage="encode"} 2.5`,
		`clusterd_stage_seconds_total{stage="disk"} 0`,
		`clusterd_clusters{space="all"} 1234`,
		`clusterd_clusters_expired_total 5`,
		`clusterd_event_times_adjusted_total{reason="ahead"} 6`,
		`clusterd_event_times_adjusted_total{reason="old"} 8`,
		`clusterd_index_candidates_total 70`,
		`clusterd_recovery_seconds_sum{how="tail"} 1`,
		`clusterd_recovery_seconds_count{how="topic"} 0`,
		`clusterd_disk_rebuilds_total{reason="damaged"} 1`,
		`clusterd_disk_rebuilds_total{reason="stale"} 0`,
		`clusterd_members_lag_records 17`,
		`clusterd_members_bytes 5000`,
		`clusterd_labels_applied_total{action="add"} 2`,
		`clusterd_labels_applied_total{action="remove"} 1`,
		`clusterd_labelled_articles_total 44`,
		`clusterd_labelled_by_contact_total 31`,
		`clusterd_marks_ended_total 2`,
		`clusterd_marks{space="all",state="waiting"} 5`,
		`clusterd_marks{space="all",state="labelling"} 7`,
		`clusterd_marks{space="all",state="used_up"} 2`,
		`clusterd_marks{space="all",state="ended"} 1`,
		`clusterd_marks_reach_clusters{space="all"} 54`,
		`clusterd_marks_used_clusters{space="all"} 23`,
		`clusterd_corrections_total 13`,
		`clusterd_corrections_pending{space="all"} 3`,
		`clusterd_labels_above_flood{space="all"} 2`,
		`clusterd_errors_total 1`,
		`clusterd_ready 1`,
		`clusterd_state{state="live"} 1`,
		`clusterd_state{state="standby"} 0`,
		`clusterd_last_poll_timestamp_seconds 1.7673230456e+09`,
		`clusterd_last_commit_timestamp_seconds 1.7673230456e+09`,
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no %s", want)
		}
	}
}

func TestMetricsOfTheProcess(t *testing.T) {
	got := scrape(New("v1.2.3"))
	for _, want := range []string{
		"\ngo_goroutines ", "\ngo_memstats_heap_alloc_bytes ",
		"\nprocess_start_time_seconds ", `version="v1.2.3"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s", want)
		}
	}
}

// A rate sees the first event only of a counter that was there before it.
func TestCountersBeginAtZero(t *testing.T) {
	got := strings.Split(scrape(New("test")), "\n")
	var want []string
	for _, class := range slices.Concat(article.Classes, article.FingerprintClasses,
		article.LabelClasses) {
		want = append(want, fmt.Sprintf(`clusterd_dead_letters_total{class=%q} 0`, class))
	}
	for metric, values := range map[string][]string{
		`clusterd_articles_total{outcome=%q} 0`:    {"new", "joined", "unclustered"},
		`clusterd_joined_total{matched=%q} 0`:      {"text", "contained"},
		`clusterd_transactions_total{result=%q} 0`: {"committed", "aborted", "fenced"},
		`clusterd_stage_seconds_total{stage=%q} 0`: {
			"fingerprint", "assign", "encode", "commit", "disk",
		},
		`clusterd_disk_rebuilds_total{reason=%q} 0`: {"missing", "damaged", "foreign", "stale"},
		`clusterd_labels_applied_total{action=%q} 0`: {
			"add", "remove", "merge", "unmerge", "split", "erase",
		},
		`clusterd_recovery_seconds_count{how=%q} 0`: {"disk", "tail", "topic"},
		`clusterd_state{state=%q} 0`: {
			"standby", "recovering", "blocked", "live", "stopping",
		},
	} {
		for _, v := range values {
			want = append(want, fmt.Sprintf(metric, v))
		}
	}
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("no %s", line)
		}
	}
}

// What only the instance that works on a space has must not be summed up twice.
func TestMetricsOfASpaceGoWithIt(t *testing.T) {
	i := busy()
	i.Gone("all")
	i.Unloaded("all")
	got := scrape(i.Monitor)
	for _, gone := range []string{
		"clusterd_clusters{", "clusterd_input_lag_records{",
		"clusterd_open_transaction_seconds{", "clusterd_waiting_bytes{", "clusterd_marks{",
		"clusterd_marks_reach_clusters{", "clusterd_marks_used_clusters{",
		"clusterd_labels_above_flood{", "clusterd_corrections_pending{",
	} {
		if strings.Contains(got, gone) {
			t.Errorf("%s is still there", gone)
		}
	}
}
