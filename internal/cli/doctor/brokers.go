package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/kafka/login"
)

// checkBrokers looks at what only brokers can tell.
func (e *examination) checkBrokers(ctx context.Context) {
	if e.unknown = e.connect(); e.unknown != nil {
		e.fail("brokers", "mend the key that it names", "%v", e.unknown)
		return
	}
	defer e.client.Close()
	e.checkBootstrap(ctx)
	asked, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cluster, err := e.admin.BrokerMetadata(asked)
	if err != nil {
		e.unknown = err
		e.fail("brokers", advice(err), "no broker says which there are, so topics, rights and "+
			"transactions were not looked at: %v", err)
		return
	}
	e.brokers = len(cluster.Brokers)
	e.checkEach(ctx, cluster.Brokers)
	e.checkTopics(ctx)
	e.checkClusters(ctx)
	e.checkResults(ctx)
	e.checkRights(ctx)
	e.checkTransaction(ctx)
	e.checkSession(ctx)
	e.checkClock(ctx)
}

// checkBootstrap looks whether somebody listens at each address of kafka.brokers: a client takes
// any of them, and one that is wrong is found on the day on which it is needed.
func (e *examination) checkBootstrap(ctx context.Context) {
	all := e.config.Kafka.Brokers
	found := make([]error, len(all))
	var asking sync.WaitGroup
	for i, address := range all {
		asking.Go(func() {
			dialer := net.Dialer{Timeout: patience}
			connection, err := dialer.DialContext(ctx, "tcp", address)
			if found[i] = err; err == nil {
				_ = connection.Close() // nothing was sent
			}
		})
	}
	asking.Wait()
	for i, address := range all {
		if found[i] != nil {
			e.fail("address "+address, "start the broker, or correct kafka.brokers", "%v", found[i])
		}
	}
}

// answer is what a broker says of itself.
type answer struct {
	version string
	took    time.Duration
	err     error
}

// checkEach asks each broker by itself, at the address that it gives to clients.
func (e *examination) checkEach(ctx context.Context, all kadm.BrokerDetails) {
	answers := make([]answer, len(all))
	var asking sync.WaitGroup
	for i := range all {
		asking.Go(func() { answers[i] = e.ask(ctx, all[i].NodeID) })
	}
	asking.Wait()
	for i, b := range all {
		name := fmt.Sprintf("broker %d", b.NodeID)
		at := net.JoinHostPort(b.Host, fmt.Sprint(b.Port))
		if a := answers[i]; a.err != nil {
			e.fail(name, advice(a.err)+": that is the address in the broker's advertised.listeners",
				"%s: %v", at, a.err)
		} else {
			e.ok(name, "%s, Kafka %s, answers in %s%s", at, a.version,
				a.took.Round(100*time.Microsecond), e.secured())
		}
	}
}

func (e *examination) ask(ctx context.Context, id int32) (a answer) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	began := time.Now()
	request := kmsg.NewPtrApiVersionsRequest()
	request.ClientSoftwareName, request.ClientSoftwareVersion = "clusterd", "doctor" // must be there
	response, err := request.RequestWith(ctx, e.client.Broker(int(id)))
	if a.took = time.Since(began); err == nil {
		err = kerr.ErrorForCode(response.ErrorCode)
	}
	if a.err = err; err == nil {
		a.version = strings.TrimPrefix(kversion.FromApiVersionsResponse(response).VersionGuess(), "v")
	}
	return a
}

// secured says how the connection is kept from others.
func (e *examination) secured() (said string) {
	if e.config.Kafka.TLS.Enabled {
		said += ", TLS"
		if e.config.Kafka.TLS.InsecureSkipVerify {
			said += " without verifying"
		}
	}
	if m := e.config.Kafka.SASL.Mechanism; m != "none" {
		said += ", login by " + m
	}
	return said
}

// advice says what to do about an error of a broker or of the way to it.
func advice(err error) string {
	var timeout net.Error
	var failed *login.Error
	switch {
	case errors.As(err, &failed):
		return failed.Advice
	case errors.Is(err, kerr.TopicAuthorizationFailed):
		return "grant Describe on the topic"
	case errors.Is(err, kerr.GroupAuthorizationFailed):
		return "grant Read on the group input.group"
	case errors.Is(err, kerr.TransactionalIDAuthorizationFailed):
		return "grant Write and Describe on transactional ids that begin with input.group"
	case errors.Is(err, kerr.ClusterAuthorizationFailed):
		return "grant IdempotentWrite on the cluster"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "start the broker, or correct the address"
	case errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return "check that the broker runs, does not hang, and that no firewall is between"
	}
	if explained := kafka.Explain(err); explained.Error() != err.Error() {
		said, _, _ := strings.Cut(explained.Error(), " (")
		return said
	}
	return "look into the broker's log at this time"
}
