package labels

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/audit/model"
	"github.com/clusterd/clusterd/internal/audit/spill"
	"github.com/clusterd/clusterd/internal/audit/wire"
)

// A happening is one line of a scenario:
//
//	new C k l      the article that founds cluster C has the contacts k and l; its result is …
//	old C          an article of cluster C; its result is …
//	… -> spam by k, odd   what the result carries: trial labels have a star, by says the contact
//	add C spam     a label record that is about a cluster; also remove
//	hold k ham     one that is about a contact; also free, which removes it
//	print C 7 ham  one that is about the articles of C with fingerprint 7; also unprint
//	erase k        one that erases a contact
//	names C k l    the record of cluster C has contacts
//	mark k spam votes clicks hams reach used last     a record of a contact, as it is by then;
//	              the label records that clicked it may follow, and x6 if six clusters are excepted
//	mark k spam none                                  its tombstone
//	said C spam k the record of cluster C says that it has a label by a contact
//	off           labels are off in the transaction of the next article
//	lost          the checkpoint before the next article has been compacted away
//	due k         the next checkpoint says that a contact is not in step
//	unread …      a label record that no checkpoint has read
//	told C spam k  a later record of cluster C says that it has a label by a contact
//	clicked C spam p n k  the record of cluster C says that label record n has marked k at position p
//	kept C 7 ham n one says that articles with fingerprint 7 have a label by the label record n, and
//	              that the cluster is kept for it
type scenario struct {
	*player
	contacts [][]uint64 // by number of a blob
	since    int64      // up to when labels were off
}

func (s *scenario) do(lines []string) {
	s.Helper()
	s.checkpointsAndMarks(lines)
	s.Replay(s.model)
	offset := int64(0)
	for n, line := range lines {
		words, shown, _ := strings.Cut(line, "->")
		w := strings.Fields(words)
		switch w[0] {
		case "new", "old":
			s.post(w, shown, fmt.Sprintf("line %d: %s", n, line))
		case "add", "remove", "hold", "free", "print", "unprint":
			offset++
		case "told":
			of, digest := s.said(w)
			s.Record(of, digest, false, line)
		case "kept":
			s.kept(w, line)
		}
	}
	if err := s.End(); err != nil {
		s.Fatal(err)
	}
}

// checkpointsAndMarks feeds the space with what is read before its articles.
func (s *scenario) checkpointsAndMarks(lines []string) {
	s.Helper()
	var position, read int64
	var due []wire.Due
	lost, off := false, false
	for _, line := range lines {
		words, _, _ := strings.Cut(line, "->")
		switch w := strings.Fields(words); w[0] {
		case "new", "old":
			position++
			if off {
				s.since = position
			}
			s.checkpoint(position, read, due, !lost)
			due, lost, off = nil, false, false
		case "mark":
			s.mark(w[1:], position)
		case "due":
			due = append(due, wire.Due{Contact: w[1]})
		case "lost":
			lost = true
		case "off":
			off = true
		case "told", "kept":
		case "clicked":
			s.clicked(w)
		case "unread":
			s.record(w[1:])
		case "said":
			s.said(w)
		case "names":
			s.names(w)
		default:
			s.record(w)
			read++
		}
	}
	s.checkpoint(position, read, due, true)
	s.checkpoint(1<<40, read, nil, true)
}

func (s *scenario) checkpoint(next, read int64, due []wire.Due, whole bool) {
	s.Checkpoint(&wire.Checkpoint{Version: 2, NextPosition: next, Labels: &wire.LabelProgress{
		Topic: "labels", Offsets: map[int32]int64{0: read}, Due: due, Since: s.since,
	}}, whole, "a checkpoint")
}

// said adds what the record of a cluster says.
func (s *scenario) said(w []string) (of wire.Address, digest uint64) {
	s.Helper()
	if _, err := fmt.Sscan(w[1], &of.Offset); err != nil {
		s.Fatal(err)
	}
	digest, err := s.labels.AddCluster(of, &wire.Cluster{
		KeptMS: time.Hour.Milliseconds(), Labels: []wire.ClusterLabel{{Label: w[2], Contact: w[3]}},
	})
	if err != nil {
		s.Fatal(err)
	}
	return of, digest
}

