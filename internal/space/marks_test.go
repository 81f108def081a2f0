package space

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/simhash/hamming"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/space/state"
	"github.com/clusterd/clusterd/internal/testutil/clustertest"
)

// markedCluster is a cluster of the plain model of marks.
type markedCluster struct {
	founder  article.Address
	hash     uint64
	contacts []string
	size     int
	lastSeen int64
	seq      int
	labels   map[labelKey]plainLabel
}

type labelKey struct {
	name  string
	trial bool
}

// plainLabel is a label of a cluster: by a contact, or by hand with what it has marked.
type plainLabel struct {
	contact string
	reach   int
	marked  []string
}

type markKey struct {
	labelKey
	contact string
}

// plainMark counts votes in parts of 720720.
type plainMark struct{ votes, clicks, reach, used, last int }

// plainMarks is the rule of marks over slices and maps, one article and one record after the other.
type plainMarks struct {
	clusters []markedCluster // in founding order
	marks    map[markKey]plainMark
	due      []plainDue
	stream   int64
}

// plainDue is a contact that is due, after a click or not.
type plainDue struct {
	contact string
	click   bool
}

func (p *plainMarks) clone() *plainMarks {
	c := &plainMarks{marks: maps.Clone(p.marks), due: slices.Clone(p.due), stream: p.stream}
	for _, k := range p.clusters {
		k.labels = maps.Clone(k.labels)
		c.clusters = append(c.clusters, k)
	}
	return c
}

func (p *plainMarks) lives(k *markedCluster) bool {
	until := k.lastSeen + time.Hour.Milliseconds()
	if len(k.labels) > 0 {
		until += 2 * time.Hour.Milliseconds()
	}
	return until >= p.stream
}

// mark returns a mark. One of which the last cluster has expired is gone.
func (p *plainMarks) mark(key markKey) plainMark {
	m := p.marks[key]
	i := slices.IndexFunc(p.clusters, func(k markedCluster) bool { return k.seq == m.last })
	if i < 0 || !p.lives(&p.clusters[i]) {
		return plainMark{}
	}
	return m
}

func counts(key markKey, m plainMark) bool {
	kind, _, _ := strings.Cut(key.contact, ":")
	return m.votes > 0 && (kind == "number" || kind == "name" || 2*m.votes >= 720720)
}

// keys returns those of the marks of a contact in their order.
func (p *plainMarks) keys(contact string) (keys []markKey) {
	for key := range p.marks {
		if key.contact == contact {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b markKey) int {
		return cmp.Or(strings.Compare(a.name, b.name),
			strings.Compare(fmt.Sprint(a.trial), fmt.Sprint(b.trial)))
	})
	return keys
}

// use labels a cluster by a mark if that may.
func (p *plainMarks) use(k *markedCluster, key markKey, reach int) bool {
	m := p.mark(key)
	if _, has := k.labels[key.labelKey]; has || !counts(key, m) || m.used >= m.reach ||
		len(k.labels) == 8 {
		return false
	}
	if k.labels == nil {
		k.labels = make(map[labelKey]plainLabel)
	}
	k.labels[key.labelKey] = plainLabel{contact: key.contact, reach: reach}
	m.used, m.last = m.used+1, k.seq
	p.marks[key] = m
	return true
}

func (p *plainMarks) article(a *fingerprint.Article, position int) string {
	at := a.PublishedAt.UnixMilli()
	p.stream = max(p.stream, at)
	i := slices.IndexFunc(p.clusters, func(k markedCluster) bool {
		return k.hash == a.Fingerprint.Hash && p.lives(&k)
	})
	if i < 0 {
		i = len(p.clusters)
		p.clusters = append(p.clusters, markedCluster{
			founder: a.Source, hash: a.Fingerprint.Hash, seq: position, lastSeen: at,
			contacts: slices.Collect(a.Fingerprint.Contacts.All()),
		})
		k := &p.clusters[i]
		for _, contact := range k.contacts {
			for _, key := range p.keys(contact) {
				p.use(k, key, p.mark(key).reach)
			}
		}
	}
	k := &p.clusters[i]
	k.size++
	k.lastSeen = max(k.lastSeen, at)
	return fmt.Sprint(k.founder, " ", p.carried(k))
}

