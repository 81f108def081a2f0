package kafka_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/kafka/login"
)

func TestErrorClasses(t *testing.T) {
	for name, tt := range map[string]struct {
		err                       error
		transient, fatal, noTopic bool
	}{
		"none":                            {err: nil},
		"something else":                  {err: errors.New("something else")},
		"our own end":                     {err: context.Canceled},
		"no such topic, as clusterd asks": {err: kafka.ErrNoTopic},

		"leader not available":    {err: kafkago.LeaderNotAvailable, transient: true},
		"not the leader":          {err: kafkago.NotLeaderForPartition, transient: true},
		"coordinator is loading":  {err: kafkago.GroupLoadInProgress, transient: true},
		"no coordinator":          {err: kafkago.GroupCoordinatorNotAvailable, transient: true},
		"not the coordinator":     {err: kafkago.NotCoordinatorForGroup, transient: true},
		"not enough replicas":     {err: kafkago.NotEnoughReplicas, transient: true},
		"concurrent transactions": {err: kafkago.ConcurrentTransactions, transient: true},
		"broker not available":    {err: kafkago.BrokerNotAvailable, transient: true},
		"storage":                 {err: kafkago.KafkaStorageError, transient: true},
		"fenced leader epoch":     {err: kafkago.FencedLeaderEpoch, transient: true},
		"unknown leader epoch":    {err: kafkago.UnknownLeaderEpoch, transient: true},
		"broker's own failure":    {err: kafkago.Unknown, transient: true},
		"unstable offset commit":  {err: kafkago.UnstableOffsetCommit, transient: true},
		"unknown topic": {
			err: kafkago.UnknownTopicOrPartition, transient: true, noTopic: true,
		},
		"a topic that was there": {
			err: kafka.MarkRetriable(kafka.ErrNoTopic), transient: true, noTopic: true,
		},
		"topic not in the layout": {err: protocol.NewErrNoTopic("t"), transient: true, noTopic: true},
		"partition not in it": {
			err: protocol.NewErrNoPartition("t", 1), transient: true, noTopic: true,
		},
		"no leader in the layout": {err: protocol.NewErrNoLeader("t", 1), transient: true},
		"leaders moved in between": {
			err: errors.New("fetch request: mismatching leaders (1!=2)"), transient: true,
		},
		"end of file":       {err: io.EOF, transient: true},
		"unexpected end":    {err: io.ErrUnexpectedEOF, transient: true},
		"connection reset":  {err: syscall.ECONNRESET, transient: true},
		"broken pipe":       {err: syscall.EPIPE, transient: true},
		"closed connection": {err: net.ErrClosed, transient: true},
		"refused connection": {
			err: &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}, transient: true,
		},
		"name lookup": {err: &net.DNSError{
			Err: "no such host", Name: "kafka", IsNotFound: true,
		}, transient: true},
		"time out": {err: context.DeadlineExceeded, transient: true},

		"offset out of range":         {err: kafkago.OffsetOutOfRange},
		"batch too large":             {err: kafkago.MessageSizeTooLarge},
		"fenced":                      {err: kafkago.ProducerFenced},
		"old epoch":                   {err: kafkago.InvalidProducerEpoch},
		"invalid transaction state":   {err: kafkago.InvalidTransactionState},
		"sequence out of order":       {err: kafkago.OutOfOrderSequenceNumber},
		"member unknown":              {err: kafkago.UnknownMemberId},
		"unknown producer":            {err: kafkago.UnknownProducerId},
		"a code that has no name yet": {err: kafkago.Error(9999)},

		"refused login":           {err: kafkago.SASLAuthenticationFailed, fatal: true},
		"mechanism":               {err: kafkago.UnsupportedSASLMechanism, fatal: true},
		"login state":             {err: kafkago.IllegalSASLState, fatal: true},
		"no right to the topic":   {err: kafkago.TopicAuthorizationFailed, fatal: true},
		"no right to the group":   {err: kafkago.GroupAuthorizationFailed, fatal: true},
		"no right to the cluster": {err: kafkago.ClusterAuthorizationFailed, fatal: true},
		"no right to the id":      {err: kafkago.TransactionalIDAuthorizationFailed, fatal: true},
		"version":                 {err: kafkago.UnsupportedVersion, fatal: true},
		"topic name":              {err: kafkago.InvalidTopic, fatal: true},
		"group name":              {err: kafkago.InvalidGroupId, fatal: true},
		"transaction timeout":     {err: kafkago.InvalidTransactionTimeout, fatal: true},
		"policy":                  {err: kafkago.PolicyViolation, fatal: true},
		"topic settings":          {err: kafkago.InvalidConfiguration, fatal: true},
		"replication factor":      {err: kafkago.InvalidReplicationFactor, fatal: true},
		"a certificate of nobody": {
			err: &login.Error{Fatal: true, Err: x509.UnknownAuthorityError{}}, fatal: true,
		},
		"a server of tokens that is not well": {
			err: &login.Error{Err: errors.New("503")}, transient: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			errs := []error{tt.err}
			if tt.err != nil {
				errs = append(errs, fmt.Errorf("fetching: %w", tt.err),
					fmt.Errorf("%w: %w", errors.New("other"), tt.err))
			}
			for _, err := range errs {
				if got := kafka.Retriable(err); got != tt.transient {
					t.Errorf("Retriable(%v) = %t", err, got)
				}
				if got := kafka.Fatal(err); got != tt.fatal {
					t.Errorf("Fatal(%v) = %t", err, got)
				}
				if got := err != nil && kafka.NoTopic(err); got != tt.noTopic {
					t.Errorf("NoTopic(%v) = %t", err, got)
				}
			}
		})
	}
}

