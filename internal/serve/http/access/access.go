// Package access says who asks over HTTP, and what they may do. A request goes in; it comes out
// with its [Caller], or is refused here: that of a page of others, of somebody who asks too often,
// of somebody who has no right.
package access

import (
	"context"
	"errors"
	"strings"
)

// Rights are what somebody may do.
type Rights uint8

// The rights.
const (
	Read  Rights = 1 << iota // ask
	Label                    // label clusters
	Write                    // send articles
)

// All is every right.
const All = Read | Label | Write

// Has reports whether all of some rights are among these.
func (r Rights) Has(some Rights) bool { return r&some == some }

// names returns the names of the rights in the order in which a file of tokens may have them.
func names() []string { return []string{"read", "label", "write"} }

// Names returns the names of the rights: read, label, write.
func (r Rights) Names() []string {
	list := []string{}
	for i, name := range names() {
		if r.Has(1 << i) {
			list = append(list, name)
		}
	}
	return list
}

// String returns the names with commas between them.
func (r Rights) String() string { return strings.Join(r.Names(), ",") }

var errRights = errors.New("the second word must name rights, of read, label and write, " +
	"with commas between them and no blanks")

// parseRights reads names with commas between them. Its error does not repeat them: they may be a
// token in the wrong place.
func parseRights(text string) (all Rights, err error) {
	for word := range strings.SplitSeq(text, ",") {
		found := false
		for i, name := range names() {
			if word == name {
				all |= 1 << i
				found = true
			}
		}
		if !found {
			return 0, errRights
		}
	}
	return all, nil
}

// Caller is somebody who asks. Its zero value is nobody, who may do nothing.
type Caller struct {
	Name   string // of a token, a proxy's user, or one of those below; at most 64 bytes
	Rights Rights
}

// The names of callers that no file of tokens names.
const (
	Local = "local"      // whoever is on this machine, where nothing else says who asks
	Owner = "http.token" // who bears the token of that key
)

// maxName is how long the name of a caller may be, in bytes: it goes into labels.
const maxName = 64

// asked is who asks, and what its limits go by: its name, or its address.
type asked struct {
	Caller
	key string
}

type askedKey struct{}

// With returns a context in which a caller asks.
func With(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, askedKey{}, asked{Caller: c})
}

// From returns who asks in a context.
func From(ctx context.Context) Caller {
	a, _ := ctx.Value(askedKey{}).(asked)
	return a.Caller
}
