package kafka

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/clusterd/clusterd/internal/kafka/login"
)

// Code turns the error code of a response into an error, nil for none.
func Code(code int16) error {
	switch code {
	case 0:
		return nil
	case kerr.UnknownTopicID.Code, kerr.InconsistentTopicID.Code: // kafka-go does not know them
		return kafkago.UnknownTopicOrPartition
	}
	return kafkago.Error(code)
}

// Explain returns err in one line for a person: what happened and what to do. Errors that it
// has nothing to add to come back as they are, as do those that it has explained before.
func Explain(err error) error {
	var advice string
	var before *explained
	var failed *login.Error
	switch {
	case err == nil, errors.As(err, &before):
		return err
	case errors.As(err, &failed):
		advice = failed.Advice
	case errors.Is(err, kafkago.SASLAuthenticationFailed):
		advice = "the broker ended the login: check kafka.sasl"
	case errors.Is(err, kafkago.TopicAuthorizationFailed):
		advice = "the broker denies access to a topic: grant read and describe on the input topic, " +
			"read and write on the output topics; clusterd doctor says which is missing"
	case errors.Is(err, kafkago.GroupAuthorizationFailed):
		advice = "the broker denies access to the consumer group: grant read on the group input.group"
	case errors.Is(err, kafkago.TransactionalIDAuthorizationFailed):
		advice = "the broker denies the transactional id: grant write and describe on transactional " +
			"ids that begin with input.group"
	case errors.Is(err, kafkago.ClusterAuthorizationFailed):
		advice = "the broker denies idempotent writes: grant IdempotentWrite on the cluster"
	case errors.Is(err, kafkago.InconsistentGroupProtocol):
		advice = "the consumer group has members that are not clusterd, or with another " +
			"cluster.scope or role: set these back to what the others have, or give this one an " +
			"input.group, an output.topic and an output.clusters_topic of its own"
	case errors.Is(err, kafkago.InvalidSessionTimeout):
		advice = "the broker refuses input.session_timeout: raise it, or lower the broker's " +
			"group.min.session.timeout.ms (6 s by default), or raise its group.max.session.timeout.ms"
	case NoTopic(err):
		advice = "the broker knows no such topic or partition: if it was deleted, create it again"
	case errors.Is(err, syscall.ECONNREFUSED):
		advice = "no broker listens there: check kafka.brokers and that the broker runs"
	case errors.Is(err, kafkago.KafkaStorageError):
		advice = "the broker cannot write to its disk: make space if the disk is full; the broker's " +
			"log says more"
	case errors.Is(err, kafkago.BrokerNotAvailable):
		advice = "no connection to the broker: check kafka.brokers and that the broker runs"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		advice = "the broker closed the connection: if this goes on, check that kafka.tls and " +
			"kafka.sasl fit the listener that kafka.brokers names"
	default:
		return err
	}
	return &explained{advice: advice, err: err}
}

type explained struct {
	advice string
	err    error
}

func (e *explained) Error() string { return e.advice + " (" + e.err.Error() + ")" }
func (e *explained) Unwrap() error { return e.err }

// Fatal reports whether err will still be there after waiting: a refused login, missing
// rights, a certificate that is not trusted. Everything else of Kafka or of the network may
// pass.
func Fatal(err error) bool {
	var failed *login.Error
	if errors.As(err, &failed) {
		return failed.Fatal
	}
	for _, fatal := range []error{
		kafkago.SASLAuthenticationFailed, kafkago.UnsupportedSASLMechanism, kafkago.IllegalSASLState,
		kafkago.TopicAuthorizationFailed, kafkago.GroupAuthorizationFailed,
		kafkago.ClusterAuthorizationFailed, kafkago.TransactionalIDAuthorizationFailed,
		kafkago.UnsupportedVersion, kafkago.InvalidTopic, kafkago.InvalidGroupId,
		kafkago.InconsistentGroupProtocol, kafkago.InvalidSessionTimeout,
		kafkago.InvalidTransactionTimeout, kafkago.PolicyViolation,
		kafkago.InvalidConfiguration, kafkago.InvalidReplicationFactor,
	} {
		if errors.Is(err, fatal) {
			return true
		}
	}
	return false
}

// Retriable reports whether the very same request may succeed when it is sent again: the
// network failed, or the broker says that it is not the one or not ready.
func Retriable(err error) bool {
	var code kafkago.Error
	var network net.Error
	var failed *login.Error
	switch {
	case err == nil, Fatal(err):
		return false
	case errors.As(err, &failed):
		return true
	case errors.As(err, &code):
		return code.Temporary() || slices.Contains([]kafkago.Error{
			kafkago.ConcurrentTransactions, kafkago.BrokerNotAvailable, kafkago.KafkaStorageError,
			kafkago.FencedLeaderEpoch, kafkago.UnknownLeaderEpoch,
			kafkago.Unknown, // what a broker answers that is overloaded or loses its controller
		}, code)
	case NoTopic(err), isNoLeader(err):
		return true
	}
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, net.ErrClosed) ||
		errors.Is(err, context.DeadlineExceeded)
}

// coordinatorLoading reports whether err is what a broker answers while it has no coordinator yet
// for a group or a transactional id: it loads or makes the topics that it keeps them in.
func coordinatorLoading(err error) bool {
	var connection *net.OpError // net.Error would not do: kafka-go's codes are such too
	if errors.As(err, &connection) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	return errors.Is(err, kafkago.GroupLoadInProgress) ||
		errors.Is(err, kafkago.GroupCoordinatorNotAvailable) ||
		errors.Is(err, kafkago.NotCoordinatorForGroup)
}

// NoTopic reports whether err says that a topic or a partition does not exist.
func NoTopic(err error) bool {
	return errors.Is(err, kafkago.UnknownTopicOrPartition) || errors.Is(err, protocol.ErrNoTopic) ||
		errors.Is(err, protocol.ErrNoPartition)
}

// MarkRetriable makes it worth waiting that a topic is not there, for [Retriable], where it was
// seen or made a moment ago: it takes a broker another moment to know of it, and one that was
// deleted may come back.
func MarkRetriable(err error) error {
	if errors.Is(err, ErrNoTopic) {
		return fmt.Errorf("%w (%w)", err, kafkago.UnknownTopicOrPartition)
	}
	return err
}

// isNoLeader also catches the error that kafka-go makes when partitions that had one leader
// when a request was put together have two when it is sent.
func isNoLeader(err error) bool {
	return errors.Is(err, protocol.ErrNoLeader) || strings.Contains(err.Error(), "mismatching leaders")
}
