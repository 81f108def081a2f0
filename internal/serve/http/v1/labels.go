package v1

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/serve/http/access"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/serve/http/strict"
)

const (
	appliedWait = 5 * time.Second // for labels to be applied
	look        = 5 * time.Millisecond
)

// label answers POST /v1/labels: once the labels are applied, or it is known that they will not
// be, or some seconds have passed.
func (s *server) label(w http.ResponseWriter, r *http.Request) error {
	if err := noQuery(r); err != nil {
		return err
	}
	value, _, err := body(r, typeJSON)
	if err != nil {
		return err
	}
	items, several, err := readLabels(value)
	switch {
	case err != nil:
		return err
	case !s.Labels:
		return &refusal{http.StatusNotFound, "labels are off: set labels.topic"}
	}
	marks, done, err := s.apply(r.Context(), items)
	switch {
	case err != nil:
		return err
	case !several && marks[0].err != nil:
		return marks[0].err
	}
	all := api.LabelledAll{Results: results(items, marks)}
	if !done {
		return answer(w, http.StatusAccepted, all)
	}
	return answer(w, http.StatusOK, all)
}

// Apply labels as POST /v1/labels does, for who asks in ctx: it returns what became of each, and
// whether all are applied. The right to label is the caller's to check.
func (o Options) Apply(ctx context.Context, items []api.LabelRequest) (
	all []api.Labelled, done bool, err error,
) {
	for i := range items {
		if err := validLabel("", &items[i]); err != nil {
			return nil, false, err
		}
	}
	if !o.Labels {
		return nil, false, &refusal{http.StatusNotFound, "labels are off: set labels.topic"}
	}
	s := &server{o}
	marks, done, err := s.apply(ctx, items)
	if err != nil {
		return nil, false, err
	}
	return results(items, marks), done, nil
}

// apply writes labels that are valid, and waits until they are applied, some seconds at most.
func (s *server) apply(ctx context.Context, items []api.LabelRequest) (
	marks []mark, done bool, err error,
) {
	marks = s.resolve(ctx, items)
	if len(items) == 1 && marks[0].err != nil {
		return marks, true, nil
	}
	if err := s.write(ctx, items, marks); err != nil {
		return nil, false, err
	}
	return marks, s.await(ctx, items, marks), nil
}

// results returns what became of labels, as answers say it.
func results(items []api.LabelRequest, marks []mark) (all []api.Labelled) {
	for i, m := range marks {
		l := m.Labelled
		l.Label, l.Action, l.Target = items[i].Label, items[i].Action, items[i].Target
		if m.err != nil {
			l.Error = m.err.Error()
		}
		all = append(all, l)
	}
	return all
}

// readLabels reads a request for labels, and says what of it cannot be.
func readLabels(value []byte) (items []api.LabelRequest, several bool, err error) {
	var q api.LabelsRequest
	if err := strict.JSON(value, &q, strict.AtMost[api.LabelRequest](api.MaxLabels)); err != nil {
		return nil, false, err
	}
	if q.Labels == nil {
		items := []api.LabelRequest{q.LabelRequest}
		return items, false, validLabel("", &items[0])
	}
	if q.LabelRequest != (api.LabelRequest{}) {
		return nil, false, api.Invalid("/labels", "must not stand beside one label")
	}
	for i := range q.Labels {
		if err := validLabel(fmt.Sprintf("/labels/%d", i), &q.Labels[i]); err != nil {
			return nil, false, err
		}
	}
	return q.Labels, true, nil
}

// validLabel checks a request at this place for one label, and gives it the action that is meant.
func validLabel(place string, q *api.LabelRequest) error {
	if q.Action == "" {
		q.Action = api.Add
	}
	text := q.TextRequest != (api.TextRequest{})
	if reason := badName(q.Label); reason != "" {
		return api.Invalid(place+"/label", "%s", reason)
	}
	if err := validNote(place, q.Note); err != nil {
		return err
	}
	switch {
	case q.Action == api.Resume && q.Trial:
		return api.Invalid(place+"/trial", "is for labels that are added or removed")
	case badTarget(q, text) != "":
		return api.Invalid(place, "%s", badTarget(q, text))
	case q.PublishedAt != nil:
		return api.Invalid(place+"/published_at", "is of no use here")
	case text:
		_, err := textOf(place, q.TextRequest)
		return err
	}
	return nil
}

// badTarget says why a request does not name one thing that is to be labelled; empty is that it
// does.
func badTarget(q *api.LabelRequest, text bool) string {
	named, contact := 0, q.ContactRef != (api.ContactRef{})
	for _, is := range []bool{q.ClusterID != "", q.ArticleID != "", text} {
		if is {
			named++
		}
	}
	switch {
	case q.Action == api.Resume && (named > 0 || contact || q.Target != ""):
		return "resume is for the label wherever it is: it names no cluster"
	case q.Action == api.Resume:
		return ""
	case q.Target == api.ForContact && (named > 0 || q.Contact == ""):
		return "target contact is for one contact, and for no cluster, article or text"
	case q.Target == api.ForContact:
		if err := article.CheckContact(q.Contact); err != nil {
			return err.Error()
		}
		return ""
	case contact:
		return `contact, space and partition are for "target": "contact"`
	case q.Target == api.ForArticle && (q.ArticleID == "" || text):
		return "target article is for one article_id"
	case q.Target != api.ForArticle && named != 1:
		return "there must be one of cluster_id, article_id, or a text"
	}
	return ""
}