// carried returns what results of a cluster carry, as a text.
func (p *plainMarks) carried(k *markedCluster) string {
	var all []string
	_, ham := k.labels[labelKey{"ham", false}]
	for key, l := range k.labels {
		if (l.reach == 0 || k.size <= l.reach) && (key.trial || !ham || key.name == "ham") {
			all = append(all, strings.TrimSpace(fmt.Sprint(key.name, " ", key.trial, " ", l.contact)))
		}
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

// unlabelled returns the live clusters that have a contact and no label.
func (p *plainMarks) unlabelled(contact string) (all []*markedCluster) {
	for i := range p.clusters {
		k := &p.clusters[i]
		if len(k.labels) == 0 && slices.Contains(k.contacts, contact) && p.lives(k) {
			all = append(all, k)
		}
	}
	return all
}

func (p *plainMarks) record(r *article.LabelRecord) string {
	i := slices.IndexFunc(p.clusters, func(k markedCluster) bool {
		return k.founder == r.Cluster && p.lives(&k)
	})
	if i < 0 {
		return "unknown"
	}
	k, key := &p.clusters[i], labelKey{r.Name, r.Trial}
	have, has := k.labels[key]
	if has == (r.Action == article.AddLabel) && have.contact == "" ||
		!has && r.Action == article.RemoveLabel {
		return "nothing"
	}
	if !has && len(k.labels) == 8 {
		return "full"
	}
	if r.Action == article.AddLabel {
		p.click(k, key)
		return "changed"
	}
	delete(k.labels, key)
	if have.contact == "" {
		p.unclick(k, key, have.marked)
	}
	return "changed"
}

func (p *plainMarks) unclick(k *markedCluster, key labelKey, marked []string) {
	for _, contact := range k.contacts {
		of := markKey{key, contact}
		m := p.mark(of)
		if m == (plainMark{}) {
			continue
		}
		if m.clicks--; slices.Contains(marked, contact) {
			m.votes -= 720720 / len(k.contacts)
		}
		p.marks[of] = m
		if m.votes == 0 && m.clicks == 0 {
			delete(p.marks, of)
		}
	}
	for _, contact := range marked {
		p.due = append(p.due, plainDue{contact, false})
	}
}

func (p *plainMarks) click(k *markedCluster, key labelKey) {
	if k.labels == nil {
		k.labels = make(map[labelKey]plainLabel)
	}
	var l plainLabel
	k.labels[key] = l
	for _, contact := range k.contacts {
		of := markKey{key, contact}
		m := p.mark(of)
		if key.name == "ham" {
			break
		}
		m.clicks, m.last = m.clicks+1, k.seq
		if u := len(p.unlabelled(contact)); u < 3 || u < m.clicks {
			m.votes += 720720 / len(k.contacts)
			m.reach = max(m.reach, m.used+max(6, 3*m.used))
			l.marked = append(l.marked, contact)
			if u < 3 {
				p.due = append(p.due, plainDue{contact, true})
			}
		}
		p.marks[of] = m
	}
	k.labels[key] = l
}

// step brings clusters in step with the marks of the contacts that are due, with some room.
func (p *plainMarks) step(room int) int {
	for len(p.due) > 0 {
		contact := p.due[0].contact
		for i := range p.clusters {
			k := &p.clusters[i]
			freed := false
			for key, l := range k.labels {
				of := markKey{key, contact}
				freed = freed || p.lives(k) && l.contact == contact && !counts(of, p.mark(of))
			}
			if freed && room == 0 {
				return 0
			}
			if freed {
				room--
				p.free(k, contact)
			}
		}
		for _, k := range p.unlabelled(contact) {
			may := false
			if !p.due[0].click {
				break
			}
			for _, key := range p.keys(contact) {
				m := p.mark(key)
				may = may || counts(key, m) && m.used < m.reach
			}
			if may && room == 0 {
				return 0
			}
			if may {
				room--
				for _, key := range p.keys(contact) {
					p.use(k, key, 0)
				}
			}
		}
		p.due = p.due[1:]
	}
	return room
}

func (p *plainMarks) free(k *markedCluster, contact string) {
	keys := slices.SortedFunc(maps.Keys(k.labels), func(a, b labelKey) int {
		return cmp.Or(strings.Compare(a.name, b.name),
			strings.Compare(fmt.Sprint(a.trial), fmt.Sprint(b.trial)))
	})
	for _, key := range keys {
		l, of := k.labels[key], markKey{key, contact}
		if l.contact != contact || counts(of, p.mark(of)) {
			continue
		}
		delete(k.labels, key)
		for _, other := range k.contacts {
			if p.use(k, markKey{key, other}, l.reach) {
				break
			}
		}
	}
}

func marksOptions() Options {
	o := labelOptions()
	o.Marks, o.Labels.Flood = true, 1
	return o
}

// In whatever batches articles and label records come, however little room there is, whatever is
// rolled back, and however often the space is closed and opened: labels reach by contacts what the
// plain model says.
func TestMarksAreThoseOfThePlainModel(t *testing.T) {
	due := 0
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			store, err := state.OpenInMemory(state.Identity{Input: "articles"})
			if err != nil {
				t.Fatal(err)
			}
			open := func() *Space {
				s := New(hamming.Centres(hamming.NewBTree(0)), store, marksOptions(),
					func() time.Time { return at(1000 * time.Hour) })
				if err := s.Load(t.Context(), func(singlepass.Fingerprint) error { return nil }); err != nil {
					t.Fatal(err)
				}
				return s
			}
			w := &markWalk{
				T: t, rng: rand.New(rand.NewPCG(seed, 5)), seen: make(map[string]int),
				model: &plainMarks{marks: make(map[markKey]plainMark)},
			}
			s := open()
			for range 200 {
				w.batch(s)
				if w.rng.IntN(10) == 0 {
					if err := s.views.close(); err != nil {
						t.Fatal(err)
					}
					s = open()
				}
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			// Which of the rare things happen depends on the seed.
			for _, what := range []string{"changed", "unknown", "number:", "site:", "freed", "left"} {
				if w.seen[what] == 0 {
					t.Errorf("nothing of %q: %v", what, w.seen)
				}
			}
			due += w.seen["due"]
		})
	}
	if due == 0 {
		t.Error("there was room for everything")
	}
}

