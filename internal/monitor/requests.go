package monitor

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// registerRequests registers what was asked over HTTP, and how long the answers took.
func (m *metrics) registerRequests(r register) {
	m.requests = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: namespace, Name: "http_requests_total",
		Help: "Requests answered, by route and status code; other is what has no route.",
	}, []string{"route", "code"})
	r.MustRegister(m.requests)
	m.answers = r.histograms("http_request_seconds", "Time from a request's header until its answer "+
		"was written, by route: of /v1/stream until the client went.",
		prometheus.ExponentialBucketsRange(0.0001, 10, 16), "route")
}

// Answered reports that a request was answered. A route is one of few names.
func (m *Monitor) Answered(route string, code int, took time.Duration) {
	m.metrics.requests.WithLabelValues(route, strconv.Itoa(code)).Inc()
	if code != http.StatusTooManyRequests && code != http.StatusServiceUnavailable {
		m.metrics.answers.WithLabelValues(route).Observe(took.Seconds())
	}
}