// clicked adds what the record of a cluster says of a label by hand.
func (s *scenario) clicked(w []string) {
	s.Helper()
	var of wire.Address
	var position int64
	if _, err := fmt.Sscan(w[1]+" "+w[3], &of.Offset, &position); err != nil {
		s.Fatal(err)
	}
	_, err := s.labels.AddCluster(of, &wire.Cluster{Labels: []wire.ClusterLabel{{
		Label: w[2], By: "alice", At: time.UnixMilli(0), Record: "labels/0/" + w[4], Marked: w[5:],
		Position: position,
	}}})
	if err != nil {
		s.Fatal(err)
	}
}

// kept holds the record of a cluster that has an exception alone to the model.
func (s *scenario) kept(w []string, at string) {
	s.Helper()
	var of wire.Address
	if _, err := fmt.Sscan(w[1], &of.Offset); err != nil {
		s.Fatal(err)
	}
	digest, err := s.labels.AddCluster(of, &wire.Cluster{
		KeptMS: time.Hour.Milliseconds(), Exceptions: []wire.Exception{{
			Fingerprint: fmt.Sprintf("%016s", w[2]), Labels: []wire.ClusterLabel{
				{Label: w[3], By: "alice", At: time.UnixMilli(0), Record: "labels/0/" + w[4], Position: 1},
			},
		}},
	})
	if err != nil {
		s.Fatal(err)
	}
	s.Record(of, digest, false, at)
}

// names adds a record of a cluster with contacts.
func (s *scenario) names(w []string) {
	s.Helper()
	var offset int64
	if _, err := fmt.Sscan(w[1], &offset); err != nil {
		s.Fatal(err)
	}
	_, err := s.labels.AddCluster(wire.Address{Offset: offset}, &wire.Cluster{Contacts: w[2:]})
	if err != nil {
		s.Fatal(err)
	}
}

// record adds a label record.
func (s *scenario) record(w []string) {
	s.Helper()
	if w[0] == "erase" {
		s.label(fmt.Sprintf(`{"action":"erase","target":"contact","contact":%q}`, w[1]), "")
		return
	}
	action := "add"
	if w[0] == "remove" || w[0] == "free" || w[0] == "unprint" {
		action = "remove"
	}
	label, isTrial := strings.CutSuffix(w[len(w)-1], "*")
	of := fmt.Sprintf(`"cluster_id":"articles/0/%s"`, w[1])
	switch {
	case w[0] == "hold" || w[0] == "free":
		of = fmt.Sprintf(`"target":"contact","contact":%q`, w[1])
	case len(w) == 4:
		of += fmt.Sprintf(`,"target":"article","source":"articles/0/%s","fingerprint":"%016s"`, w[1], w[2])
	}
	s.label(fmt.Sprintf(`{%s,"label":%q,"action":%q,"trial":%t,"by":"alice"}`,
		of, label, action, isTrial), "")
}

// mark adds the record of a contact.
func (s *scenario) mark(w []string, position int64) {
	s.Helper()
	r := &kgo.Record{
		Key:     []byte("contact:all/" + w[0]),
		Headers: []kgo.RecordHeader{{Key: wire.HeaderPosition, Value: fmt.Append(nil, position)}},
	}
	if w[2] != "none" {
		name, isTrial := strings.CutSuffix(w[1], "*")
		var clicked []string
		excepted := "0"
		for _, at := range w[8:] {
			if n, ok := strings.CutPrefix(at, "x"); ok {
				excepted = n
				continue
			}
			clicked = append(clicked, fmt.Sprintf(`{"record":"labels/0/%s"}`, at))
		}
		r.Value = fmt.Appendf(nil, `{"contact":%q,"marks":[{"label":%q,"trial":%t,"votes":%s,"clicks":%s,`+
			`"hams":%s,"reach":%s,"used":%s,"last":%s,"excepted":%s,"clicked":[%s]}]}`, w[0], name, isTrial, w[2], w[3],
			w[4], w[5], w[6], w[7], excepted, strings.Join(clicked, ","))
	}
	c, err := wire.ParseContact(r)
	if err != nil {
		s.Fatal(err)
	}
	if err := s.AddContact(&c, fmt.Sprint("mark ", w)); err != nil {
		s.Fatal(err)
	}
}

