package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// The first byte of a cluster that is not JSON.
const (
	binaryVersion   = 1
	binaryExcepting = 2 // it has exceptions, behind all else
)

// The fields of such a cluster that may be missing.
const (
	sketchFlag = 1 << iota
	contactsFlag
	byContactFlag
	excerptFlag
	signalsFlag
	labelsFlag
	spaceFlag
	storyFlag
)

// parseBinary reads a cluster of output.clusters_format: binary, as the clusters topic's page has
// it. It takes nothing from the packages that write it.
func parseBinary(value []byte) (c Cluster, err error) {
	r := binaryReader{in: bytes.NewReader(value)}
	version := r.fixed(1)
	flags := r.fixed(1)
	c.Fingerprint = r.fixed(8)
	c.Seq, c.Size = r.number(), r.number()
	c.FirstSeen = r.signed()
	c.LastSeen = c.FirstSeen + r.number()
	c.Pipeline, c.Representative.ID, c.Representative.Title = r.text(), r.text(), r.text()
	if flags&sketchFlag != 0 {
		c.Sketch = []byte(r.text())
	}
	if flags&contactsFlag != 0 {
		c.Contacts = strings.Split(strings.TrimSuffix(r.text(), "\n"), "\n")
	}
	if flags&byContactFlag != 0 {
		c.ByContact = r.number()
	}
	if flags&excerptFlag != 0 {
		c.Representative.Excerpt = r.text()
	}
	if flags&signalsFlag != 0 {
		c.Signals = &Signals{Publishers: Publishers(r.number()), Recent: r.number()}
		r.text() // what clusterd goes on counting from
	}
	if flags&labelsFlag != 0 {
		c.KeptMS = r.number()
		if labels := r.text(); labels != "" && r.err == nil {
			r.err = json.Unmarshal([]byte(labels), &c.Labels)
		}
	}
	if flags&spaceFlag != 0 {
		c.Space = r.text()
	}
	if flags&storyFlag != 0 {
		c.Story, c.StorySimilarity = r.text(), Similarity(float64(r.number())/millionth)
	}
	if version == binaryExcepting {
		if exceptions := r.text(); r.err == nil {
			r.err = json.Unmarshal([]byte(exceptions), &c.Exceptions)
		}
	}
	switch {
	case r.err != nil:
		return Cluster{}, r.err
	case r.in.Len() > 0:
		return Cluster{}, errors.New("there are bytes behind its end")
	}
	return c, nil
}

// binaryReader reads values one after the other, until one is not there: from then on all are zero.
type binaryReader struct {
	in  *bytes.Reader
	err error
}

func (r *binaryReader) note(err error) bool {
	if r.err == nil && errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if r.err == nil {
		r.err = err
	}
	return r.err == nil
}

// fixed reads a big-endian number of so many bytes.
func (r *binaryReader) fixed(size int) (n uint64) {
	for range size {
		b, err := r.in.ReadByte()
		if !r.note(err) {
			return 0
		}
		n = n<<8 | uint64(b)
	}
	return n
}

func (r *binaryReader) number() int64 {
	n, err := binary.ReadUvarint(r.in)
	if err == nil && int64(n) < 0 {
		err = errors.New("a number in it is too large")
	}
	if !r.note(err) {
		return 0
	}
	return int64(n)
}

func (r *binaryReader) signed() int64 {
	n, err := binary.ReadVarint(r.in)
	if !r.note(err) {
		return 0
	}
	return n
}

func (r *binaryReader) text() string {
	n := r.number()
	if n > int64(r.in.Len()) {
		r.note(io.ErrUnexpectedEOF)
		return ""
	}
	b := make([]byte, n)
	_, err := io.ReadFull(r.in, b)
	if !r.note(err) {
		return ""
	}
	return string(b)
}
