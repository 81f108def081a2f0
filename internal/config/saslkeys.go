package config

import (
	"github.com/clusterd/clusterd/internal/config/table"
	"github.com/clusterd/clusterd/internal/config/value"
)

func (c *SASL) keys() []table.Key {
	return []table.Key{
		{
			Path: "kafka.sasl.mechanism", Value: value.Scalar(&c.Mechanism,
				value.OneOf("none", "plain", "scram-sha-256", "scram-sha-512", "oauthbearer",
					"aws-msk-iam"), "none"),
			Doc: "How to authenticate; plain and oauthbearer show password or token to the network " +
				"unless TLS is on; aws-msk-iam takes the credentials of AWS_ACCESS_KEY_ID and its like.",
		},
		{
			Path: "kafka.sasl.username", Value: value.Scalar(&c.Username, value.AnyText(), ""),
			Doc: "User to authenticate as; for plain and scram.",
		},
		{
			Path: "kafka.sasl.password", Value: value.Scalar(&c.Password, value.Password(), ""),
			Doc: "Password of that user; better ${NAME} or file:PATH than the words themselves.",
		},
		{
			Path: "kafka.sasl.token_file", Value: value.Scalar(&c.TokenFile, value.OptionalFile(), ""),
			Doc: "File with a token for oauthbearer, which somebody else renews; read at each login.",
		},
		{
			Path: "kafka.sasl.token_url", Value: value.Scalar(&c.TokenURL, value.OptionalURL(), ""),
			Doc: "Server of tokens for oauthbearer instead, asked with client_id and client_secret.",
		},
		{
			Path: "kafka.sasl.token_ca_file", Value: value.Scalar(&c.TokenCAFile,
				value.OptionalFile(), ""),
			Doc: "PEM certificates of the authority that signed that server's; empty takes the system's.",
		},
		{
			Path: "kafka.sasl.client_id", Value: value.Scalar(&c.ClientID, value.AnyText(), ""),
			Doc: "Id by which that server knows clusterd.",
		},
		{
			Path: "kafka.sasl.client_secret", Value: value.Scalar(&c.ClientSecret, value.Password(),
				""),
			Doc: "Secret that goes with it; better ${NAME} or file:PATH than the words themselves.",
		},
		{
			Path: "kafka.sasl.scope", Value: value.Scalar(&c.Scope, value.AnyText(), ""),
			Doc: "Scopes to ask that server for, with spaces between; empty asks for none.",
		},
	}
}
