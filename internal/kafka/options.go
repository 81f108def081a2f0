package kafka

import (
	"cmp"
	"log/slog"

	"github.com/clusterd/clusterd/internal/kafka/login"
)

// Options say how a cluster is reached.
type Options struct {
	Brokers []string // at least one, each host:port
	TLS     login.TLS
	SASL    login.SASL
	// Log gets to know of certificates and tokens that have changed; nil is nobody.
	Log *slog.Logger
}

func (o Options) dialer() (*login.Dialer, error) {
	return login.New(o.TLS, o.SASL, cmp.Or(o.Log, slog.New(slog.DiscardHandler)))
}
