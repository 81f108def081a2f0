package state

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/message/fields"
)

// A StoryChange is a story as it is from now on, or that is gone.
type StoryChange struct {
	cluster.Story
	Gone bool
}

// The keys of stories. No id of a story contains a zero byte.
const (
	storyKey = 's' // s, id → the story
	// t, id, 0, seq → nothing: of each cluster that belongs to the story, or did
	memberKey = 't'
	// u, id, 0, other id → nothing: of each story that became part of this one, or did and left
	mergedKey = 'u'
)

func keyOfStory(id string) []byte { return append([]byte{storyKey}, id...) }

// below returns what the keys of a kind begin with that belong to a story.
func below(kind byte, id string) []byte { return append(append([]byte{kind}, id...), 0) }

// behind returns the smallest key behind all of those below a story.
func behind(kind byte, id string) []byte { return append(append([]byte{kind}, id...), 1) }

func keyOfMember(id string, seq uint64) []byte {
	return binary.BigEndian.AppendUint64(below(memberKey, id), seq)
}

// A Change is what becomes of something else than a cluster.
type Change interface{ write(c *change) error }

// ChangesOf returns the changes of stories and contacts.
func ChangesOf(stories []StoryChange, contacts []ContactChange) []Change {
	all := make([]Change, 0, len(stories)+len(contacts))
	for i := range stories {
		all = append(all, &stories[i])
	}
	for i := range contacts {
		all = append(all, &contacts[i])
	}
	return all
}

// StoriesOf returns the stories of changes.
func StoriesOf(changes []Change) (all []StoryChange) {
	for _, c := range changes {
		if s, ok := c.(*StoryChange); ok {
			all = append(all, *s)
		}
	}
	return all
}

func (s *StoryChange) write(c *change) error {
	if s.Gone {
		err := errors.Join(c.batch.Delete(keyOfStory(s.Address), nil),
			c.batch.DeleteRange(below(memberKey, s.Address), behind(memberKey, s.Address), nil),
			c.batch.DeleteRange(below(mergedKey, s.Address), behind(mergedKey, s.Address), nil))
		if s.Into != "" {
			err = errors.Join(err,
				c.batch.Delete(append(below(mergedKey, s.Into), s.Address...), nil))
		}
		return err
	}
	if err := s.Validate(); err != nil {
		return fmt.Errorf("story %s: %w", s.Address, err)
	}
	value := s.AppendBinary(binary.AppendUvarint(nil, s.Position))
	err := c.batch.Set(keyOfStory(s.Address), value, nil)
	if s.Into != "" {
		err = errors.Join(err,
			c.batch.Set(append(below(mergedKey, s.Into), s.Address...), nil, nil))
	}
	return err
}

func decodeStory(key, value []byte) (s cluster.Story, err error) {
	r := fields.Reader{Rest: value}
	position := r.Uvarint(cluster.MaxPosition)
	id := string(key[1:])
	if s, err = cluster.ParseStory([]byte(cluster.StoryPrefix+id), r.Rest, position); err == nil {
		err = s.Validate()
	}
	if err == nil && (r.Failed || r.Rest == nil) {
		err = errShort
	}
	if err != nil {
		return cluster.Story{}, fmt.Errorf("%w: story %.80q: %w", ErrDamaged, id, err)
	}
	return s, nil
}

// Story returns the story with this id, and whether there is one.
func (r *reader) Story(id string) (s cluster.Story, ok bool, err error) {
	key := keyOfStory(id)
	value, ok, err := r.from.Get(key)
	if err != nil || !ok {
		return cluster.Story{}, false, err
	}
	s, err = decodeStory(key, value)
	return s, err == nil, err
}

// Stories hands on each story, those that became part of others included, in no order that means
// anything, until ctx ends or each fails.
func (r *reader) Stories(ctx context.Context, each func(*cluster.Story) error) error {
	n := 0
	return r.EachStory(func(s *cluster.Story) error {
		if n++; n%checkEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return each(s)
	})
}

// EachStory does what Stories does, to the end.
func (r *reader) EachStory(each func(*cluster.Story) error) error {
	var stopped error
	err := r.from.Scan([]byte{storyKey}, []byte{storyKey + 1}, func(key, value []byte) (more bool) {
		var s cluster.Story
		if s, stopped = decodeStory(key, value); stopped == nil {
			stopped = each(&s)
		}
		return stopped == nil
	})
	return errors.Join(err, stopped)
}

// ClustersOf returns the clusters of a story, without those of stories that became part of it, in
// founding order, from a seq on, at most so many.
func (r *reader) ClustersOf(
	id string, from uint64, limit int,
) (found []cluster.Cluster, err error) {
	var failed error
	end := behind(memberKey, id)
	err = r.from.Scan(keyOfMember(id, from), end, func(key, _ []byte) (more bool) {
		if len(found) >= limit {
			return false
		}
		var seq uint64
		var c cluster.Cluster
		var ok bool
		if seq, failed = decodeUint64(key[len(key)-8:]); failed == nil {
			c, _, ok, failed = r.cluster(seq)
		}
		if ok && c.Story == id { // else it has expired, or belongs to another story by now
			found = append(found, c)
		}
		return failed == nil
	})
	return found, errors.Join(err, failed)
}

// MergedInto returns the ids of the stories that became part of a story, one after the other, and
// not by way of another.
func (r *reader) MergedInto(id string) (ids []string, err error) {
	prefix := below(mergedKey, id)
	var failed error
	err = r.from.Scan(prefix, behind(mergedKey, id), func(key, _ []byte) (more bool) {
		var s cluster.Story
		if s, _, failed = r.Story(string(key[len(prefix):])); s.Into == id {
			ids = append(ids, s.Address)
		}
		return failed == nil
	})
	return ids, errors.Join(err, failed)
}
