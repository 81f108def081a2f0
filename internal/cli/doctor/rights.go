package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/config"
)

// A need is what clusterd does with a topic, and so must be allowed to.
type need struct {
	topic  string
	rights []kmsg.ACLOperation
	why    string
}

// needs returns what the configuration needs.
func (e *examination) needs() (all []need) {
	const (
		read, write, describe = kmsg.ACLOperationRead, kmsg.ACLOperationWrite, kmsg.ACLOperationDescribe
	)
	c := &e.config
	works, asked := c.Assigns(), c.HTTP.Listen != ""
	fingerprints := c.Role == config.FingerprintOnly
	add := func(topic, why string, wanted bool, rights ...kmsg.ACLOperation) {
		if topic != "" && wanted {
			all = append(all, need{topic, rights, why})
		}
	}
	add(c.Input.Topic, "articles are read", true, read, describe)
	add(c.Fingerprints.Topic, "fingerprinted articles are written", fingerprints, write, describe)
	add(c.Fingerprints.Topic, "fingerprinted articles are read", c.Role == config.AssignOnly, read,
		describe)
	add(c.Output.Topic, "results are written", works, write, describe)
	add(c.Output.Topic, "the page and /v1 read results", asked, read)
	add(c.Output.ClustersTopic, "clusters are read back", !fingerprints, read, describe)
	add(c.Output.ClustersTopic, "clusters are written", works, write)
	add(c.Output.DeadLetterTopic, "dead letters are written", works || fingerprints, write, describe)
	add(c.Labels.Topic, "labels are read", !fingerprints, read, describe)
	add(c.Labels.Topic, "labels are given by the page and /v1", asked, write)
	add(c.Labels.Corrections, "corrections are written", works, write, describe)
	add(c.Stories.Topic, "stories are written", works, write, describe)
	return all
}

// checkRights looks what the login may do with topics and with the group. What it may do with the
// transactional id only a transaction shows.
func (e *examination) checkRights(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	allowed, err := e.allowed(ctx)
	if err != nil {
		e.warn("rights", advice(err), "no broker says what is allowed: %v", err)
		return
	}
	missing := 0
	for _, n := range e.needs() {
		may, known := allowed[n.topic]
		if !known {
			continue // it is not there, or the broker does not say
		}
		for _, right := range n.rights {
			if !slices.Contains(may, right) {
				missing++
				name := operation(right)
				e.fail("right "+name+" on "+n.topic, e.grant(right, n.topic), "it is not granted: %s", n.why)
			}
		}
	}
	if err := e.checkGroup(ctx); err != nil {
		missing++
	}
	if missing == 0 {
		e.ok("rights", "all that is needed on %d topics and group %s", len(allowed), e.config.Input.Group)
	}
}

// grant returns the command that grants a right.
func (e *examination) grant(right kmsg.ACLOperation, topic string) string {
	return fmt.Sprintf("kafka-acls --add --allow-principal User:%s --operation %s --topic %s",
		e.user(), operation(right), topic)
}

// allowed returns what may be done with each topic that is there.
func (e *examination) allowed(ctx context.Context) (map[string][]kmsg.ACLOperation, error) {
	request := kmsg.NewPtrMetadataRequest()
	request.IncludeTopicAuthorizedOperations = true
	for _, name := range e.names() {
		one := kmsg.NewMetadataRequestTopic()
		one.Topic = kmsg.StringPtr(name)
		request.Topics = append(request.Topics, one)
	}
	response, err := request.RequestWith(ctx, e.client)
	if err != nil {
		return nil, err
	}
	allowed := make(map[string][]kmsg.ACLOperation)
	for _, t := range response.Topics {
		// The highest negative number is that of a broker that does not say.
		if t.ErrorCode == 0 && t.Topic != nil && t.AuthorizedOperations != -1<<31 {
			allowed[*t.Topic] = operations(t.AuthorizedOperations)
		}
	}
	return allowed, nil
}

// operations returns those of a set of bits.
func operations(bits int32) (all []kmsg.ACLOperation) {
	for n := range 31 {
		if bits&(1<<n) != 0 {
			all = append(all, kmsg.ACLOperation(n))
		}
	}
	return all
}

// operation returns the name of a right as Kafka's own tools have it.
func operation(o kmsg.ACLOperation) string {
	words := strings.Split(strings.ToLower(o.String()), "_")
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "")
}

// user returns by which name the brokers know clusterd, as far as the configuration tells.
func (e *examination) user() string {
	if e.config.Kafka.SASL.Username != "" {
		return e.config.Kafka.SASL.Username
	}
	return "NAME"
}

// checkGroup looks whether the group may be joined.
func (e *examination) checkGroup(ctx context.Context) error {
	if e.config.Role == config.ServeOnly {
		return nil
	}
	group := e.config.Source().Group
	request := kmsg.NewPtrDescribeGroupsRequest()
	request.Groups, request.IncludeAuthorizedOperations = []string{group}, true
	response, err := request.RequestWith(ctx, e.client)
	for i := 0; err == nil && i < len(response.Groups); i++ {
		g := &response.Groups[i]
		if err = kerr.ErrorForCode(g.ErrorCode); errors.Is(err, kerr.GroupIDNotFound) {
			return nil // nobody has joined it yet
		}
		may := operations(g.AuthorizedOperations)
		if err == nil && g.AuthorizedOperations != -1<<31 &&
			!slices.Contains(may, kmsg.ACLOperationRead) {
			err = kerr.GroupAuthorizationFailed
		}
		if g.ProtocolType != "" && g.ProtocolType != "consumer" {
			err = fmt.Errorf("its members are of type %q", g.ProtocolType)
		}
	}
	if err != nil {
		e.fail("right Read on group "+group, fmt.Sprintf("kafka-acls --add --allow-principal User:%s "+
			"--operation Read --group %s", e.user(), group), "%v", err)
	}
	return err
}
