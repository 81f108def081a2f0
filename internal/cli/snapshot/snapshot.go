// Package snapshot copies the clusters on disk to a directory or a bucket, and back. The stores of
// an instance's spaces go in, and a folder of the target comes out, with a manifest that says of
// what the copy is, as of which offsets of the clusters topic, and what each file holds. The
// manifest is written last: a snapshot is whole, or it is not there.
package snapshot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"time"

	"github.com/clusterd/clusterd/internal/space/state"
)

const (
	// format is that of the manifest, and of where files are.
	format       = 1
	manifestName = "manifest.json"
	maxManifest  = 256 << 20 // bytes
	// nameLayout makes names that are in the order of time.
	nameLayout = "20060102T150405.000Z"
)

// A Manifest is what a snapshot says of itself.
type Manifest struct {
	Format int       `json:"format"`
	Name   string    `json:"name"`
	Made   time.Time `json:"made"`
	By     string    `json:"by"` // the version of clusterd
	Spaces []Space   `json:"spaces"`
}

// A Space is the copy of one space.
type Space struct {
	state.Copy
	Files []File `json:"files"`
}

// A File is one of a store.
type File struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`   // bytes
	SHA256 string `json:"sha256"` // in hexadecimal
}

// Bytes returns how large the snapshot is, without its manifest.
func (m *Manifest) Bytes() (sum int64) {
	for _, s := range m.Spaces {
		for _, f := range s.Files {
			sum += f.Size
		}
	}
	return sum
}

// Clusters returns how many there are in all spaces.
func (m *Manifest) Clusters() (sum int) {
	for _, s := range m.Spaces {
		sum += s.Copy.Clusters
	}
	return sum
}

// folderOf returns where the files of a space are, in the snapshot.
func folderOf(space string) string { return "space-" + space }

// sealed is a manifest as it is written: what it says, and the checksum of that.
type sealed struct {
	SHA256   string          `json:"sha256"`
	Snapshot json.RawMessage `json:"snapshot"`
}

func (m *Manifest) seal() ([]byte, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	return json.Marshal(sealed{sum(text), text})
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

// ErrDamaged is the error of a snapshot that does not hold what it held.
var ErrDamaged = errors.New("the snapshot is damaged")

// parse reads what seal wrote. Of what the snapshot names, nothing leads out of its folder.
func parse(name string, data []byte) (*Manifest, error) {
	var s sealed
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("%w: its manifest: %w", ErrDamaged, err)
	}
	if s.SHA256 != sum(s.Snapshot) {
		return nil, fmt.Errorf("%w: its manifest has another checksum than it says", ErrDamaged)
	}
	var v struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(s.Snapshot, &v); err != nil {
		return nil, fmt.Errorf("%w: its manifest: %w", ErrDamaged, err)
	}
	if v.Format != format {
		return nil, fmt.Errorf("it is in format %d, and this clusterd reads %d", v.Format, format)
	}
	m := new(Manifest)
	if err := json.Unmarshal(s.Snapshot, m); err != nil {
		return nil, fmt.Errorf("%w: its manifest: %w", ErrDamaged, err)
	}
	return m, m.check(name)
}

var (
	// plain is what a store and clusterd call files and spaces.
	plain = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)
	named = regexp.MustCompile(`^[0-9]{8}T[0-9]{6}\.[0-9]{3}Z$`)
)

func (m *Manifest) check(name string) error {
	if m.Name != name {
		return fmt.Errorf("%w: it is called %s, and its manifest says %.80q", ErrDamaged, name, m.Name)
	}
	if len(m.Spaces) == 0 {
		return fmt.Errorf("%w: it has no space", ErrDamaged)
	}
	spaces := make(map[string]bool)
	for _, s := range m.Spaces {
		id := s.Identity.Space
		if !plain.MatchString(id) || spaces[id] || len(s.Files) == 0 {
			return fmt.Errorf("%w: space %.80q", ErrDamaged, id)
		}
		spaces[id] = true
		files := make(map[string]bool)
		for _, f := range s.Files {
			if !plain.MatchString(f.Name) || files[f.Name] || f.Size < 0 {
				return fmt.Errorf("%w: file %.80q of space %s", ErrDamaged, f.Name, id)
			}
			files[f.Name] = true
		}
	}
	return nil
}

// Names returns the names of what is in a target, the oldest first: snapshots, and what is left of
// those that were not finished.
func Names(ctx context.Context, from Target) ([]string, error) {
	folders, err := from.Folders(ctx)
	if err != nil {
		return nil, err
	}
	names := slices.DeleteFunc(folders, func(name string) bool { return !named.MatchString(name) })
	slices.Sort(names)
	return names, nil
}

// Read returns the manifest of a snapshot; fs.ErrNotExist where it has none, so that it is not
// whole.
func Read(ctx context.Context, from Target, name string) (*Manifest, error) {
	if !named.MatchString(name) {
		return nil, fmt.Errorf("%.80q is no name of a snapshot: clusterd state list has the names", name)
	}
	data, err := readAll(ctx, from, name+"/"+manifestName)
	if err != nil {
		return nil, fmt.Errorf("snapshot %s: %w", name, err)
	}
	m, err := parse(name, data)
	if err != nil {
		return nil, fmt.Errorf("snapshot %s of %s: %w", name, from, err)
	}
	return m, nil
}

func readAll(ctx context.Context, from Target, name string) ([]byte, error) {
	r, err := from.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, maxManifest+1))
	if err == nil && len(data) > maxManifest {
		err = fmt.Errorf("%w: %s has more than %d bytes", ErrDamaged, name, maxManifest)
	}
	return data, err
}

// Latest returns the manifest of the last snapshot that is whole. The error is fs.ErrNotExist where
// there is none.
func Latest(ctx context.Context, from Target) (*Manifest, error) {
	names, err := Names(ctx, from)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Backward(names) {
		m, err := Read(ctx, from, name)
		if !errors.Is(err, fs.ErrNotExist) {
			return m, err
		}
	}
	return nil, fmt.Errorf("%s: %w: it has no snapshot that is whole", from, fs.ErrNotExist)
}
