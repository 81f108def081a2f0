package label

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/clusterd/clusterd/internal/message/article"
)

// Exceptions are the labels of single articles of a cluster: a JSON array of [article.Exception] in
// the order of their fingerprints, or an empty text for none. Two of the same exceptions are equal.
type Exceptions string

// ExceptionsOf returns these exceptions, whose fingerprints differ.
func ExceptionsOf(all []article.Exception) Exceptions {
	if len(all) == 0 {
		return ""
	}
	return Exceptions(article.AppendExceptions(nil, slices.SortedFunc(slices.Values(all), byPrint)))
}

func byPrint(a, b article.Exception) int { return cmp.Compare(a.Fingerprint, b.Fingerprint) }

// All returns the exceptions in order. What [Exceptions.Check] refuses has none.
func (x Exceptions) All() []article.Exception {
	all, _ := x.parse()
	return all
}

func (x Exceptions) parse() (all []article.Exception, err error) {
	if x != "" {
		err = json.Unmarshal([]byte(x), &all)
	}
	return all, err
}

// Check returns an error for what no label records can have made.
func (x Exceptions) Check() error {
	if x == "" {
		return nil
	}
	all, err := x.parse()
	switch {
	case err != nil:
		return fmt.Errorf("exceptions: %w", err)
	case len(all) > article.MaxExceptions:
		return fmt.Errorf("there are %d exceptions; at most %d are possible", len(all),
			article.MaxExceptions)
	}
	for i := range all {
		e := &all[i]
		set := Of(e.Labels)
		if err := errors.Join(e.Check(), set.Check()); err != nil || set == "" {
			return fmt.Errorf("exception %.80q: %d labels: %w", e.ArticleID, len(e.Labels), err)
		}
		if !slices.IsSortedFunc(e.Labels, byName) || i > 0 && byPrint(all[i-1], *e) >= 0 {
			return errors.New("exceptions are not in order")
		}
	}
	if ExceptionsOf(all) != x {
		return errors.New("exceptions are written in another way than clusterd writes them")
	}
	return nil
}

// ErrTooManyExceptions is the error of an exception more than a cluster may have.
var ErrTooManyExceptions = errors.New("too many exceptions")

// Apply returns the exceptions after a label record for an article, which takes effect at this
// position. A label that the article has stays as it is. The error is [ErrTooMany] or
// [ErrTooManyExceptions].
func (x Exceptions) Apply(r *article.LabelRecord, position uint64) (Exceptions, error) {
	all := x.All()
	e := article.Exception{
		Source: r.Source.String(), ArticleID: r.ArticleID, MemberPosition: r.MemberPosition,
		Fingerprint: r.Fingerprint,
	}
	at, found := slices.BinarySearchFunc(all, e, byPrint)
	if found {
		e = all[at]
	}
	set := Of(e.Labels)
	_, has := set.Get(r.Name, r.Trial)
	switch {
	case has == (r.Action == article.AddLabel):
		return x, nil
	case has:
		set = set.Without(r.Name, r.Trial)
	default:
		l := r.Label
		l.Position = position
		var err error
		if set, err = set.With(l); err != nil {
			return x, err
		}
	}
	e.Labels = set.All()
	switch {
	case found && len(e.Labels) == 0:
		all = slices.Delete(all, at, at+1)
	case found:
		all[at] = e
	case len(all) == article.MaxExceptions:
		return x, ErrTooManyExceptions
	default:
		all = slices.Insert(all, at, e)
	}
	return ExceptionsOf(all), nil
}

// Except returns the labels of an article: those of its cluster, and those of its exception. A
// label that both have counts for the article however large the cluster is.
func Except(cluster, exception []article.Label) []article.Label {
	all := slices.Clone(cluster)
	for _, l := range exception {
		if at, found := slices.BinarySearchFunc(all, l, byName); found {
			all[at].Reach = 0
		} else {
			all = slices.Insert(all, at, l)
		}
	}
	return all
}