// post is an article, whose result says what is shown.
func (s *scenario) post(w []string, shown, at string) {
	s.Helper()
	var offset int64
	if _, err := fmt.Sscan(w[1], &offset); err != nil {
		s.Fatal(err)
	}
	cluster := wire.Address{Offset: offset}
	a := model.Article{
		Source: wire.Address{Offset: 100 + s.next}, Cluster: cluster,
		Fingerprint: model.Fingerprint{Hash: uint64(0xff) << (8 * offset), Known: true},
	}
	if w[0] == "new" {
		a.Source = cluster
		var of []uint64
		for _, contact := range w[2:] {
			of = append(of, wire.ContactDigest(s.seed, contact))
		}
		if of != nil {
			a.Fingerprint.Contacts = model.Blob{Digest: 1, Ref: spill.Ref{At: int64(len(s.contacts))}}
			s.contacts = append(s.contacts, of)
		}
	}
	if err := s.Advance(s.next); err != nil {
		s.Fatal(err)
	}
	if w[0] == "new" {
		if err := s.Found(s.next, &a, false); err != nil {
			s.Fatal(err)
		}
	}
	result := s.shown(shown)
	result.Print, result.Size = a.Fingerprint.Hash, 1
	if n, ok := s.model.Number(cluster); ok {
		result.Size = s.model.Cluster(n).Size + 1
	}
	if err := s.Result(s.next, cluster, result, at); err != nil {
		s.Fatal(err)
	}
	if _, err := s.model.Assign(a, s.next); err != nil {
		s.Fatal(err)
	}
	s.next++
}

// shown returns what a result says.
func (s *scenario) shown(text string) (r Shown) {
	var names, trial []string
	var by []wire.LabelledBy
	for one := range strings.SplitSeq(text, ",") {
		name, contact, _ := strings.Cut(strings.TrimSpace(one), " by ")
		name, isTrial := strings.CutSuffix(name, "*")
		switch {
		case name == "":
			continue
		case isTrial:
			trial = append(trial, name)
		default:
			names = append(names, name)
		}
		if contact != "" {
			by = append(by, wire.LabelledBy{Label: name, Trial: isTrial, Contact: contact})
		}
	}
	return Shown{Labels: s.labels.Set(names), Trial: s.labels.Set(trial), By: s.labels.By(by)}
}

func newScenario(t *testing.T) *scenario {
	t.Helper()
	s := &scenario{}
	s.player = newPlayer(t, Rule{
		Marks: true, Allow: []string{"ham"}, Kept: time.Hour,
		Contacts: func(b model.Blob) ([]uint64, error) { return s.contacts[b.Ref.At], nil },
	}, 0)
	s.Space = s.labels.Space(0) // without the checkpoints of the player
	return s
}

// found returns what the audit finds, of all but the records of clusters, of which there are none.
// Where a scenario has no record of a contact, none is missing.
func (s *scenario) found(lines []string) (all []string) {
	s.Helper()
	const unsaid = "the clusters topic, of a contact"
	isMark := func(line string) bool { return strings.HasPrefix(line, "mark ") }
	hasMarks := slices.ContainsFunc(lines, isMark)
	s.do(lines)
	for _, v := range s.report.Checks[0].Shown {
		if !strings.HasPrefix(v.At, "articles/") && (v.At != unsaid || hasMarks) {
			all = append(all, v.At+": want "+v.Expected+"; found "+v.Found)
		}
	}
	return all
}

// holds returns lines that put labels on a contact.
func holds(names ...string) (lines []string) {
	for _, name := range names {
		lines = append(lines, "hold number:1 "+name)
	}
	return lines
}

