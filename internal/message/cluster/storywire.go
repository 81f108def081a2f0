package cluster

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/fields"
	"github.com/clusterd/clusterd/internal/message/signals"
	"github.com/clusterd/clusterd/internal/story"
)

// StoryPrefix begins the key of a story in the clusters topic. No cluster id begins so: a topic's
// name has no colon.
const StoryPrefix = "story:"

// IsStory reports whether a record of the clusters topic with this key is a story.
func IsStory(key []byte) bool { return strings.HasPrefix(string(key), StoryPrefix) }

// usualBytes is more than most states take: twice that of a story with the default number of terms.
const usualBytes = 1 << 10

// AppendJSON appends the value of the story's record in the clusters topic: what
// [Story.AppendBinary] writes, in an object that every reader of JSON can take. The key is the id
// behind [StoryPrefix], and the position a header.
func (s *Story) AppendJSON(dst []byte) []byte {
	var memory [usualBytes]byte
	state := article.StoryState{StoryID: s.Address, State: s.AppendBinary(memory[:0])}
	return state.AppendJSON(dst)
}

// The first byte of what [Story.AppendBinary] writes. Most stories have nothing that an earlier
// clusterd does not know, and are as that wrote them. JSON begins with a brace.
const (
	storyVersion = 1
	byHand       = 2 // it is apart, or has left another
)

// AppendBinary appends the story without its id and position, for the disk, for the state in
// [Story.AppendJSON], and for a clusters topic in the binary form. Numbers are varints of
// encoding/binary, texts have their length before them:
//
//	byte     version, 1 or 2
//	uvarints seq, clusters, articles
//	varint   first seen, Unix milliseconds; uvarint: by how much later last seen
//	texts    vector, id of the story that it is part of, state of the signals, terms
//	texts    headline: cluster id, article id, title, publisher
//	uvarint  its rank; varint: its event time; uvarint: its similarity, in millionths
//	text     id of the story that it was split from; uvarint: at which position
//	uvarint  position at which it was merged by hand
//
// and, of version 2, what it is by itself, empty where it is not apart, and what it has left:
//
//	byte     1 if it is apart, else 0
//	texts    vector, state of the signals, terms
//	         headline, as above
//	text     id of the story that it left; uvarints: at which position it was merged into that, and
//	         at which it left
func (s *Story) AppendBinary(dst []byte) []byte {
	version := byte(storyVersion)
	if s.Apart || s.LeftAt != 0 {
		version = byHand
	}
	dst = binary.AppendUvarint(append(dst, version), s.Seq)
	dst = binary.AppendUvarint(binary.AppendUvarint(dst, uint64(s.Clusters)), uint64(s.Articles))
	dst = binary.AppendVarint(dst, s.FirstSeen)
	dst = binary.AppendUvarint(dst, uint64(s.LastSeen-s.FirstSeen))
	for _, text := range []string{string(s.Vector), s.Into, string(s.Signals), s.Terms} {
		dst = fields.AppendText(dst, text)
	}
	dst = s.Headline.appendBinary(dst)
	dst = binary.AppendUvarint(fields.AppendText(dst, s.SplitFrom), s.SplitAt)
	if dst = binary.AppendUvarint(dst, s.MergedAt); version == storyVersion {
		return dst
	}
	dst = append(dst, flagIf(s.Apart, 1))
	for _, text := range []string{string(s.Own), string(s.OwnSignals), s.OwnTerms} {
		dst = fields.AppendText(dst, text)
	}
	dst = fields.AppendText(s.OwnHeadline.appendBinary(dst), s.LeftFrom)
	return binary.AppendUvarint(binary.AppendUvarint(dst, s.LeftMerged), s.LeftAt)
}

func (h *Headline) appendBinary(dst []byte) []byte {
	for _, text := range []string{h.Cluster, h.ArticleID, h.Title, h.Publisher} {
		dst = fields.AppendText(dst, text)
	}
	dst = binary.AppendVarint(binary.AppendUvarint(dst, uint64(h.Rank)), h.At)
	return binary.AppendUvarint(dst, uint64(h.Similarity))
}

func readHeadline(r *fields.Reader) Headline {
	return Headline{
		Cluster: r.Text(), ArticleID: r.Text(), Title: r.Text(), Publisher: r.Text(),
		Rank: uint32(r.Uvarint(Unranked)), At: r.Varint(),
		Similarity: article.Similarity(r.Uvarint(uint64(article.MaxSimilarity))),
	}
}

// ParseStory is the inverse of [Story.AppendJSON] and [Story.AppendBinary], for a record with this
// key and position. Of a record without a value, a tombstone, only the Address is set. The story is
// not validated.
func ParseStory(key, value []byte, position uint64) (s Story, err error) {
	s.Address, s.Position = strings.TrimPrefix(string(key), StoryPrefix), position
	if _, err := parseID(s.Address); err != nil {
		return Story{}, fmt.Errorf("not a story: %w", err)
	}
	if value == nil {
		return Story{Story: story.Story{Address: s.Address}}, nil
	}
	state := value
	var memory [usualBytes]byte
	if len(value) == 0 || value[0] >= '\t' { // JSON begins with a brace or white space
		var quick bool
		if state, quick = parseOwnStory(memory[:0], value, s.Address); !quick {
			state, err = parseStoryState(value, s.Address)
		}
		if err != nil {
			return Story{}, fmt.Errorf("not a story: %w", err)
		}
	}
	if err := s.parseBinary(state); err != nil {
		return Story{}, err
	}
	return s, nil
}

// parseStoryState returns the state of the story with this id.
func parseStoryState(value []byte, id string) ([]byte, error) {
	var state article.StoryState
	if err := json.Unmarshal(value, &state); err != nil {
		return nil, err
	}
	if state.StoryID != id {
		return nil, fmt.Errorf("story_id %.80q is not that of its key", state.StoryID)
	}
	return state.State, nil
}

// parseBinary is the inverse of [Story.AppendBinary].
func (s *Story) parseBinary(state []byte) error {
	r := fields.Reader{Rest: state}
	version := r.Byte()
	if version != storyVersion && version != byHand {
		return fmt.Errorf("not a story: version %d, and this clusterd reads %d and %d", version,
			storyVersion, byHand)
	}
	s.Seq, s.Clusters = r.Uvarint(MaxPosition), uint32(r.Uvarint(math.MaxUint32))
	s.Articles = int(r.Uvarint(MaxPosition))
	s.FirstSeen = r.Varint()
	s.LastSeen = s.FirstSeen + int64(r.Uvarint(uint64(MaxTime)))
	s.Vector, s.Into, s.Signals = story.Vector(r.Text()), r.Text(), signals.State(r.Text())
	s.Terms = r.Text()
	s.Headline = readHeadline(&r)
	s.SplitFrom, s.SplitAt = r.Text(), r.Uvarint(MaxPosition)
	s.MergedAt = r.Uvarint(MaxPosition)
	if version == byHand {
		s.Apart = r.Byte() == 1
		s.Own, s.OwnSignals, s.OwnTerms = story.Vector(r.Text()), signals.State(r.Text()), r.Text()
		s.OwnHeadline, s.LeftFrom = readHeadline(&r), r.Text()
		s.LeftMerged, s.LeftAt = r.Uvarint(MaxPosition), r.Uvarint(MaxPosition)
	}
	if r.Failed || len(r.Rest) > 0 {
		return errors.New("not a story: it ends too early or too late, or a number in it is impossible")
	}
	return nil
}

func unixTime(milliseconds int64) time.Time { return time.UnixMilli(milliseconds).UTC() }
