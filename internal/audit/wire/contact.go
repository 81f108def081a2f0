package wire

import (
	"encoding/json"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Vote is a whole vote in the unit of [Mark].
const Vote = 720720

// contactPrefix begins the keys of contacts in the clusters topic. No cluster id begins so.
const contactPrefix = "contact:"

// A Contact is the record of a contact in the clusters topic: what labels have marked it.
type Contact struct {
	Contact string `json:"contact"`
	Value   string `json:"space"` // of a divided space, else empty
	Marks   []Mark `json:"marks"` // none: the record is a tombstone

	Space    string `json:"-"` // as in the key: "all", or the number of an input partition
	Position int64  `json:"-"` // at which it changed last; -1 of a tombstone
}

// A Mark is a label on a contact.
type Mark struct {
	Label    string `json:"label"`
	Trial    bool   `json:"trial"`
	Votes    int64  `json:"votes"` // in parts of [Vote]
	Clicks   int64  `json:"clicks"`
	Hams     int64  `json:"hams"`
	Excepted int64  `json:"excepted"`
	Reach    int64  `json:"reach"`
	Used     int64  `json:"used"`
	Last     int64  `json:"last"` // seq of the cluster that was clicked or labelled last
	Clicked  []struct {
		Record string `json:"record"`
	} `json:"clicked"`
}

// IsContact reports whether a record of the clusters topic is a contact, or the tombstone of one.
func IsContact(r *kgo.Record) bool { return strings.HasPrefix(string(r.Key), contactPrefix) }

// ParseContact reads the record of a contact.
func ParseContact(r *kgo.Record) (c Contact, err error) {
	c.Position = -1
	if r.Value != nil {
		if err := json.Unmarshal(r.Value, &c); err != nil {
			return c, err
		}
		if c.Position, err = NumberHeader(r, HeaderPosition); err != nil {
			return c, err
		}
		if len(c.Marks) == 0 {
			return c, fmt.Errorf("contact %.80q without a mark", c.Contact)
		}
	}
	space, name, _ := strings.Cut(strings.TrimPrefix(string(r.Key), contactPrefix), "/")
	value := ""
	if at := strings.LastIndexByte(name, '\n'); at >= 0 {
		value, name = name[:at], name[at+1:]
	}
	if name == "" || r.Value != nil && (c.Contact != name || c.Value != value) {
		return c, fmt.Errorf("contact %.80q of value %.80q under the key %.200q", c.Contact, c.Value,
			r.Key)
	}
	c.Space, c.Contact, c.Value = space, name, value
	return c, nil
}

// Partition returns the input partition that is the space, 0 for that of all.
func (c *Contact) Partition() int32 {
	n, _ := strconv.ParseInt(c.Space, 10, 32) // "all" is 0
	return int32(n)
}

// erasedPrefix begins the names of contacts that were erased.
const erasedPrefix = "erased:"

// Erased returns the name of a contact that was erased by a label record with this address.
func Erased(record Address) string {
	return fmt.Sprintf("%s%d/%d", erasedPrefix, record.Partition, record.Offset)
}

// ErasedBy returns the address of the label record that has erased a contact with this name. It is
// not ok where that is the name of a contact.
func ErasedBy(contact string) (record Address, ok bool) {
	_, err := fmt.Sscanf(contact, erasedPrefix+"%d/%d", &record.Partition, &record.Offset)
	return record, err == nil && Erased(record) == contact
}

// ContactDigest returns a digest of a contact, that says of which kind it is: see [IsStrong].
func ContactDigest(seed maphash.Seed, contact string) uint64 {
	digest := maphash.String(seed, contact) &^ 1
	kind, _, _ := strings.Cut(contact, ":")
	if slices.Contains([]string{"number", "name", "code"}, kind) {
		digest |= 1
	}
	return digest
}

// IsStrong reports whether a contact, by its digest, is a number, a name or a code: one person has
// it, so that it labels from any vote on.
func IsStrong(digest uint64) bool { return digest&1 == 1 }

// WithoutContacts returns what a message says of how fingerprints are made, without what versions
// said of contacts in it by which articles joined clusters then.
func WithoutContacts(pipeline string) string {
	parts := strings.Split(pipeline, ",")
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool {
		return strings.HasPrefix(part, "contacts=") || strings.HasPrefix(part, "contacts.limit=")
	}), ",")
}

// JoinedByContacts reports whether a version wrote this in which articles joined clusters by
// contacts.
func JoinedByContacts(pipeline string) bool { return WithoutContacts(pipeline) != pipeline }

// SamePipeline reports whether a message says the same of how fingerprints are made as is wanted,
// whatever an earlier version said of contacts.
func SamePipeline(got, want string) bool {
	return got == want || WithoutContacts(got) == WithoutContacts(want)
}