func TestCode(t *testing.T) {
	if err := kafka.Code(0); err != nil {
		t.Errorf("Code(0) = %v", err)
	}
	if err := kafka.Code(3); !errors.Is(err, kafkago.UnknownTopicOrPartition) {
		t.Errorf("Code(3) = %v", err)
	}
}

func TestExplain(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string // what to do
	}{
		{kafkago.SASLAuthenticationFailed, "the broker ended the login: check kafka.sasl"},
		{&login.Error{Advice: "name the authority", Err: io.EOF}, "name the authority"},
		{
			kafkago.TopicAuthorizationFailed,
			"grant read and describe on the input topic, read and write on the output topics",
		},
		{kafkago.GroupAuthorizationFailed, "grant read on the group input.group"},
		{kafkago.TransactionalIDAuthorizationFailed, "grant write and describe on transactional ids"},
		{kafkago.ClusterAuthorizationFailed, "grant IdempotentWrite on the cluster"},
		{
			&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED},
			"check kafka.brokers and that the broker runs",
		},
		{kafkago.BrokerNotAvailable, "no connection to the broker: check kafka.brokers"},
		{kafkago.KafkaStorageError, "make space if the disk is full"},
		{kafkago.InconsistentGroupProtocol, "of its own"},
		{kafkago.InvalidSessionTimeout, "group.min.session.timeout.ms"},
		{kafkago.UnknownTopicOrPartition, "if it was deleted, create it again"},
		{io.EOF, "check that kafka.tls and kafka.sasl fit the listener"},
	} {
		for _, err := range []error{tt.err, fmt.Errorf("metadata: %w", tt.err)} {
			got := kafka.Explain(err)
			if !strings.Contains(got.Error(), tt.want) ||
				!strings.HasSuffix(got.Error(), "("+err.Error()+")") {
				t.Errorf("Explain(%v) = %q, want %q and the error itself", err, got, tt.want)
			}
			if !errors.Is(got, err) {
				t.Errorf("Explain(%v) hides the error", err)
			}
			if strings.Contains(got.Error(), "\n") {
				t.Errorf("Explain(%v) is more than one line", err)
			}
		}
	}
	once := fmt.Errorf("again: %w", kafka.Explain(kafkago.TopicAuthorizationFailed))
	for _, err := range []error{nil, errors.New("other"), kafkago.LeaderNotAvailable, once} {
		if got := kafka.Explain(err); got != err {
			t.Errorf("Explain(%v) = %v, want it as it is", err, got)
		}
	}
}