// markWalk feeds a space and the model.
type markWalk struct {
	*testing.T
	rng      *rand.Rand
	model    *plainMarks
	now      time.Duration
	offset   int64
	position int
	records  int64
	due      []checkpoint.Due
	seen     map[string]int
}

func (w *markWalk) record() article.LabelRecord {
	name := []string{"spam", "spam", "spam", "ad", "ham"}[w.rng.IntN(5)]
	r := article.LabelRecord{Action: article.AddLabel, Label: clustertest.Label(name, w.records)}
	r.Trial = w.rng.IntN(4) == 0
	w.records++
	if w.rng.IntN(3) == 0 {
		r.Action = article.RemoveLabel
	}
	if n := len(w.model.clusters); n > 0 {
		r.Cluster = w.model.clusters[n-1-w.rng.IntN(min(n, 12))].founder
	}
	return r
}

func (w *markWalk) article() fingerprint.Article {
	w.now += time.Duration(w.rng.IntN(6)) * time.Minute
	late := time.Duration(w.rng.IntN(40)) * time.Minute
	a := inItsTime(clustertest.Article(w.offset, uint64(w.rng.IntN(30)), at(w.now-late)))
	var contacts []string
	for _, contact := range []string{"mail:b", "name:c", "number:a", "site:d", "site:e"} {
		if w.rng.IntN(3) == 0 {
			contacts = append(contacts, contact)
		}
	}
	a.Fingerprint.Contacts = singlepass.NewContacts(contacts)
	w.offset++
	return a
}