// marked are scenarios in which all is as the rule of marks says, line by line.
var marked = map[string][]string{
	"a cluster that is founded with a marked contact has the label": {
		"new 1 number:1", "add 1 spam", "mark number:1 spam 720720 1 0 6 0 0 0", "old 1 -> spam",
		"new 2 number:1 -> spam by number:1", "mark number:1 spam 720720 1 0 6 1 2 0",
		"new 3 number:2", "old 2 -> spam by number:1",
	},
	"a site counts from half a vote": {
		"new 1 site:a site:b site:c", "add 1 spam", "old 1 -> spam", "new 2 site:a",
		"add 2 spam", "old 2 -> spam", "new 3 site:a -> spam by site:a",
		"mark site:b spam 240240 1 0 6 0 0 0", "mark site:c spam 240240 1 0 6 0 0 0",
		"mark site:a spam 960960 2 0 6 1 4 0 1",
	},
	"a click labels earlier clusters, the oldest first, and not those that have a label": {
		"new 1 number:1", "new 2 number:1", "add 2 odd", "new 3 number:1 -> odd by number:1",
		"add 3 spam", "old 1 -> odd by number:1", "old 3 -> spam, odd by number:1",
	},
	"a contact of three unlabelled clusters is common": {
		"new 1 site:a", "new 2 site:a", "new 3 site:a", "new 4 site:a number:4", "add 4 spam",
		"old 1", "new 5 site:a", "new 6 number:4 -> spam by number:4",
		"mark number:4 spam 360360 1 0 6 1 6 0", "mark site:a spam 0 1 0 0 0 3", "old 1",
		"remove 4 spam",
		"mark site:a spam none", "mark number:4 spam none", "old 6",
	},
	"what was called harmless is common however many clusters were clicked": {
		"new 1 number:1 number:9", "add 1 spam", "hold number:1 ham", "new 2 number:1", "new 3 number:1",
		"new 4 number:1", "new 5 number:1", "add 5 spam", "new 6 number:1", "add 6 spam",
		"new 7 number:1", "add 7 spam", "new 0 number:1", "mark number:1 spam 360360 4 1 6 0 6 0",
		"mark number:9 spam 360360 1 0 6 0 0 0",
	},
	"a common contact is marked once more clusters were clicked than share it": {
		"new 1 number:1", "new 2 number:1", "new 3 number:1", "new 4 number:1", "add 4 spam",
		"new 5 number:1", "add 5 spam", "new 6 number:1", "add 6 spam", "new 7 number:1", "old 7",
		"add 7 spam", "mark number:1 spam 720720 4 0 6 0 6 3", "old 1",
		"new 0 number:1 -> spam by number:1", "mark number:1 spam 720720 4 0 6 1 9 3",
	},
	"a mark is good for six clusters, and a further click for four times what it labelled": {
		"new 1 number:1", "add 1 spam", "new 2 number:1 -> spam by number:1",
		"new 3 number:1 -> spam by number:1", "new 4 number:1 -> spam by number:1",
		"add 4 spam", "remove 4 spam", "old 4",
	},
	"a label that came by a contact marks nothing": {
		"new 1 number:1", "add 1 spam", "new 2 number:1 number:2 -> spam by number:1", "new 3 number:2",
	},
	"trial and real labels are side by side": {
		"new 1 number:1", "add 1 spam*", "old 1 -> spam*", "new 2 number:1 -> spam* by number:1",
		"add 2 spam", "old 2 -> spam, spam* by number:1",
		"new 3 number:1 -> spam by number:1, spam* by number:1",
	},
	"a harmless contact frees what came by it": {
		"new 1 number:1", "add 1 spam", "new 2 number:1 -> spam by number:1",
		"hold number:1 ham", "old 2",
		"mark number:1 spam 720720 1 1 6 1 1 0", "old 1 -> spam", "new 3 number:1", "free number:1 ham",
		"mark number:1 spam 720720 1 0 6 1 1 0", "old 3", "old 2",
	},
	"another contact takes over": {
		"new 1 number:1", "new 2 number:2", "add 1 spam", "add 2 spam",
		"new 3 number:1 number:2 -> spam by number:1", "hold number:1 ham", "old 3 -> spam by number:2",
	},
	"removing a label takes back what it marked": {
		"new 1 number:1", "add 1 spam", "new 2 number:1 -> spam by number:1", "remove 1 spam",
		"mark number:1 spam none", "old 1", "old 2", "new 3 number:1",
	},
	"a label by hand takes the place of one by a contact": {
		"new 1 number:1", "add 1 spam", "new 2 number:1 -> spam by number:1", "add 2 spam",
		"old 2 -> spam", "remove 1 spam", "old 2 -> spam", "old 1",
	},
	"a click on a contact labels all of its clusters": {
		"new 1 site:a", "new 2 site:a", "new 3 site:a", "new 4 site:a", "hold site:a spam",
		"old 1 -> spam by site:a", "old 4 -> spam by site:a", "free site:a spam", "old 1", "old 3",
	},
	"of a cluster younger than its mark the first six carry the label": {
		"new 1 number:1", "add 1 spam", "new 2 number:1 -> spam by number:1", "old 2 -> spam by number:1",
		"old 2 -> spam by number:1", "old 2 -> spam by number:1", "old 2 -> spam by number:1",
		"old 2 -> spam by number:1", "old 2", "old 2",
	},
	"a contact has at most sixteen marks": slices.Concat(
		[]string{"new 1 number:1"}, holds("b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n",
			"o", "p", "q"), holds("a", "b"), []string{
			"new 2 number:1 -> b by number:1, c by number:1, d by number:1, e by number:1, " +
				"f by number:1, g by number:1, h by number:1, i by number:1",
		}),
	"an exception is of equal articles alone": {
		"new 1", "add 1 spam", "old 1 -> spam", "print 1 ff00 ham", "old 1 -> ham", "unprint 1 ff00 ham",
		"old 1 -> spam", "print 1 ff ham", "old 1 -> spam",
	},
	"six clusters with a harmless article take a vote": {
		"new 1 number:1", "add 1 spam", "new 2 number:1 -> spam by number:1",
		"new 3 number:1 -> spam by number:1", "new 4 number:1 -> spam by number:1",
		"new 5 number:1 -> spam by number:1", "new 6 number:1 -> spam by number:1",
		"print 1 ff ham", "print 2 ff0000 ham", "print 2 ff ham", "print 3 ff000000 ham",
		"print 4 ff00000000 ham", "print 5 ff0000000000 ham", "print 6 ff000000000000 ham",
		"new 7 number:1 -> spam by number:1", "mark number:1 spam 720720 1 0 6 6 6 0 x5",
		"print 7 ff00000000000000 ham", "mark number:1 spam 720720 1 0 6 6 6 0 x6", "old 7 -> ham",
		"new 0 number:1", "unprint 7 ff00000000000000 ham",
		"mark number:1 spam 720720 1 0 6 6 6 0 x5", "old 7", "old 1 -> spam",
	},
	"an erased contact is forgotten, and what came by it stays": {
		"new 1 number:1 number:2", "add 1 spam", "new 2 number:1 -> spam by number:1",
		"erase number:1", "mark number:1 spam none", "names 2 erased:0/1",
		"old 2 -> spam by erased:0/1", "new 3 number:1", "add 3 odd",
		"new 4 number:1 -> odd by number:1", "mark number:1 odd 720720 1 0 6 1 4 2",
		"remove 1 spam", "mark number:2 spam none", "new 5 number:2", "old 4 -> odd by number:1",
	},
	"marks of an erased contact go": {
		"new 1 number:1", "add 1 spam", "old 1 -> spam", "erase number:1", "mark number:1 spam none",
		"old 1 -> spam",
	},
	"a click is believed where it is not known which clusters have a label": {
		"new 1 number:9", "add 1 odd", "due number:9", "new 2 number:9 number:1 -> odd by number:9",
		"said 2 odd number:9", "new 3 number:1", "new 4 number:1", "new 5 number:1",
		"clicked 5 spam 5 1 number:1", "add 5 spam", "old 5 -> spam", "said 3 spam number:1",
		"said 4 spam number:1", "old 3 -> spam by number:1", "old 4 -> spam by number:1",
	},
	"a label of one article alone keeps the cluster": {
		"new 1", "print 1 ff00 ham", "old 1 -> ham", "kept 1 ff00 ham 0",
	},
	"an unread label record may have come of a transaction that is going on": {
		"new 1 number:1", "new 2 number:1", "unread hold number:1 spam", "told 2 spam number:1",
		"mark number:1 spam 720720 1 0 8 2 1 0",
	},
	"what is due may come to a cluster without later members": {
		"new 1 number:1", "new 2 number:1", "told 2 spam number:1", "add 1 spam", "due number:1",
		"old 1 -> spam", "old 1 -> spam",
	},
	"while labels are off contacts give none": {
		"new 1 number:1", "add 1 spam", "new 2 number:1 -> spam by number:1", "off", "new 3 number:1",
		"off", "old 1", "old 2 -> spam by number:1", "old 3", "new 4 number:1 -> spam by number:1",
		"mark number:1 spam 720720 1 0 6 2 6 0",
	},
	"what is due may come later": {
		"new 1 number:1", "new 2 number:1", "add 1 spam", "due number:1", "old 2", "due number:1",
		"old 2 -> spam by number:1", "said 2 spam number:1", "said 3 spam number:1",
		"new 3 number:1 -> spam by number:1",
	},
}

