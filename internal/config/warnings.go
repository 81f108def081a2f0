package config

import (
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// Warnings returns what is allowed and likely not what is wanted, each as KEY: what, and what to
// do.
func (c Config) Warnings() []string {
	var all []string
	if c.Fingerprint.Hash == "sdbm-raw" && Unused("fingerprint.hash", c.Fingerprint.Method) == "" {
		all = append(all,
			"fingerprint.hash: sdbm-raw is for matching old fingerprints: its high bits follow the first "+
				"character of a word, "+
				"so unrelated articles are merged (8 in 100 of real news); sdbm is the same hash with its "+
				"bits mixed")
	}
	all = append(all, c.qualityWarnings()...)
	all = append(all, c.httpWarnings()...)
	if c.Output.Partition == PartitionOfSource && c.Output.Key != "source" {
		all = append(all,
			"output.partition: source spreads the results of a cluster over the partitions, while their "+
				"key stays the cluster id: for joins with articles set output.key: source, too")
	}
	// On the way to a broker on this machine there is nobody.
	away := func(broker string) bool { return !isLoopback(broker) }
	if c.Kafka.SASL.Mechanism == "plain" && !c.Kafka.TLS.Enabled &&
		slices.ContainsFunc(c.Kafka.Brokers, away) {
		all = append(all,
			"kafka.sasl.mechanism: plain shows the password to everybody on the way to the brokers: "+
				"set kafka.tls.enabled, or take scram-sha-512, which does not send it")
	}
	if c.Kafka.SASL.Mechanism == "oauthbearer" && !c.Kafka.TLS.Enabled &&
		slices.ContainsFunc(c.Kafka.Brokers, away) {
		all = append(all,
			"kafka.sasl.mechanism: oauthbearer shows the token to everybody on the way to the brokers: "+
				"set kafka.tls.enabled")
	}
	if u, err := url.Parse(c.Kafka.SASL.TokenURL); err == nil && u.Scheme == "http" &&
		!isLoopback(net.JoinHostPort(u.Hostname(), "80")) {
		all = append(all,
			"kafka.sasl.token_url: http shows client secret and token to everybody on the way: take https")
	}
	if c.Kafka.TLS.InsecureSkipVerify {
		all = append(all,
			"kafka.tls.insecure_skip_verify: whoever is on the way to the brokers can take their place, "+
				"read and write: "+
				"name the authority that signed their certificates in kafka.tls.ca_file")
	}
	if dir := filepath.ToSlash(c.State.Dir); dir == "/etc" || strings.HasPrefix(dir, "/etc/") {
		all = append(all, "state.dir: "+c.State.Dir+
			" is among configurations, where data grow that nobody expects and few may write: "+
			"a relative folder is relative to the configuration file; name one such as /var/lib/clusterd")
	}
	return all
}

// shortTexts is the largest input.max_bytes that says that texts are short, such as comments.
const shortTexts = 64 << 10

// qualityWarnings are those of settings that make clusters worse than they could be.
func (c Config) qualityWarnings() (all []string) {
	if c.Fingerprint.Method == "simhash" && c.Input.MaxBytes <= shortTexts {
		all = append(all,
			"fingerprint.method: simhash takes short texts for one another, which input.max_bytes says "+
				"that these are: of a thousand comments it puts 135 where they do not belong; take minhash, "+
				"as configs/comments.yaml does")
	}
	if c.Contacts.Limit != 0 {
		all = append(all,
			"contacts.limit: is ignored, and will be refused by the next release: no article joins a "+
				"cluster by a contact any more, and what a label reaches by a contact follows from the "+
				"clicks of moderators (docs/concepts/contacts.md); remove it")
	}
	if len(c.Text.Mask) > 0 && !c.Contacts.Join {
		all = append(all,
			"text.mask: what is masked no longer tells texts apart, and often it is all that a campaign "+
				"keeps: set contacts.join, too")
	}
	return all
}
