//go:build integration

package integration

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// network leads to brokers through a proxy before each. The brokers reach one another, and
// the tests reach the brokers, without it.
type network struct {
	*brokers
	proxies []*toxiproxy.Proxy
	hatches []*hatch
}

// newNetwork starts as many brokers, and what leads to them.
func newNetwork(t *testing.T, brokers int) *network {
	t.Helper()
	behind := freePorts(t, brokers)
	n := &network{brokers: ownBroker(t, "--brokers", strconv.Itoa(brokers), "--behind",
		strconv.Itoa(behind))}
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	for i := range n.addresses {
		broker := behind + 2*i
		proxy := toxiproxy.NewProxy(server, fmt.Sprintf("broker-%d", i+1), "127.0.0.1:0",
			fmt.Sprintf("127.0.0.1:%d", broker))
		if err := proxy.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(proxy.Stop)
		n.proxies = append(n.proxies, proxy)
		n.hatches = append(n.hatches, openHatch(t, fmt.Sprintf("127.0.0.1:%d", broker+1), proxy.Listen))
	}
	return n
}

// settings are those by which instances take this way.
func (n *network) settings() string {
	var addresses []string
	for _, h := range n.hatches {
		addresses = append(addresses, strconv.Quote(h.listener.Addr().String()))
	}
	return fmt.Sprintf("kafka: {brokers: [%s], create_topics: true}\n", strings.Join(addresses, ", "))
}

// toxic spoils a direction, "upstream" to the broker or "downstream" from it, of the ways to some
// brokers.
func (h *hardship) toxic(proxies []*toxiproxy.Proxy, direction, kind, attributes string) {
	h.Helper()
	for _, p := range proxies {
		if _, err := p.Toxics.AddToxicJson(strings.NewReader(fmt.Sprintf(
			`{"name": %q, "type": %q, "stream": %q, "attributes": {%s}}`, kind+" "+direction, kind,
			direction, attributes))); err != nil {
			h.Fatal(err)
		}
	}
}

// both spoils both directions of all ways.
func (h *hardship) both(kind, attributes string) {
	h.Helper()
	h.toxic(h.network.proxies, "upstream", kind, attributes)
	h.toxic(h.network.proxies, "downstream", kind, attributes)
}

// heal takes all that spoils the network away.
func (n *network) heal() {
	for _, p := range n.proxies {
		p.Toxics.ResetToxics(context.Background())
	}
}

// slow has each answer take a quarter of a second and more.
func (h *hardship) slow() {
	h.both("latency", `"latency": 100, "jitter": 60`)
	for range 3 {
		h.goesOn("a slow network")
	}
}

// narrow lets less through than comes in.
func (h *hardship) narrow() {
	h.both("bandwidth", `"rate": 24`) // KB/s, of each connection
	for range 3 {
		h.goesOn("a narrow network")
	}
}

// cut resets all connections to a broker, again and again.
func (h *hardship) cut() {
	random := rand.New(rand.NewPCG(*seed, 2))
	for range 8 {
		i := random.IntN(len(h.network.proxies))
		h.toxic(h.network.proxies[i:i+1], "downstream", "reset_peer", `"timeout": 0`)
		before := h.consumed()
		h.network.heal()
		h.eventually("progress", func() bool { return h.consumed() > before })
	}
}

// requestsLost has connections stay while nothing that is sent arrives.
func (h *hardship) requestsLost() { h.silence("upstream") }

// answersLost has brokers do what nobody hears of, so that the outcome of a commit is unknown.
func (h *hardship) answersLost() { h.silence("downstream") }

// silence loses all in one direction for longer than requests and sessions last.
func (h *hardship) silence(direction string) {
	h.Helper()
	began := time.Now()
	h.toxic(h.network.proxies, direction, "timeout", `"timeout": 0`)
	h.eventually("/readyz to say no", func() bool {
		return !h.pair[0].readyz().Ready && !h.pair[1].readyz().Ready
	})
	h.Logf("not ready after %.1f s: %s", time.Since(began).Seconds(), h.pair[0].readyz().Reason)
	h.eventually("the end of silence", func() bool { return time.Since(began) > frozenFor })
}

// halfClosed ends one direction of each connection, first that from the brokers, then that to
// them, while the other stays open.
func (h *hardship) halfClosed() {
	for _, end := range []func(*joint) error{
		func(j *joint) error { return j.client.CloseWrite() },
		func(j *joint) error { return j.broker.CloseWrite() },
	} {
		for range 4 {
			for _, hatch := range h.network.hatches {
				hatch.each(end)
			}
			h.goesOn("half of each connection closed")
		}
	}
}

// killedUnheard kills a broker whose connections stay open for longer than requests last.
func (h *hardship) killedUnheard() {
	h.toxic(h.network.proxies, "downstream", "slow_close", `"delay": 15000`)
	h.killed(h.leader(h.input, 0))
}

// hatch is a relay whose connections can be closed by halves, which no toxic does.
type hatch struct {
	listener net.Listener
	to       string
	mu       sync.Mutex
	joints   map[*joint]bool
}

// joint is a connection through a hatch.
type joint struct{ client, broker *net.TCPConn }

func openHatch(t *testing.T, at, to string) *hatch {
	t.Helper()
	l, err := net.Listen("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	h := &hatch{listener: l, to: to, joints: make(map[*joint]bool)}
	t.Cleanup(func() { _ = l.Close() })
	go h.serve()
	return h
}

func (h *hatch) serve() {
	for {
		client, err := h.listener.Accept()
		if err != nil {
			return // the test is over
		}
		broker, err := net.Dial("tcp", h.to)
		if err != nil {
			_ = client.Close()
			continue
		}
		j := &joint{client: client.(*net.TCPConn), broker: broker.(*net.TCPConn)}
		h.mu.Lock()
		h.joints[j] = true
		h.mu.Unlock()
		go h.relay(j)
	}
}

// relay copies until either side has closed its connection, or both directions have ended.
func (h *hatch) relay(j *joint) {
	var directions sync.WaitGroup
	for from, to := range map[*net.TCPConn]*net.TCPConn{j.client: j.broker, j.broker: j.client} {
		directions.Go(func() {
			if _, err := io.Copy(to, from); err == nil {
				_ = to.CloseWrite()
				return
			}
			for _, side := range []*net.TCPConn{from, to} { // a reset is passed on
				_ = side.SetLinger(0)
				_ = side.Close()
			}
		})
	}
	directions.Wait()
	_, _ = j.client.Close(), j.broker.Close()
	h.mu.Lock()
	delete(h.joints, j)
	h.mu.Unlock()
}

// each does something to all connections.
func (h *hatch) each(do func(*joint) error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for j := range h.joints {
		_ = do(j) // one may be closed by now
	}
}
