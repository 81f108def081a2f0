package login

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/aws"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// chooseMechanism prepares the mechanism of the settings.
func (d *Dialer) chooseMechanism(s SASL, log *slog.Logger) (err error) {
	user, password := s.Username, s.Password.Reveal()
	d.refused = refusedPassword
	switch s.Mechanism {
	case "", "none":
	case "plain":
		d.mechanism = plain.Auth{User: user, Pass: password}.AsMechanism()
	case "scram-sha-256":
		d.mechanism = scram.Auth{User: user, Pass: password}.AsSha256Mechanism()
	case "scram-sha-512":
		d.mechanism = scram.Auth{User: user, Pass: password}.AsSha512Mechanism()
	case "oauthbearer":
		var tokens source
		if tokens, err = newSource(s, log); err == nil {
			d.mechanism, d.refused = &bearer{tokens: tokens}, tokens.refused
		}
	case "aws-msk-iam":
		d.mechanism, d.refused = aws.ManagedStreamingIAM(environment), refusedKeys
	default:
		err = fmt.Errorf("kafka.sasl.mechanism: %q: must be none, plain, scram-sha-256, "+
			"scram-sha-512, oauthbearer or aws-msk-iam", s.Mechanism)
	}
	return err
}

var errNoKeys = errors.New("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not both set")

// environment returns the credentials that the environment variables of all AWS tools hold.
func environment(context.Context) (aws.Auth, error) {
	keys := aws.Auth{
		AccessKey: os.Getenv("AWS_ACCESS_KEY_ID"), SecretKey: os.Getenv("AWS_SECRET_ACCESS_KEY"),
		SessionToken: os.Getenv("AWS_SESSION_TOKEN"), UserAgent: clientID,
	}
	if keys.AccessKey == "" || keys.SecretKey == "" {
		return aws.Auth{}, &Error{
			ours: true, Fatal: true, Err: errNoKeys,
			Advice: "there are no credentials for AWS: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, " +
				"or choose another kafka.sasl.mechanism",
		}
	}
	return keys, nil
}

// bearer is OAUTHBEARER (RFC 7628).
type bearer struct{ tokens source }

// Name returns what brokers call it.
func (*bearer) Name() string { return "OAUTHBEARER" }

// Authenticate begins a login.
func (b *bearer) Authenticate(ctx context.Context, host string) (sasl.Session, []byte, error) {
	token, err := b.tokens.token(ctx)
	if err != nil {
		return nil, nil, err
	}
	_, message, err := oauth.Auth{Token: token}.AsMechanism().Authenticate(ctx, host)
	return bearing{}, message, err
}

// bearing is a login under way.
type bearing struct{}

// Challenge takes a broker's answer. One that is not empty says in JSON why the token is refused:
// the broker ends the login, with its reason, after a byte 1.
func (bearing) Challenge(answer []byte) (done bool, next []byte, err error) {
	if len(answer) == 0 {
		return true, nil, nil
	}
	return false, []byte{1}, nil
}
