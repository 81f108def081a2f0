package config

// This file holds the rules between keys. A rule is left out where one of its
// keys is wrong already, so that one mistake gives one error.

import (
	"fmt"
	"net"
	"net/netip"
	"slices"

	"github.com/goccy/go-yaml/token"

	"github.com/clusterd/clusterd/internal/method"
)

// where is the first of the keys that the file gives; every rule fails only
// because of one.
func (d *decoder) where(paths ...string) *token.Position {
	for _, path := range paths {
		if pos, ok := d.given[path]; ok {
			return pos
		}
	}
	return nil
}

func (d *decoder) anyFailed(paths ...string) bool {
	for _, path := range paths {
		if d.failed[path] {
			return true
		}
	}
	return false
}

func (d *decoder) checkTLS(c *TLS) {
	const enabled, cert, key = "kafka.tls.enabled", "kafka.tls.cert_file", "kafka.tls.key_file"
	if !c.Enabled && !d.failed[enabled] {
		for _, other := range []struct {
			path string
			set  bool
		}{
			{"kafka.tls.ca_file", c.CAFile != ""},
			{cert, c.CertFile != ""},
			{key, c.KeyFile != ""},
			{"kafka.tls.server_name", c.ServerName != ""},
			{"kafka.tls.insecure_skip_verify", c.InsecureSkipVerify},
		} {
			if other.set {
				d.report(d.where(other.path), other.path, "", "is given while "+enabled+" is false: set that to true, or remove this")
			}
		}
	}
	d.checkPair(cert, c.CertFile, key, c.KeyFile)
	d.checkPair(key, c.KeyFile, cert, c.CertFile)
}

func (d *decoder) checkPair(path, text, other, otherText string) {
	if text != "" && otherText == "" && !d.failed[other] && !d.failed[path] {
		d.report(d.where(path), path, "", "is given without "+other+": give both or neither")
	}
}

func (d *decoder) checkSASL(c *SASL) {
	const mechanism = "kafka.sasl.mechanism"
	if d.failed[mechanism] {
		return
	}
	for _, credential := range []struct {
		path  string
		empty bool
	}{
		{"kafka.sasl.username", c.Username == ""},
		{"kafka.sasl.password", c.Password == ""},
	} {
		switch needed := c.Mechanism != "none"; {
		case d.failed[credential.path]:
		case needed && credential.empty:
			d.report(d.where(credential.path, mechanism), credential.path, "",
				fmt.Sprintf("must not be empty while %s is %s", mechanism, c.Mechanism))
		case !needed && !credential.empty:
			d.report(d.where(credential.path), credential.path, "",
				"is given while "+mechanism+" is none: choose a mechanism, or remove this")
		}
	}
}

// checkTopics keeps the topics apart: reading what was written is a loop.
func (d *decoder) checkTopics(c *Config) {
	topics := []struct{ path, name string }{
		{"input.topic", c.Input.Topic},
		{"output.topic", c.Output.Topic},
		{"output.clusters_topic", c.Output.ClustersTopic},
		{"output.dead_letter_topic", c.Output.DeadLetterTopic},
	}
	for i, t := range topics {
		for _, earlier := range topics[:i] {
			if t.name != earlier.name || d.anyFailed(t.path, earlier.path) {
				continue
			}
			blamed, other := t.path, earlier.path
			if _, given := d.given[blamed]; !given {
				blamed, other = other, blamed
			}
			d.report(d.where(blamed), blamed, t.name, "must differ from "+other)
		}
	}
}

// checkSecret keeps the hash that exists to make old fingerprints from being asked to make new ones.
func (d *decoder) checkSecret(c *method.FingerprintSettings) {
	const secret, hash = "fingerprint.secret", "fingerprint.hash"
	if c.Secret != "" && c.Hash == "sdbm-raw" && !d.anyFailed(secret, hash) {
		d.report(d.where(hash), hash, c.Hash, "is for matching old fingerprints, and none was made with "+secret+": choose another, or remove the secret")
	}
}

// checkIDF keeps a table from being given in vain.
func (d *decoder) checkIDF(c *method.FingerprintSettings) {
	const idf, weight = "fingerprint.idf", "fingerprint.weight"
	if c.IDF != "" && c.Weight != "tfidf" && !d.anyFailed(idf, weight) {
		d.report(d.where(idf), idf, "", "is given while "+weight+" is "+c.Weight+": set that to tfidf, or remove this")
	}
}

// checkSimilarity keeps a similarity from being given in vain.
func (d *decoder) checkSimilarity(c *Config) {
	const similarity, name = "cluster.similarity", "fingerprint.method"
	inVain := !slices.Contains(method.Using(similarity), c.Fingerprint.Method)
	if inVain && c.Cluster.Similarity != 0 && !d.anyFailed(similarity, name) {
		d.report(d.where(similarity), similarity, "", "is given while "+name+" is "+c.Fingerprint.Method+", which knows none: remove this, or choose another method")
	}
}

// leastToken is how many bytes keep a token from being guessed.
const leastToken = 16

// checkHTTP keeps what an instance tells of itself from everybody on the network.
func (d *decoder) checkHTTP(c *HTTP) {
	const listen, token = "http.listen", "http.token"
	if d.anyFailed(listen, token) || c.Listen == "" || isLoopback(c.Listen) || len(c.Token) >= leastToken {
		return
	}
	d.report(d.where(listen), listen, c.Listen, fmt.Sprintf(
		"is open to other machines while %s has %d bytes: give it at least %d, or listen on 127.0.0.1", token, len(c.Token), leastToken))
}

// isLoopback looks no name up: what localhost means is fixed (RFC 6761), what others mean may change.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
