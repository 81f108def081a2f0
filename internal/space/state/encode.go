package state

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/message/fields"
	"github.com/clusterd/clusterd/internal/message/label"
	"github.com/clusterd/clusterd/internal/message/signals"
	"github.com/clusterd/clusterd/internal/singlepass"
)

// version is that of the keys and values below. A store of another version is foreign.
const version = 2

// The keys, by their first byte. Numbers are big-endian, so that keys are in their order.
const (
	metaKey    = 'm' // m → header, as JSON
	clusterKey = 'c' // c, seq → the cluster
	founderKey = 'i' // i, partition, offset → seq
	// e, time, seq → fingerprint, sketch: one a live cluster, under a time at or before it was last
	// seen
	expiryKey   = 'e'
	labelledKey = 'l' // l, seq → nothing: of the clusters that have labels
	erasedKey   = 'g' // g, seq → nothing: of the clusters whose text was erased since the last Open
	// f, value's length, value, time, seq → what e has, for the clusters of a value of a divided space
	valueExpiryKey = 'f'
)

// header is the value of the one key that says what the store is.
type header struct {
	Version  int      `json:"version"`
	Identity Identity `json:"identity"`
	Live     int      `json:"live"` // clusters
	Meta     Meta     `json:"meta"`
}

func (h header) encode() ([]byte, error) { return json.Marshal(h) }

func decodeHeader(value []byte) (header, error) {
	var h header
	// What another version wrote beside its number is none of ours.
	var v struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(value, &v); err != nil {
		return header{}, fmt.Errorf("%w: their description: %w", ErrDamaged, err)
	}
	if v.Version != version {
		return header{}, fmt.Errorf("%w: they are in format %d, and this is format %d", ErrForeign,
			v.Version, version)
	}
	if err := json.Unmarshal(value, &h); err != nil {
		return header{}, fmt.Errorf("%w: their description: %w", ErrDamaged, err)
	}
	return h, nil
}

// keyBytes is how long a key is at most, but for those of the clusters of a value.
const keyBytes = 1 + 8 + 8

func keyOfCluster(seq uint64) []byte {
	return binary.BigEndian.AppendUint64(append(make([]byte, 0, keyBytes), clusterKey), seq)
}

func keyOfLabelled(seq uint64) []byte {
	return binary.BigEndian.AppendUint64(append(make([]byte, 0, keyBytes), labelledKey), seq)
}

func keyOfFounder(a article.Address) []byte {
	key := append(make([]byte, 0, keyBytes), founderKey)
	key = binary.BigEndian.AppendUint64(key, uint64(a.Partition))
	return binary.BigEndian.AppendUint64(key, uint64(a.Offset))
}

// keyOfExpiry returns the key of an expiry entry. The sign is flipped, so that times before 1970
// come first.
func keyOfExpiry(value string, at int64, seq uint64) []byte {
	return binary.BigEndian.AppendUint64(beforeExpiry(value, at), seq)
}

// beforeExpiry returns the smallest key of an expiry entry of this value and time.
func beforeExpiry(value string, at int64) []byte {
	return binary.BigEndian.AppendUint64(expiryPrefix(value), uint64(at)^(1<<63))
}

// expiryPrefix returns what the keys of the expiry entries of a value begin with.
func expiryPrefix(value string) []byte {
	if value == "" {
		return append(make([]byte, 0, keyBytes), expiryKey)
	}
	prefix := binary.BigEndian.AppendUint16([]byte{valueExpiryKey}, uint16(len(value)))
	return append(prefix, value...)
}

// endOfExpiry returns what is behind all keys of expiry entries, of all values.
func endOfExpiry() []byte { return []byte{valueExpiryKey + 1} }

func decodeExpiryKey(key []byte) (value string, at int64, seq uint64, err error) {
	rest := key[1:]
	if key[0] == valueExpiryKey && len(rest) >= 2 {
		n := int(binary.BigEndian.Uint16(rest))
		if rest = rest[2:]; n <= len(rest) {
			value, rest = string(rest[:n]), rest[n:]
		}
	}
	if len(rest) != 16 {
		return "", 0, 0, fmt.Errorf("%w: an expiry entry's key has %d bytes", ErrDamaged, len(key))
	}
	return value, int64(binary.BigEndian.Uint64(rest) ^ (1 << 63)), binary.BigEndian.Uint64(rest[8:]),
		nil
}

// encodeCentre returns the value of an expiry entry.
func encodeCentre(c singlepass.Centre) []byte {
	b := make([]byte, 0, 8+len(c.Sketch))
	return append(binary.BigEndian.AppendUint64(b, c.Hash), c.Sketch...)
}

func decodeFingerprint(value []byte) (singlepass.Fingerprint, error) {
	if len(value) < 8 {
		return singlepass.Fingerprint{}, fmt.Errorf("%w: a centre has %d bytes", ErrDamaged, len(value))
	}
	return singlepass.Fingerprint{Hash: binary.BigEndian.Uint64(value), Sketch: string(value[8:])}, nil
}

func appendUint64(v uint64) []byte { return binary.BigEndian.AppendUint64(make([]byte, 0, 8), v) }

func decodeUint64(value []byte) (uint64, error) {
	if len(value) != 8 {
		return 0, fmt.Errorf("%w: a number has %d bytes", ErrDamaged, len(value))
	}
	return binary.BigEndian.Uint64(value), nil
}

// The fields of a cluster that most do not have: each is its tag, its length and its bytes. The tag
// noMore is behind the last one.
const (
	noMore = iota
	excerptTag
	signalsTag
	labelsTag // with how long they keep the cluster before them, in 8 bytes
	spaceTag
	storyTag // with its similarity before it, in 8 bytes
	exceptionsTag
)