func TestMarksHold(t *testing.T) {
	t.Parallel()
	for name, lines := range marked {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := newScenario(t).found(lines); got != nil {
				t.Errorf("found:\n%s", strings.Join(got, "\n"))
			}
		})
	}
}

// Whatever a scenario says of a contact or of a label, the audit finds if it is something else.
func TestMarkFaultsAreFound(t *testing.T) {
	t.Parallel()
	const used = "mark number:1 spam 720720 1 0 6 1 2 0"
	for _, test := range []struct{ of, line, instead string }{
		{"a cluster that is founded", "new 2 number:1 -> spam by number:1", "new 2 number:1"},
		{"a cluster that is founded", "new 2 number:1 -> spam by number:1", "new 2 number:1 -> spam"},
		{"a cluster that is founded", "new 3 number:2", "new 3 number:2 -> spam by number:2"},
		{"a cluster that is founded", used, "mark number:1 spam 720720 1 0 6 0 2 0"},
		{"a cluster that is founded", used, "mark number:1 spam 720720 1 0 7 1 2 0"},
		{"a cluster that is founded", used, "mark number:1 spam none"},
		{"a site counts", "new 2 site:a", "new 2 site:a -> spam by site:a"},
		{
			"a site counts", "mark site:a spam 960960 2 0 6 1 4 0 1",
			"mark site:a spam 240240 2 0 6 1 4 0 1",
		},
		{"a click labels earlier", "old 1 -> odd by number:1", "old 1"},
		{"a contact of three", "new 5 site:a", "new 5 site:a -> spam by site:a"},
		{"a contact of three", "mark site:a spam 0 1 0 0 0 3", "mark site:a spam 0 2 0 0 0 3"},
		{"a contact of three", "mark site:a spam none", "mark site:a spam 0 1 0 0 0 3"},
		{
			"what was called", "mark number:1 spam 360360 4 1 6 0 6 0",
			"mark number:1 spam 1081080 4 1 6 0 6 0",
		},
		{"what was called", "new 0 number:1", "new 0 number:1 -> spam by number:1"},
		{"a common contact", "old 7", "old 7 -> spam by number:1"},
		{"a common contact", "old 1", "old 1 -> spam by number:1"},
		{"a common contact", "new 0 number:1 -> spam by number:1", "new 0 number:1"},
		{"a label that came", "new 3 number:2", "new 3 number:2 -> spam by number:2"},
		{"trial and real", "old 2 -> spam, spam* by number:1", "old 2 -> spam"},
		{"a harmless", "old 2", "old 2 -> spam by number:1"},
		{"a harmless", "new 3 number:1", "new 3 number:1 -> spam by number:1"},
		{"another contact", "old 3 -> spam by number:2", "old 3"},
		{"removing a label", "old 2", "old 2 -> spam by number:1"},
		{"a click on a contact", "old 4 -> spam by site:a", "old 4"},
		{"a click on a contact", "old 3", "old 3 -> spam by site:a"},
		{"of a cluster younger", "old 2", "old 2 -> spam by number:1"},
		{"an erased", "new 3 number:1", "new 3 number:1 -> spam by number:1"},
		{"an erased", "old 2 -> spam by erased:0/1", "old 2"},
		{"an erased", "names 2 erased:0/1", "names 2 number:1"},
		{"marks of an erased", "mark number:1 spam none", "mark number:1 spam 720720 1 0 6 0 0 0 0"},
		{"an erased", "old 4 -> odd by number:1", "old 4"},
		{
			"six clusters", "mark number:1 spam 720720 1 0 6 6 6 0 x5",
			"mark number:1 spam 720720 1 0 6 6 6 0 x7",
		},
		{"six clusters", "new 0 number:1", "new 0 number:1 -> spam by number:1"},
		{"an unread", "unread hold number:1 spam", "old 1"},
		{"while labels are off", "new 3 number:1", "new 3 number:1 -> spam by number:1"},
		{"while labels are off", "old 1", "old 1 -> spam"},
		{"while labels are off", "old 3", "old 3 -> spam by number:1"},
		{"while labels are off", "new 4 number:1 -> spam by number:1", "new 4 number:1"},
		{
			"while labels are off", "mark number:1 spam 720720 1 0 6 2 6 0",
			"mark number:1 spam 720720 1 0 6 3 6 0",
		},
		{"an exception", "old 1 -> ham", "old 1 -> spam"},
		{"an exception", "old 1 -> spam", "old 1 -> ham"},
	} {
		t.Run(test.of+", "+test.instead, func(t *testing.T) {
			t.Parallel()
			for name, lines := range marked {
				if !strings.HasPrefix(name, test.of) {
					continue
				}
				spoilt := slices.Clone(lines)
				at := slices.Index(spoilt, test.line)
				if at < 0 {
					t.Fatalf("no line %q", test.line)
				}
				spoilt[at] = test.instead
				if got := newScenario(t).found(spoilt); got == nil {
					t.Error("nothing is found")
				}
			}
		})
	}
}
