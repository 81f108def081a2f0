// ignore.go knows which contacts count for nothing, since honest texts share them: a built-in
// list of platforms and names, and those of files.

package contact

import (
	"bufio"
	"bytes"
	"embed"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"
)

// builtIn are platforms, as sites of which only pages are contacts, and names that honest texts
// share.
//
//go:embed platforms.txt names.txt
var builtIn embed.FS

// Ignored has contacts that count for nothing.
type Ignored struct {
	whole   map[string]bool
	starts  map[string]bool // of those that end in *, without it
	lengths []int           // of these
}

// LoadIgnored returns the contacts that are built in and those that files list, as package contact
// says. An error names the path and the line.
func LoadIgnored(files []string) (*Ignored, error) {
	i := &Ignored{whole: make(map[string]bool), starts: make(map[string]bool)}
	for _, name := range []string{"platforms.txt", "names.txt"} {
		f, err := builtIn.Open(name)
		if err == nil {
			err = i.read(f)
		}
		if err != nil {
			return nil, fmt.Errorf("%s, which is built in: %w", name, err)
		}
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		if err = errors.Join(i.read(f), f.Close()); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	for start := range i.starts {
		if !slices.Contains(i.lengths, len(start)) {
			i.lengths = append(i.lengths, len(start))
		}
	}
	return i, nil
}

func (i *Ignored) read(r io.Reader) error {
	lines := bufio.NewScanner(r)
	number := 1
	for ; lines.Scan(); number++ {
		line := strings.ToLower(strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\uFEFF")))
		if line == "" || line[0] == '#' {
			continue
		}
		kind, value, _ := strings.Cut(line, ":")
		if !pageKinds[kind] || value == "" || !isPrintable(value) || !utf8.Valid(lines.Bytes()) {
			return fmt.Errorf("line %d: %q is no contact: want KIND:VALUE, and a KIND of site, url, mail, "+
				"number, name or code", number, line)
		}
		if start, ok := strings.CutSuffix(line, "*"); ok {
			i.starts[start] = true
		} else {
			i.whole[line] = true
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("line %d has more than 64 KiB", number)
	}
	return lines.Err()
}

// Has reports whether a contact is ignored.
func (i *Ignored) Has(contact []byte) bool {
	if i.whole[string(contact)] {
		return true
	}
	var buffer [MaxBytes + 1]byte
	if digits := append(append(buffer[:0], bytes.TrimRight(contact, "0123456789")...), '#'); i.
		whole[string(digits)] {
		return true
	}
	for _, n := range i.lengths {
		if n <= len(contact) && i.starts[string(contact[:n])] {
			return true
		}
	}
	return false
}

// Checksum is the same for the same contacts, in whatever order and files.
func (i *Ignored) Checksum() string {
	var sum uint64
	for _, set := range []map[string]bool{i.whole, i.starts} {
		for contact := range set {
			h := fnv.New64a()
			h.Write([]byte(contact)) // never fails
			sum += h.Sum64()
		}
		sum *= 31
	}
	return fmt.Sprintf("%08x", uint32(sum>>32)^uint32(sum))
}