// encodeCluster returns what appendCluster appends.
func encodeCluster(c cluster.Cluster, entry int64) []byte {
	r := &c.Representative
	return appendCluster(make([]byte, 0, 64+len(c.Sketch)+len(c.Contacts)+len(c.Signals)+
		len(r.Excerpt)+len(r.ID)+len(r.Title)), &c, entry)
}

// appendCluster appends the value of a cluster's key: all but its seq, which is in the key, and its
// founder's topic, which is the same for all; and the time under which its expiry entry stands. No
// size is 0: that says that contacts stand before the size, and a second 0 behind them that further
// fields do.
func appendCluster(b []byte, c *cluster.Cluster, entry int64) []byte {
	b = binary.BigEndian.AppendUint64(b, c.Hash)
	b = binary.AppendUvarint(b, uint64(len(c.Sketch)))
	b = append(b, c.Sketch...)
	b = binary.AppendUvarint(b, uint64(c.Founder.Partition))
	b = binary.AppendUvarint(b, uint64(c.Founder.Offset))
	r := &c.Representative
	further := r.Excerpt != "" || c.Signals != "" || c.Story != "" || c.StorySimilarity != 0 ||
		c.Space != "" || c.Labelled() || c.Kept != 0
	if c.Contacts != "" || further {
		b = append(b, 0, 0) // the second had how many articles joined by contacts
		b = fields.AppendText(b, string(c.Contacts))
	}
	if further {
		b = append(appendFurther(append(b, 0), c), noMore)
	}
	b = binary.AppendUvarint(b, uint64(c.Size))
	b = binary.AppendUvarint(b, c.Position)
	b = binary.AppendVarint(b, c.FirstSeen)
	b = binary.AppendVarint(b, c.LastSeen-c.FirstSeen)
	b = binary.AppendVarint(b, entry-c.FirstSeen)
	return append(fields.AppendText(b, r.ID), r.Title...)
}

// appendFurther appends the fields that c has of those that most do not have.
func appendFurther(b []byte, c *cluster.Cluster) []byte {
	if c.Representative.Excerpt != "" {
		b = fields.AppendText(append(b, excerptTag), c.Representative.Excerpt)
	}
	if c.Signals != "" {
		b = fields.AppendText(append(b, signalsTag), string(c.Signals))
	}
	if c.Space != "" {
		b = fields.AppendText(append(b, spaceTag), c.Space)
	}
	if c.Story != "" || c.StorySimilarity != 0 {
		similarity := appendUint64(uint64(c.StorySimilarity))
		b = fields.AppendText(append(b, storyTag), string(similarity)+c.Story)
	}
	if c.Labels != "" || c.Kept != 0 {
		kept := appendUint64(uint64(c.Kept))
		b = fields.AppendText(append(b, labelsTag), string(kept)+string(c.Labels))
	}
	if c.Exceptions != "" {
		b = fields.AppendText(append(b, exceptionsTag), string(c.Exceptions))
	}
	return b
}

var errShort = errors.New(
	"a cluster is cut off, or a number in it is too large, or a field is not known")

// decodeCluster is the inverse of appendCluster.
func decodeCluster(b []byte, seq uint64, topic string) (c cluster.Cluster, entry int64, err error) {
	d := fields.Reader{Rest: b}
	c.Seq, c.Hash = seq, d.Fixed64()
	c.Sketch = d.Text()
	c.Founder = article.Address{
		Topic: topic, Partition: int(d.Uvarint(math.MaxInt32)), Offset: int64(d.Uvarint(math.MaxInt64)),
	}
	if c.Size = int(d.Uvarint(math.MaxInt)); c.Size == 0 {
		_ = d.Uvarint(math.MaxInt)
		c.Contacts = singlepass.Contacts(d.Text())
		c.Size = int(d.Uvarint(math.MaxInt))
		if c.Size == 0 {
			further(&d, &c)
			c.Size = int(d.Uvarint(math.MaxInt))
		}
	}
	c.Position = d.Uvarint(math.MaxUint64)
	c.FirstSeen = d.Varint()
	c.LastSeen = c.FirstSeen + d.Varint()
	entry = c.FirstSeen + d.Varint()
	c.Representative.ID = d.Text()
	c.Representative.Title = string(d.Rest)
	if d.Failed {
		return cluster.Cluster{}, 0, fmt.Errorf("%w: cluster %d: %w", ErrDamaged, seq, errShort)
	}
	if err := c.Validate(); err != nil {
		return cluster.Cluster{}, 0, fmt.Errorf("%w: cluster %d: %w", ErrDamaged, seq, err)
	}
	return c, entry, nil
}

// further takes the fields that most clusters do not have.
func further(d *fields.Reader, c *cluster.Cluster) {
	for !d.Failed {
		switch d.Uvarint(math.MaxInt) {
		case noMore:
			return
		case excerptTag:
			c.Representative.Excerpt = d.Text()
		case signalsTag:
			c.Signals = signals.State(d.Text())
		case spaceTag:
			c.Space = d.Text()
		case storyTag:
			field := fields.Reader{Rest: []byte(d.Text())}
			c.StorySimilarity, c.Story = article.Similarity(field.Fixed64()), string(field.Rest)
			if field.Failed {
				d.Fail()
			}
		case labelsTag:
			field := fields.Reader{Rest: []byte(d.Text())}
			c.Kept, c.Labels = int64(field.Fixed64()), label.Set(field.Rest)
			if field.Failed {
				d.Fail()
			}
		case exceptionsTag:
			c.Exceptions = label.Exceptions(d.Text())
		default:
			d.Fail()
		}
	}
}
