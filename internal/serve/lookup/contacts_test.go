package lookup

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/testutil/clustertest"
)

// sharing has each of so many clusters have a contact.
func (d *deskSpace) sharing(contact string, clusters int) {
	d.Helper()
	for range clusters {
		a := clustertest.Article(d.next, uint64(d.next)+1, time.Now())
		a.RecordedAt, a.Source = a.PublishedAt, article.Address{Topic: "articles", Offset: d.next}
		a.Fingerprint.Contacts = singlepass.NewContacts([]string{contact})
		d.next++
		d.batch(space.LabelWork{Room: 100}, a)
	}
}

func (d *deskSpace) batch(work space.LabelWork, articles ...fingerprint.Article) {
	d.Helper()
	b, err := d.space.AssignLabelled(work, clustertest.Each(articles), len(articles))
	m := d.space.Meta()
	m.Checkpoint = &checkpoint.Record{
		Offsets: map[int]int64{0: d.next}, NextPosition: b.Next(), StreamTime: time.Now().UnixMilli(),
	}
	if err == nil {
		err = d.space.Commit(b, m)
	}
	if err != nil {
		d.Fatal(err)
	}
}

// list returns the contacts of a list and how many clusters share each, read in pages of two.
func (d *deskSpace) list(q api.ContactQuery) (all []string) {
	d.Helper()
	q.Limit = 2
	for range 20 {
		page, err := d.Contacts(d.Context(), q)
		if err != nil {
			d.Fatal(err)
		}
		for _, c := range page.Contacts {
			all = append(all, fmt.Sprintf("%s %d %d", c.Contact, c.Clusters, len(c.Marks)))
		}
		if q.After = page.Next; q.After == "" {
			return all
		}
	}
	d.Fatal("the list has no end")
	return nil
}

// Contacts that at least three clusters share are listed, those of most clusters first, and behind
// them those that labels have marked. If texts are hidden, the kind alone is told.
func TestContacts(t *testing.T) {
	d := newMarkingSpace(t)
	d.sharing("number:+1", 3)
	d.sharing("mail:a@b.example", 5)
	d.sharing("name:alexis", 2)
	d.sharing("site:shop.example", 3)
	d.batch(space.LabelWork{Room: 100, Records: []article.LabelRecord{{
		Action: article.AddLabel, Label: clustertest.Label("spam", 2),
		Targeted: article.Targeted{Target: article.TargetContact, Contact: "name:alexis"},
	}}})
	for name, tt := range map[string]struct {
		query api.ContactQuery
		want  []string
	}{
		"all": {
			api.ContactQuery{Shared: true, Marked: true},
			[]string{"mail:a@b.example 5 0", "number:+1 3 0", "site:shop.example 3 0", "name:alexis 0 1"},
		},
		"shared": {
			api.ContactQuery{Shared: true},
			[]string{"mail:a@b.example 5 0", "number:+1 3 0", "site:shop.example 3 0"},
		},
		"marked": {api.ContactQuery{Marked: true}, []string{"name:alexis 0 1"}},
	} {
		if got := d.list(tt.query); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	if _, err := d.Contact(api.ContactRef{Contact: "number:+1"}, "spam"); err != nil {
		t.Errorf("a contact that clusters share: %v", err)
	}
	for _, name := range []string{"number:+1", "number:+2"} {
		if _, err := d.Contact(api.ContactRef{Contact: name}, "ham"); err == nil {
			t.Errorf("%s, which no label has marked, can be harmless", name)
		}
	}
	d.options.Config.Serve.Content = config.Hidden
	if got := d.list(api.ContactQuery{Marked: true}); !slices.Equal(got, []string{"name:hidden 0 1"}) {
		t.Errorf("hidden: %q", got)
	}
}
