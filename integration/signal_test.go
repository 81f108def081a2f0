//go:build integration

package integration

import (
	"context"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// SIGHUP reads the configuration again: what can change does, what cannot is named, and a file with
// an error changes nothing.
func TestHangup(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, noLinger)
	running := w.start()
	running.waitLive()
	before, err := os.ReadFile(w.config)
	if err != nil {
		t.Fatal(err)
	}
	hangUp := func(text string) {
		t.Helper()
		if err := os.WriteFile(w.config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		running.signal(syscall.SIGHUP)
	}
	hangUp(string(before) + "\nmemory: {limit: 3GiB, share: 1}\n")
	running.waitFor("SIGHUP: the configuration cannot be read again, and nothing has changed")
	hangUp(string(before) + "\nmemory: {limit: 2GiB}\nsignals: {enabled: true}\n")
	running.waitFor("take effect at the next start\" keys=[signals.enabled]")
	running.waitFor("changed=[memory.limit]")
	running.waitFor("memory is limited\" bytes=2147483648")
	hangUp(string(before))
	running.waitFor("msg=\"memory has no limit\"")
	w.produce(&kgo.Record{Value: []byte(`{"title":"still here"}`)})
	w.done()
	running.stop()
}

// SIGTERM ends clusterd at any moment of its start, with exit code 0, and leaves no member in the
// group: another one is live without waiting for a session to time out.
func TestStopAtAnyMoment(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, noLinger)
	for _, moment := range []struct {
		name string
		wait func(*instance)
	}{
		{"at once", func(i *instance) {
			i.eventually("it runs",
				func() bool { return i.readyz().State != "" })
		}},
		{"starting", func(i *instance) { i.waitFor("msg=starting") }},
		{
			"created topics",
			func(i *instance) { i.eventually("the topics", func() bool { return len(w.ends(w.dead)) > 0 }) },
		},
		{"live", func(i *instance) { i.waitLive() }},
	} {
		running := w.start()
		moment.wait(running)
		told := time.Now()
		running.stop()
		t.Logf("%s: ended %.2f s after SIGTERM", moment.name, time.Since(told).Seconds())
	}
	mute := newMute(w)
	running := w.start()
	mute.waitForJoin()
	told := time.Now()
	running.stop()
	t.Logf("while it joins: ended %.2f s after SIGTERM", time.Since(told).Seconds())
	if members := mute.members(); len(members) != 1 {
		t.Errorf("members of the group: %q; want the mute one alone", members)
	}
}

// mute is a member of the group that answers no rebalance, so that others wait for it when they
// join.
type mute struct {
	*world
	id string
}

func newMute(w *world) *mute {
	w.Helper()
	join := kmsg.NewPtrJoinGroupRequest()
	join.Group, join.ProtocolType = w.group, "consumer"
	timeout := int32(w.timeout.Milliseconds())
	join.SessionTimeoutMillis, join.RebalanceTimeoutMillis = timeout, timeout
	protocol := kmsg.NewJoinGroupRequestProtocol()
	protocol.Name = "clusterd-topic"
	join.Protocols = append(join.Protocols, protocol)
	var joined *kmsg.JoinGroupResponse
	w.eventually("the mute member joins", func() bool {
		response, err := join.RequestWith(w.Context(), w.client)
		if err != nil {
			w.Fatal(err)
		}
		join.MemberID, joined = response.MemberID, response
		return response.ErrorCode == 0
	})
	sync := kmsg.NewPtrSyncGroupRequest()
	sync.Group, sync.MemberID, sync.Generation = w.group, join.MemberID, joined.Generation
	sync.ProtocolType, sync.Protocol = &join.ProtocolType, &protocol.Name
	response, err := sync.RequestWith(w.Context(), w.client)
	if err != nil || response.ErrorCode != 0 {
		w.Fatal(response, err)
	}
	m := &mute{world: w, id: join.MemberID}
	w.Cleanup(func() {
		leave := kmsg.NewPtrLeaveGroupRequest()
		leave.Group = w.group
		member := kmsg.NewLeaveGroupRequestMember()
		member.MemberID = m.id
		leave.MemberID, leave.Members = m.id, append(leave.Members, member)
		_, _ = leave.RequestWith(context.WithoutCancel(w.Context()), w.client)
	})
	return m
}

func (m *mute) members() (ids []string) {
	m.Helper()
	groups, err := m.admin.DescribeGroups(m.Context(), m.group)
	if err != nil {
		m.Fatal(err)
	}
	for _, member := range groups[m.group].Members {
		ids = append(ids, member.MemberID)
	}
	return ids
}

// waitForJoin waits until another one is joining.
func (m *mute) waitForJoin() {
	m.Helper()
	m.eventually("another member joins", func() bool { return len(m.members()) == 2 })
}
