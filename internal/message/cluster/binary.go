package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/fields"
	"github.com/clusterd/clusterd/internal/message/label"
	"github.com/clusterd/clusterd/internal/message/signals"
	"github.com/clusterd/clusterd/internal/singlepass"
)

// The first byte of what [Cluster.AppendBinary] writes. JSON begins with a brace.
const (
	binaryVersion   = 1
	binaryExcepting = 2 // the cluster has exceptions, behind all else
)

// The fields that most clusters do not have.
const (
	hasSketch = 1 << iota
	hasContacts
	hadByContact // an earlier version wrote how many articles joined by contacts
	hasExcerpt
	hasSignals
	hasLabels
	hasSpace
	hasStory
)

// AppendBinary appends the value of the cluster's record in the clusters topic in another form,
// with all that [Cluster.AppendJSON] has but the cluster id, which is the key of the record.
// Numbers are big-endian or varints as of encoding/binary, texts have their length before them:
//
//	byte     version: 1, or 2 for a cluster that has exceptions
//	byte     flags of what it has: 1 a sketch, 2 contacts, 8 an excerpt, 16 signals, 32 labels,
//	         64 a space, 128 a story
//	8 bytes  fingerprint
//	uvarints seq, size
//	varint   first seen, Unix milliseconds; uvarint: by how much later last seen
//	texts    pipeline, id, title
//	texts    sketch; contacts, each with a line break behind it
//	text     excerpt
//	uvarints publishers, recent; text: state of the signals
//	uvarint  by how many milliseconds labels keep it; text: labels, a JSON array
//	text     space
//	text     story; uvarint: its similarity, in millionths
//	text     exceptions, a JSON array
func (c *Cluster) AppendBinary(dst []byte, identity string) []byte {
	r := &c.Representative
	flags := flagIf(c.Sketch != "", hasSketch) | flagIf(c.Contacts != "", hasContacts) |
		flagIf(r.Excerpt != "", hasExcerpt) |
		flagIf(c.Signals != "", hasSignals) | flagIf(c.Labels != "" || c.Kept != 0, hasLabels) |
		flagIf(c.Space != "", hasSpace) | flagIf(c.Story != "", hasStory)
	version := byte(binaryVersion)
	if c.Exceptions != "" {
		version = binaryExcepting
	}
	dst = binary.BigEndian.AppendUint64(append(dst, version, flags), c.Hash)
	dst = binary.AppendUvarint(binary.AppendUvarint(dst, c.Seq), uint64(c.Size))
	dst = binary.AppendVarint(dst, c.FirstSeen)
	dst = binary.AppendUvarint(dst, uint64(c.LastSeen-c.FirstSeen))
	dst = fields.AppendText(fields.AppendText(fields.AppendText(dst, identity), r.ID), r.Title)
	if flags&hasSketch != 0 {
		dst = fields.AppendText(dst, c.Sketch)
	}
	if flags&hasContacts != 0 {
		dst = fields.AppendText(dst, string(c.Contacts))
	}
	if flags&hasExcerpt != 0 {
		dst = fields.AppendText(dst, r.Excerpt)
	}
	if flags&hasSignals != 0 {
		dst = binary.AppendUvarint(dst, uint64(c.Signals.Publishers()))
		dst = binary.AppendUvarint(dst, uint64(c.Signals.Recent()))
		dst = fields.AppendText(dst, string(c.Signals))
	}
	if flags&hasLabels != 0 {
		dst = fields.AppendText(binary.AppendUvarint(dst, uint64(c.Kept)), string(c.Labels))
	}
	if flags&hasSpace != 0 {
		dst = fields.AppendText(dst, c.Space)
	}
	if flags&hasStory != 0 {
		dst = binary.AppendUvarint(fields.AppendText(dst, c.Story), uint64(c.StorySimilarity))
	}
	if c.Exceptions != "" {
		dst = fields.AppendText(dst, string(c.Exceptions))
	}
	return dst
}

func flagIf(set bool, flag byte) byte {
	if set {
		return flag
	}
	return 0
}

// parseBinary is the inverse of [Cluster.AppendBinary], but for the founder and the position.
func parseBinary(value []byte) (c Cluster, identity string, err error) {
	r := fields.Reader{Rest: value}
	version := r.Byte()
	if version != binaryVersion && version != binaryExcepting {
		return c, "", fmt.Errorf("not a cluster: version %d, and this clusterd reads %d, %d and JSON",
			version, binaryVersion, binaryExcepting)
	}
	flags := r.Byte()
	c.Hash, c.Seq, c.Size = r.Fixed64(), r.Uvarint(MaxPosition), int(r.Uvarint(math.MaxInt))
	c.FirstSeen = r.Varint()
	c.LastSeen = c.FirstSeen + int64(r.Uvarint(uint64(MaxTime)))
	identity = r.Text()
	c.Representative = article.Representative{ID: r.Text(), Title: r.Text()}
	if flags&hasSketch != 0 {
		c.Sketch = r.Text()
	}
	if flags&hasContacts != 0 {
		c.Contacts = singlepass.Contacts(r.Text())
	}
	if flags&hadByContact != 0 {
		_ = r.Uvarint(math.MaxInt)
	}
	if flags&hasExcerpt != 0 {
		c.Representative.Excerpt = r.Text()
	}
	if flags&hasSignals != 0 {
		_, _ = r.Uvarint(math.MaxInt), r.Uvarint(math.MaxInt) // they follow from the state
		c.Signals = signals.State(r.Text())
	}
	if flags&hasLabels != 0 {
		c.Kept, c.Labels = int64(r.Uvarint(uint64(MaxTime))), label.Set(r.Text())
	}
	if flags&hasSpace != 0 {
		c.Space = r.Text()
	}
	if flags&hasStory != 0 {
		c.Story = r.Text()
		c.StorySimilarity = article.Similarity(r.Uvarint(uint64(article.MaxSimilarity)))
	}
	if version == binaryExcepting {
		c.Exceptions = label.Exceptions(r.Text())
	}
	if r.Failed || len(r.Rest) > 0 {
		return Cluster{}, "", errors.New("not a cluster: it ends too early or too late, or a number in " +
			"it is impossible")
	}
	return c, identity, nil
}
