// target.go keeps files in a directory or in an S3-compatible bucket. Local files go in under
// a name; they come out as they were. A file is there as a whole or not at all.

package snapshot

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// A Target keeps files. Their names are relative, with slashes. Its methods are safe for concurrent
// use.
type Target interface {
	// String returns where it is, as [OpenTarget] takes it.
	String() string
	// Put keeps a copy of the local file at path, in place of what has that name. Where it fails,
	// there is no new file.
	Put(ctx context.Context, name, path string) error
	// Get returns what a file holds; fs.ErrNotExist where there is none. Close it.
	Get(ctx context.Context, name string) (io.ReadCloser, error)
	// Folders returns the first parts of the names that have several, in order.
	Folders(ctx context.Context) ([]string, error)
	// Remove removes all files in a folder, the one with the name first before any other.
	Remove(ctx context.Context, folder, first string) error
}

// scheme begins the name of a bucket.
const scheme = "s3://"

// OpenTarget returns the target of this name: s3://BUCKET, s3://BUCKET/PREFIX, or the path of a
// directory, which is made when it is first written to.
func OpenTarget(name string, options S3) (Target, error) {
	if rest, ok := strings.CutPrefix(name, scheme); ok {
		bucket, prefix, _ := strings.Cut(rest, "/")
		return openS3(bucket, strings.Trim(prefix, "/"), options)
	}
	if before, _, ok := strings.Cut(name, "://"); ok {
		return nil, fmt.Errorf("%s: there are directories, and buckets as %sBUCKET/PREFIX; %s is "+
			"neither", name, scheme, before)
	}
	if name == "" {
		return nil, fmt.Errorf("an empty name: give a directory, or %sBUCKET/PREFIX", scheme)
	}
	return folder(name), nil
}
