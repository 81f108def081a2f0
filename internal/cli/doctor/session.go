package doctor

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/config"
)

// checkSession asks the group's coordinator whether it allows the session. It asks as a member that
// is not there and that is no clusterd: a broker looks at the session first, and then refuses it
// for either, and keeps nothing.
func (e *examination) checkSession(ctx context.Context) {
	const name = "session"
	if e.config.Role == config.ServeOnly {
		return // it joins no group
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	session := e.config.Input.SessionTimeout
	join := kmsg.NewPtrJoinGroupRequest()
	join.Group, join.MemberID, join.ProtocolType = e.config.Input.Group, "clusterd-doctor", "consumer"
	join.SessionTimeoutMillis = int32(session.Milliseconds())
	join.RebalanceTimeoutMillis = join.SessionTimeoutMillis
	protocol := kmsg.NewJoinGroupRequestProtocol()
	protocol.Name = "clusterd-doctor"
	join.Protocols = append(join.Protocols, protocol)
	response, err := join.RequestWith(ctx, e.client)
	if err == nil {
		err = kerr.ErrorForCode(response.ErrorCode)
	}
	switch {
	case errors.Is(err, kerr.UnknownMemberID), errors.Is(err, kerr.InconsistentGroupProtocol):
		e.ok(name, "the brokers allow %s", session)
	case errors.Is(err, kerr.InvalidSessionTimeout):
		e.fail(name, "set input.session_timeout from the brokers' group.min.session.timeout.ms (6 s by "+
			"default) to their group.max.session.timeout.ms (30 min), or change these on every broker",
			"the brokers do not allow input.session_timeout: %s", session)
	case errors.Is(err, kerr.GroupAuthorizationFailed): // checkRights says it
	default:
		if err == nil {
			err = errors.New("the broker took a member that is not there")
		}
		e.warn(name, advice(err), "whether the brokers allow input.session_timeout was not found out: %v",
			err)
	}
}