func (w *markWalk) batch(s *Space) {
	var records []article.LabelRecord
	var articles []fingerprint.Article
	for range w.rng.IntN(3) {
		records = append(records, w.record())
	}
	for range w.rng.IntN(8) {
		articles = append(articles, w.article())
	}
	room := 1 + w.rng.IntN(3)
	b, err := s.AssignLabelled(LabelWork{Due: w.due, Records: records, Room: room},
		clustertest.Each(articles), len(articles))
	if err != nil {
		w.Fatal(err)
	}
	next := w.model.clone()
	want, got := w.modelBatch(next, b.Labelled, articles, room), w.became(&b)
	if diff := gocmp.Diff(want, got); diff != "" {
		w.Fatalf("model (-) and space (+):\n%s", diff)
	}
	if w.rng.IntN(4) == 0 {
		s.Rollback()
		return
	}
	m := s.Meta()
	m.Checkpoint = &checkpoint.Record{NextPosition: s.State().Next, StreamTime: s.State().StreamTime}
	if err := s.Commit(b, m); err != nil {
		w.Fatal(err)
	}
	w.seen["due"] += len(b.Due)
	w.seen["left"] += len(records) - len(b.Labelled)
	for _, c := range b.Changes() {
		if c.Contact != "" && c.Action == article.RemoveLabel {
			w.seen["freed"]++
		}
	}
	w.model, w.due, w.position = next, b.Due, w.position+len(articles)
}

// modelBatch has the model do what the space has done, with as many records as that has applied.
func (w *markWalk) modelBatch(
	next *plainMarks, applied []Labelled, articles []fingerprint.Article, room int,
) (all []string) {
	room = next.step(room)
	for i := range applied {
		if len(next.due) > 0 || room == 0 {
			all = append(all, "no room")
		}
		about := next.about(&applied[i].LabelRecord)
		before := about
		became := next.record(&applied[i].LabelRecord)
		if after := next.about(&applied[i].LabelRecord); after != before {
			room--
		}
		all = append(all, became)
		room = next.step(room)
	}
	for i := range articles {
		all = append(all, next.article(&articles[i], w.position+i))
	}
	return append(all, fmt.Sprint("due ", next.due))
}

// about returns what results of the cluster of a record carry that are not on trial.
func (p *plainMarks) about(r *article.LabelRecord) string {
	for i := range p.clusters {
		if k := &p.clusters[i]; k.founder == r.Cluster {
			var real []string
			for _, one := range strings.Split(p.carried(k), "; ") {
				if name, rest, _ := strings.Cut(one, " "); strings.HasPrefix(rest, "false") {
					real = append(real, name)
				}
			}
			return strings.Join(real, " ")
		}
	}
	return ""
}

func (w *markWalk) became(b *Batch) (all []string) {
	for i := range b.Labelled {
		switch l := &b.Labelled[i]; {
		case l.Changed:
			all = append(all, "changed")
		case l.Rejection == nil:
			all = append(all, "nothing")
		case l.Rejection.Class == article.UnknownCluster:
			all = append(all, "unknown")
		default:
			all = append(all, "full")
		}
	}
	for i := range b.Assignments {
		a := &b.Assignments[i]
		var carried []string
		if c := a.Carried; c != nil {
			by := make(map[labelKey]string)
			for _, l := range c.By {
				by[labelKey{l.Label, l.Trial}] = " " + l.Contact
			}
			for _, name := range c.Labels {
				carried = append(carried, name+" false"+by[labelKey{name, false}])
			}
			for _, name := range c.Trial {
				carried = append(carried, name+" true"+by[labelKey{name, true}])
			}
		}
		slices.Sort(carried)
		all = append(all, a.ClusterID+" "+strings.Join(carried, "; "))
	}
	var due []plainDue
	for _, d := range b.Due {
		due = append(due, plainDue{d.Contact, d.Click})
	}
	all = append(all, fmt.Sprint("due ", due))
	for _, text := range all {
		for _, what := range []string{"changed", "unknown", "number:", "site:"} {
			if strings.Contains(text, what) {
				w.seen[what]++
			}
		}
	}
	return all
}
