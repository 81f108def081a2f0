package config

import (
	"github.com/clusterd/clusterd/internal/config/table"
	"github.com/clusterd/clusterd/internal/config/value"
)

// S3 says where buckets for snapshots are, and who asks for them.
type S3 struct {
	Endpoint  string // URL
	Region    string // empty: of the environment, or what the server says
	AccessKey string // empty: credentials of the environment
	SecretKey Secret
}

func (c *S3) keys() []table.Key {
	return []table.Key{
		{
			Path: "s3.endpoint", Value: value.Scalar(&c.Endpoint, value.OptionalURL(),
				"https://s3.amazonaws.com"),
			Doc: "Server of the buckets that state export and import name, S3 or one like it.",
		},
		{
			Path: "s3.region", Value: value.Scalar(&c.Region, value.AnyText(), ""),
			Doc: "Region of the bucket; empty takes AWS_REGION, or asks the server.",
		},
		{
			Path: "s3.access_key", Value: value.Scalar(&c.AccessKey, value.AnyText(), ""),
			Doc: "Id of the credentials; empty takes AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
		},
		{
			Path: "s3.secret_key", Value: value.Scalar(&c.SecretKey, value.Password(), ""),
			Doc: "Secret that goes with it; better ${NAME} or file:PATH than the words themselves.",
		},
	}
}

// checkS3 wants both credentials or none.
func (r rules) checkS3(c *S3) {
	const id, secret = "s3.access_key", "s3.secret_key"
	switch {
	case r.Failed(id), r.Failed(secret), (c.AccessKey == "") == (c.SecretKey == ""):
	case c.AccessKey == "":
		r.Report(r.Where(id, secret), id, "", "must not be empty where "+secret+" is given")
	default:
		r.Report(r.Where(secret, id), secret, "", "must not be empty where "+id+" is given")
	}
}
