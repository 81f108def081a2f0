package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/clusterd/clusterd/internal/secret/redacted"
)

// S3 says where buckets are, and who asks for them.
type S3 struct {
	Endpoint string // URL, without a path
	Region   string // empty: AWS_REGION of the environment, or what the server says
	// AccessKey and SecretKey are the credentials. Where they are empty, the environment has them, as
	// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN.
	AccessKey string
	SecretKey redacted.Text
}

// bucket is a part of a bucket: what begins with a prefix.
type bucket struct {
	client *minio.Client
	name   string
	prefix string // without a slash at its ends, or empty
	server string // for errors
}

func openS3(name, prefix string, o S3) (Target, error) {
	at, err := url.Parse(o.Endpoint)
	if err != nil || at.Host == "" || strings.Trim(at.Path, "/") != "" {
		return nil, fmt.Errorf("s3.endpoint %q is no URL of a server, such as https://s3.example.com",
			o.Endpoint)
	}
	if prefix != "" && !fs.ValidPath(prefix) {
		return nil, fmt.Errorf("%s%s/%s: the prefix has empty parts, or dots for some", scheme, name,
			prefix)
	}
	login := credentials.NewStaticV4(o.AccessKey, o.SecretKey.Reveal(), "")
	if o.AccessKey == "" {
		login = credentials.NewEnvAWS()
		if v, err := login.GetWithContext(nil); err != nil || v.SignerType.IsAnonymous() {
			return nil, errors.New("there are no credentials for the bucket: set s3.access_key and " +
				"s3.secret_key, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of the environment")
		}
	}
	if o.Region == "" {
		o.Region = os.Getenv("AWS_REGION")
	}
	client, err := minio.New(at.Host, &minio.Options{
		Creds: login, Secure: at.Scheme == "https", Region: o.Region,
	})
	if err != nil {
		return nil, fmt.Errorf("%s%s: %w", scheme, name, err)
	}
	return &bucket{client, name, prefix, o.Endpoint}, nil
}

func (b *bucket) String() string { return scheme + path.Join(b.name, b.prefix) }

func (b *bucket) key(name string) string { return path.Join(b.prefix, name) }

// Put sends a large file in parts. Only when all are there is there a file of that name.
func (b *bucket) Put(ctx context.Context, name, from string) error {
	_, err := b.client.FPutObject(ctx, b.name, b.key(name), from, minio.PutObjectOptions{
		ContentType: "application/octet-stream",
	})
	return b.explain("writing", name, err)
}

func (b *bucket) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	object, err := b.client.GetObject(ctx, b.name, b.key(name), minio.GetObjectOptions{})
	if err == nil {
		_, err = object.Stat() // the first request
	}
	if err != nil {
		return nil, b.explain("reading", name, err)
	}
	return object, nil
}

func (b *bucket) Folders(ctx context.Context) (names []string, err error) {
	for object := range b.client.ListObjectsIter(ctx, b.name, minio.ListObjectsOptions{
		Prefix: b.below(""),
	}) {
		if object.Err != nil {
			return nil, b.explain("listing", "", object.Err)
		}
		name := strings.TrimPrefix(object.Key, b.below(""))
		if folder, ok := strings.CutSuffix(name, "/"); ok && folder != "" {
			names = append(names, folder)
		}
	}
	return names, nil
}

// below returns what the keys of a folder begin with.
func (b *bucket) below(folder string) string {
	if key := b.key(folder); key != "" {
		return key + "/"
	}
	return ""
}

func (b *bucket) Remove(ctx context.Context, folder, first string) error {
	remove := func(key string) error {
		return b.explain("removing", key,
			b.client.RemoveObject(ctx, b.name, key, minio.RemoveObjectOptions{}))
	}
	if err := remove(b.key(path.Join(folder, first))); err != nil {
		return err
	}
	for object := range b.client.ListObjectsIter(ctx, b.name, minio.ListObjectsOptions{
		Prefix: b.below(folder), Recursive: true,
	}) {
		if object.Err != nil {
			return b.explain("listing", folder, object.Err)
		}
		if err := remove(object.Key); err != nil {
			return err
		}
	}
	return nil
}

// explain says what was tried where, and what to check.
func (b *bucket) explain(doing, name string, err error) error {
	if err == nil {
		return nil
	}
	advice := ""
	switch minio.ToErrorResponse(err).Code {
	case minio.NoSuchKey:
		err = fmt.Errorf("%w (%w)", fs.ErrNotExist, err)
	case minio.NoSuchBucket:
		advice = ": make the bucket, or check its name and s3.endpoint"
	case minio.AccessDenied, "InvalidAccessKeyId", "SignatureDoesNotMatch":
		advice = ": check s3.access_key and s3.secret_key, and what they may do with the bucket"
	}
	return fmt.Errorf("%s %s of %s at %s: %w%s", doing, name, b, b.server, err, advice)
}
