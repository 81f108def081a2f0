package members

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/zeebo/xxh3"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/fields"
)

// version is that of the keys and values below. A view of another version is foreign.
const version = 3

// The keys, by their first byte. Numbers are big-endian, so that keys are in their order.
const (
	metaKey = 'm' // m → meta, as JSON
	// c, founder's partition, its offset, position → a member. The founder itself has 0 for its
	// position: it comes first, and can be found where its position is not known.
	memberKey = 'c'
	// a, hash of the id, when it was written, what the key of its member has after the c → nothing;
	// or, of an article that was not clustered, its partition and offset → the member. The newest
	// comes first.
	articleKey = 'a'
)

const (
	prefixBytes  = 1 + 4 + 8             // of the keys of a cluster's members
	memberBytes  = prefixBytes + 8       // of a member's key
	articleBytes = 1 + 8 + 8             // of an article's key, before what it is of
	clusteredKey = articleBytes + 4 + 16 // the length of the key of an article that was clustered
)

// keysOfCluster returns what all keys of a cluster's members begin with.
func keysOfCluster(founder article.Address) []byte {
	key := binary.BigEndian.AppendUint32(make([]byte, 0, memberBytes+1), 0)
	key[0] = memberKey
	key = binary.BigEndian.AppendUint32(key[:1], uint32(founder.Partition))
	return binary.BigEndian.AppendUint64(key, uint64(founder.Offset))
}

// keyOfMember returns the key of the member of a cluster with this position.
func keyOfMember(cluster []byte, position uint64) []byte {
	return binary.BigEndian.AppendUint64(append(make([]byte, 0, memberBytes), cluster...), position)
}

// endOfCluster returns what is behind all keys of a cluster's members.
func endOfCluster(cluster []byte) []byte { return append(keyOfMember(cluster, math.MaxUint64), 0) }

// keysOfArticle returns what all keys of the articles with this id begin with.
func keysOfArticle(id string, seed uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{articleKey}, xxh3.HashStringSeed(id, seed))
}

// keyOfArticle returns the key under which the article of a member is found. Member is the key of
// the member, nil where it was not clustered.
func keyOfArticle(m *Member, member []byte, seed uint64) []byte {
	key := binary.BigEndian.AppendUint64(keysOfArticle(m.ArticleID, seed), ^uint64(m.Written))
	if member != nil {
		return append(key, member[1:]...)
	}
	key = binary.BigEndian.AppendUint32(key, uint32(m.Source.Partition))
	return binary.BigEndian.AppendUint64(key, uint64(m.Source.Offset))
}

// The bits of the first byte of a member: whether there is a distance, and at which place of these
// lists its status and match are.
const (
	distanceBit = 1 << 0
	statusShift = 1
	matchShift  = 3
	printBit    = 1 << 5 // whether there is a fingerprint
)

func statuses() []article.Status {
	return []article.Status{article.New, article.Joined, article.Unclustered}
}

func matches() []article.Match {
	return []article.Match{"", article.ByText, article.Contained, article.ByContact}
}

// encode appends the value of a member: all but its cluster and the topics, which are the same for
// all. The event time comes first, since a timeline reads nothing else.
func (m *Member) encode(dst []byte) []byte {
	dst = binary.AppendVarint(dst, m.EventTime)
	flags := byte(0)
	for i, s := range statuses() {
		if s == m.Status {
			flags |= byte(i) << statusShift
		}
	}
	for i, match := range matches() {
		if match == m.Matched {
			flags |= byte(i) << matchShift
		}
	}
	if m.Distance != nil {
		flags |= distanceBit
	}
	if m.Fingerprint != nil {
		flags |= printBit
	}
	dst = append(dst, flags)
	if m.Distance != nil {
		dst = binary.BigEndian.AppendUint64(dst, math.Float64bits(*m.Distance))
	}
	if m.Fingerprint != nil {
		dst = binary.BigEndian.AppendUint64(dst, uint64(*m.Fingerprint))
	}
	dst = binary.AppendUvarint(dst, m.Position)
	dst = binary.AppendUvarint(dst, uint64(m.Size))
	dst = binary.AppendVarint(dst, m.Written-m.EventTime)
	for _, a := range []article.Address{m.Source, m.Result} {
		dst = binary.AppendUvarint(dst, uint64(a.Partition))
		dst = binary.AppendUvarint(dst, uint64(a.Offset))
	}
	dst = appendList(dst, m.Labels)
	dst = appendList(dst, m.TrialLabels)
	return append(fields.AppendText(dst, m.Publisher), m.ArticleID...)
}

func appendList(dst []byte, all []string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(all)))
	for _, s := range all {
		dst = fields.AppendText(dst, s)
	}
	return dst
}

// decode is the inverse of encode. Topics are those of the view.
func (v *View) decode(value []byte, founder []byte) (m Member, err error) {
	d := fields.Reader{Rest: value}
	m.EventTime = d.Varint()
	flags := d.Byte()
	if i := int(flags >> statusShift & 3); i < len(statuses()) {
		m.Status = statuses()[i]
	}
	m.Matched = matches()[flags>>matchShift&3]
	if flags&distanceBit != 0 {
		distance := math.Float64frombits(d.Fixed64())
		m.Distance = &distance
	}
	if flags&printBit != 0 {
		m.Fingerprint = new(article.Fingerprint(d.Fixed64()))
	}
	m.Position, m.Size = d.Uvarint(math.MaxInt64), int(d.Uvarint(math.MaxInt64))
	m.Written = m.EventTime + d.Varint()
	m.Source, m.Result = place(&d, v.Input), place(&d, v.Topic)
	m.Labels, m.TrialLabels = list(&d), list(&d)
	m.Publisher = d.Text()
	m.ArticleID = string(d.Rest)
	if d.Failed || m.Status == "" {
		return Member{}, fmt.Errorf("%w: a member is cut off", errDamaged)
	}
	if founder != nil {
		m.ClusterID = article.Address{
			Topic: v.Input, Partition: int(binary.BigEndian.Uint32(founder[1:])),
			Offset: int64(binary.BigEndian.Uint64(founder[5:])),
		}.String()
	}
	return m, nil
}

func place(d *fields.Reader, topic string) article.Address {
	partition, offset := d.Uvarint(math.MaxInt32), d.Uvarint(math.MaxInt64)
	return article.Address{Topic: topic, Partition: int(partition), Offset: int64(offset)}
}

func list(d *fields.Reader) (all []string) {
	for n := d.Uvarint(math.MaxInt64); n > 0 && !d.Failed; n-- {
		all = append(all, d.Text())
	}
	return all
}
