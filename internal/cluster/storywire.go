package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/fields"
	"github.com/clusterd/clusterd/internal/signals"
	"github.com/clusterd/clusterd/internal/story"
)

// StoryPrefix begins the key of a story in the clusters topic. No cluster id begins so: a topic's
// name has no colon.
const StoryPrefix = "story:"

// IsStory reports whether a record of the clusters topic with this key is a story.
func IsStory(key []byte) bool { return strings.HasPrefix(string(key), StoryPrefix) }

// storyVersion is the first byte of what [Story.AppendBinary] writes.
const storyVersion = 1

// AppendBinary appends the value of the story's record in the clusters topic. The id is in the key,
// behind [StoryPrefix], and the position a header. Numbers are varints as of encoding/binary, texts
// have their length before them:
//
//	byte     version, 1
//	uvarints seq, clusters, articles
//	varint   first seen, Unix milliseconds; uvarint: by how much later last seen
//	texts    vector, id of the story that it is part of, state of the signals, terms
//	texts    headline: cluster id, article id, title, publisher
//	uvarint  its rank; varint: its event time; uvarint: its similarity, in millionths
//	text     id of the story that it was split from; uvarint: at which position
//	uvarint  position at which it was merged by hand
func (s *Story) AppendBinary(dst []byte) []byte {
	dst = binary.AppendUvarint(append(dst, storyVersion), s.Seq)
	dst = binary.AppendUvarint(binary.AppendUvarint(dst, uint64(s.Clusters)), uint64(s.Articles))
	dst = binary.AppendVarint(dst, s.FirstSeen)
	dst = binary.AppendUvarint(dst, uint64(s.LastSeen-s.FirstSeen))
	h := &s.Headline
	for _, text := range []string{
		string(s.Vector), s.Into, string(s.Signals), s.Terms,
		h.Cluster, h.ArticleID, h.Title, h.Publisher,
	} {
		dst = fields.AppendText(dst, text)
	}
	dst = binary.AppendVarint(binary.AppendUvarint(dst, uint64(h.Rank)), h.At)
	dst = binary.AppendUvarint(dst, uint64(h.Similarity))
	dst = binary.AppendUvarint(fields.AppendText(dst, s.SplitFrom), s.SplitAt)
	return binary.AppendUvarint(dst, s.MergedAt)
}

// ParseStory is the inverse of [Story.AppendBinary], for a record with this key and position. Of a
// record without a value, a tombstone, only the Address is set. The story is not validated.
func ParseStory(key, value []byte, position uint64) (s Story, err error) {
	s.Address, s.Position = strings.TrimPrefix(string(key), StoryPrefix), position
	if _, err := parseID(s.Address); err != nil {
		return Story{}, fmt.Errorf("not a story: %w", err)
	}
	if value == nil {
		return Story{Story: story.Story{Address: s.Address}}, nil
	}
	r := fields.Reader{Rest: value}
	if version := r.Byte(); version != storyVersion {
		return Story{}, fmt.Errorf("not a story: version %d, and this clusterd reads %d", version,
			storyVersion)
	}
	s.Seq, s.Clusters = r.Uvarint(MaxPosition), uint32(r.Uvarint(math.MaxUint32))
	s.Articles = int(r.Uvarint(MaxPosition))
	s.FirstSeen = r.Varint()
	s.LastSeen = s.FirstSeen + int64(r.Uvarint(uint64(MaxTime)))
	s.Vector, s.Into, s.Signals = story.Vector(r.Text()), r.Text(), signals.State(r.Text())
	s.Terms = r.Text()
	s.Headline = Headline{Cluster: r.Text(), ArticleID: r.Text(), Title: r.Text(), Publisher: r.Text()}
	s.Headline.Rank, s.Headline.At = uint32(r.Uvarint(Unranked)), r.Varint()
	s.Headline.Similarity = article.Similarity(r.Uvarint(uint64(article.MaxSimilarity)))
	s.SplitFrom, s.SplitAt = r.Text(), r.Uvarint(MaxPosition)
	s.MergedAt = r.Uvarint(MaxPosition)
	if r.Failed || len(r.Rest) > 0 {
		return Story{}, errors.New("not a story: it ends too early or too late, or a number in it is " +
			"impossible")
	}
	return s, nil
}

func unixTime(milliseconds int64) time.Time { return time.UnixMilli(milliseconds).UTC() }