// badName says why a label cannot have this name; empty is that it can.
func badName(name string) string {
	switch {
	case name == "" || len(name) > api.MaxLabel:
		return fmt.Sprintf("must have 1 to %d bytes", api.MaxLabel)
	case strings.Contains(name, ",") || strings.TrimSpace(name) != name || hasControls(name):
		return "must have no comma, no control character, and no blank at its ends"
	}
	return ""
}

func hasControls(text string) bool { return strings.ContainsFunc(text, unicode.IsControl) }

// mark is what has become of the request for one label.
type mark struct {
	api.Labelled
	member api.Member      // with target article
	record article.Address // once it is written
	err    error           // it will not be applied
}

// write writes the records of all that can be labelled.
func (s *server) write(ctx context.Context, items []api.LabelRequest, marks []mark) error {
	var records []api.LabelRecord
	var of []int
	by, at := access.From(ctx).Name, time.Now().UTC().Truncate(time.Millisecond)
	for i, q := range items {
		if marks[i].err != nil {
			continue
		}
		r := api.LabelRecord{
			Target: q.Target, ClusterID: marks[i].ClusterID, ContactRef: marks[i].ContactRef, Label: q.Label,
			Action: q.Action, By: by, At: at, Note: q.Note, Trial: q.Trial,
		}
		if q.Target == api.ForArticle {
			m := &marks[i].member
			r.ArticleID, r.Source, r.MemberPosition = m.ArticleID, m.Source.String(), &m.Position
			r.Fingerprint = m.Fingerprint
		}
		records = append(records, r)
		of = append(of, i)
	}
	if len(records) == 0 {
		return nil
	}
	addresses, err := s.Topics.Labels(ctx, records)
	if err != nil {
		return err
	}
	for i, address := range addresses {
		marks[of[i]].record, marks[of[i]].Record = address, address.String()
	}
	return nil
}

// await waits until all that was written is applied, some seconds at most, and reports whether it
// is.
func (s *server) await(ctx context.Context, items []api.LabelRequest, marks []mark) (all bool) {
	ctx, cancel := context.WithTimeout(ctx, appliedWait)
	defer cancel()
	for i := range marks {
		m := &marks[i]
		if m.err != nil {
			continue
		}
		applied := func() bool { return s.Spaces.Applied(m.ClusterID, m.record) }
		if items[i].Target == api.ForContact {
			applied = func() bool { return s.Spaces.AppliedTo(m.ContactRef, m.record) }
		}
		if !awaitRecord(ctx, applied) || !s.report(ctx, &items[i], m) {
			return false
		}
	}
	return true
}

// awaitRecord waits until a record is applied, some seconds at most, and reports whether it is.
func awaitRecord(ctx context.Context, applied func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, appliedWait)
	defer cancel()
	tick := time.NewTicker(look)
	defer tick.Stop()
	for !applied() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// report says what a label whose record was read has done, by what is committed then. It reports
// whether that can be known here.
func (s *server) report(ctx context.Context, q *api.LabelRequest, m *mark) (known bool) {
	if q.Action == api.Resume {
		m.Applied = true
		return true
	}
	if q.Target == api.ForContact {
		return s.reportContact(q, m)
	}
	c, _, err := s.Spaces.Cluster(ctx, m.ClusterID)
	switch {
	case errors.Is(err, api.ErrUnknown):
		m.err = notApplied("the cluster has expired", m.Record)
		return true
	case err != nil: // another instance has it by now
		return false
	}
	labels := c.Labels
	if q.Target == api.ForArticle {
		labels = c.LabelsOfArticle(m.member.Fingerprint)
	} else {
		m.Members = &c.Size
	}
	at := slices.IndexFunc(labels, func(l api.Label) bool {
		return l.Label == q.Label && l.Trial == q.Trial
	})
	// A label that the cluster has by a contact is not the one that was asked for.
	if q.Action == api.Add && at >= 0 && labels[at].Contact != "" {
		at = -1
	}
	switch {
	case q.Action == api.Add && at < 0:
		m.err = notApplied("the label was not taken, or has been removed", m.Record)
	case q.Action == api.Add:
		m.Applied, m.Position = true, &labels[at].Position
	case at >= 0:
		m.err = notApplied("the label was not removed, or has been added again", m.Record)
	default:
		m.Applied = true
	}
	return true
}

// reportContact does what report does, for a label on a contact.
func (s *server) reportContact(q *api.LabelRequest, m *mark) (known bool) {
	c, err := s.Spaces.Contact(m.ContactRef, "")
	if err != nil && !errors.Is(err, api.ErrUnknown) {
		return false
	}
	said := func(b api.By) bool { return b.Record == m.Record }
	named := slices.ContainsFunc(c.Marks, func(k api.Mark) bool {
		return slices.ContainsFunc(k.Clicked, said) || slices.ContainsFunc(k.Harmless, said)
	})
	has := slices.ContainsFunc(c.Marks, func(k api.Mark) bool {
		return k.Label == q.Label && k.Trial == q.Trial
	})
	switch {
	case q.Action == api.Add && !named:
		m.err = notApplied("the label was not taken, or has been removed", m.Record)
	case q.Action == api.Remove && has:
		m.err = notApplied("the label was not removed, or has been added again", m.Record)
	default:
		m.Applied = true
	}
	return true
}

// notApplied is the error of a label record that was read. Somebody may have come first.
func notApplied(why, record string) error {
	return api.Invalid("", "%s. If it was not applied, a dead letter of %s says why",
		why, record)
}
