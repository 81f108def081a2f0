package config

import (
	"github.com/clusterd/clusterd/internal/config/table"
	"github.com/clusterd/clusterd/internal/config/value"
)

func (c *HTTP) keys() []table.Key {
	return []table.Key{
		{
			Path: "http.listen", Value: value.Scalar(&c.Listen, value.ListenAddress(), "127.0.0.1:8080"),
			Doc: "Where questions, health and metrics are answered; empty is nowhere, and other " +
				"hosts than " +
				"loopback need a token.",
		},
		{
			Path: "http.token", Value: value.Scalar(&c.Token, value.BearerToken(), ""),
			Doc: "A token with all rights (Authorization: Bearer ...); better ${NAME} or file:PATH than " +
				"the words themselves.",
		},
		{
			Path: "http.tokens_file", Value: value.Scalar(&c.TokensFile, value.OptionalFile(), ""),
			Doc: "File of named tokens, a line each: NAME RIGHTS TOKEN, where rights are of read, " +
				"label and " +
				"write; read again when it changes.",
		},
		{
			Path: "http.tls.cert_file", Value: value.Scalar(&c.TLS.CertFile, value.OptionalFile(), ""),
			Doc: "PEM certificate of the server, with key_file; read again when it changes.",
		},
		{
			Path: "http.tls.key_file", Value: value.Scalar(&c.TLS.KeyFile, value.OptionalFile(), ""),
			Doc: "PEM private key of that certificate.",
		},
		{
			Path: "http.hosts", Value: value.List(&c.Hosts, 0, value.HostName()),
			Doc: "Further host names by which clients call the instance; others are refused, so " +
				"that no web " +
				"page reaches it by a name of its own.",
		},
		{
			Path: "http.origins", Value: value.List(&c.Origins, 0, value.Origin()),
			Doc: "Other origins from which a browser may ask (CORS), such as https://desk.example.com.",
		},
		{
			Path: "http.trusted_proxies", Value: value.List(&c.TrustedProxies, 0, value.Network()),
			Doc: "Addresses or networks of proxies that say who asks, such as 10.0.0.0/8.",
		},
		{
			Path: "http.user_header", Value: value.Scalar(&c.UserHeader, value.OptionalHeaderName(), ""),
			Doc: "Header in which a trusted proxy names who asks, such as X-Forwarded-User.",
		},
		{
			Path: "http.rate", Value: value.Scalar(&c.Rate, value.Integer(0, 1_000_000), 10_000),
			Live: true,
			Doc:  "Requests a second that one client may make, by its token or address; 0 is no limit.",
		},
	}
}
