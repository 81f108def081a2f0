package labelling

import (
	"context"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/space"
)

// fiveMembers are the articles at positions 0 to 4 of one cluster. That at 3 has a result without a
// fingerprint.
type fiveMembers struct{}

func (fiveMembers) Before(_ context.Context, _ string, from, before uint64, limit int) (
	found []article.Member, complete bool, err error,
) {
	for at := from; at < min(5, before) && len(found) < limit; at++ {
		m := article.Member{
			ArticleID: "a", Position: at, Source: article.Address{Topic: "articles", Offset: int64(at)},
			Fingerprint: new(article.Fingerprint(at)),
		}
		if at == 3 {
			m.Fingerprint = nil
		}
		found = append(found, m)
	}
	return found, true, nil
}

// A change of an article is told to that one alone, and a change of its cluster tells members with
// exceptions what they carry with these. Changes of a cluster are told in their order.
func TestTellExceptions(t *testing.T) {
	change := func(labels ...string) article.LabelChange {
		return article.LabelChange{ClusterID: "articles/0/0", Position: 5, Labels: labels}
	}
	ofArticle := change("ham")
	ofArticle.Target = article.TargetArticle
	w := New(Options{
		Topic: "labels", Corrections: true, Members: fiveMembers{}, Log: slog.New(slog.DiscardHandler),
	}, &checkpoint.Labels{
		Topic: "labels", Offsets: map[int]int64{}, Corrections: []checkpoint.Correction{
			{LabelChange: change("spam"), Excepted: []checkpoint.Excepted{
				{Source: "articles/0/9", Fingerprint: 1, Labels: []string{"ham"}},
				{Source: "articles/0/3", Fingerprint: 77, Labels: []string{"scam", "spam"}},
			}},
			{LabelChange: ofArticle, Article: &article.Member{
				ArticleID: "b", Position: 4, Source: article.Address{Topic: "articles", Offset: 4},
			}},
		},
	})
	s := w.Take(t.Context())
	type told struct {
		id       string
		position uint64
		target   article.Target
		labels   []string
	}
	var got []told
	for _, c := range s.Corrections {
		got = append(got, told{c.ArticleID, c.MemberPosition, c.Target, c.Labels})
	}
	if len(s.progress.Corrections) > 0 {
		// The second change waits until the first one is told to the end.
		w.progress = s.progress
		s = w.Take(t.Context())
		for _, c := range s.Corrections {
			got = append(got, told{c.ArticleID, c.MemberPosition, c.Target, c.Labels})
		}
	}
	want := []told{
		{"a", 0, "", []string{"spam"}},
		{"a", 1, "", []string{"ham"}},
		{"a", 2, "", []string{"spam"}},
		{"a", 3, "", []string{"scam", "spam"}},
		{"a", 4, "", []string{"spam"}},
		{"b", 4, article.TargetArticle, []string{"ham"}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(told{})); diff != "" {
		t.Errorf("want (-), told (+):\n%s", diff)
	}
	if len(s.progress.Corrections) > 0 {
		t.Errorf("pending: %+v", s.progress.Corrections)
	}
}

// Members that are still to be told of a change by a contact are not told the contact once that is
// erased.
func TestErasedContactIsNotTold(t *testing.T) {
	const number, mail = "number:+447700900123", "mail:a@example.org"
	pending := func(contact string) checkpoint.Correction {
		return checkpoint.Correction{LabelChange: article.LabelChange{
			ClusterID: "articles/0/0", Position: 5, Labels: []string{"spam"}, Contact: contact,
		}}
	}
	committed := &checkpoint.Labels{
		Topic: "labels", Offsets: map[int]int64{},
		Corrections: []checkpoint.Correction{pending(number), pending(mail)},
	}
	w := New(Options{Topic: "labels", Corrections: true}, committed)
	s := Share{progress: &checkpoint.Labels{Corrections: committed.Corrections}}
	b := space.Batch{Labelled: []space.Labelled{{LabelRecord: article.LabelRecord{
		Action: article.Erase, Label: article.Label{Record: "labels/0/17"},
		Targeted: article.Targeted{Target: article.TargetContact, Contact: number},
	}}}}
	want := []checkpoint.Correction{pending("erased:0/17"), pending(mail)}
	if diff := cmp.Diff(want, w.Progress(&s, &b).Corrections); diff != "" {
		t.Error(diff)
	}
	if committed.Corrections[0].Contact != number {
		t.Error("what is committed has changed")
	}
}
