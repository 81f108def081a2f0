package config

// This file holds the rules between keys. A rule is left out where one of its
// keys is wrong already, so that one mistake gives one error.

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/clusterd/clusterd/internal/config/table"
	"github.com/clusterd/clusterd/internal/method"
)

// rules are what must hold between the keys of a file.
type rules struct{ *table.File }

func (r rules) check(c *Config) {
	r.checkTLS(&c.Kafka.TLS)
	r.checkSASL(&c.Kafka.SASL)
	r.checkTopics(c)
	r.checkSecret(&c.Fingerprint)
	r.checkS3(&c.S3)
	r.checkIDF(&c.Fingerprint)
	r.checkSimilarity(c)
	r.checkLongSimilarity(&c.Cluster)
	r.checkContacts(&c.Contacts)
	r.checkLabels(c)
	r.checkStories(c)
	r.checkHTTP(&c.HTTP)
	r.checkScope(c)
}

func (r rules) checkTLS(c *TLS) {
	const enabled, cert, key = "kafka.tls.enabled", "kafka.tls.cert_file", "kafka.tls.key_file"
	if !c.Enabled && !r.Failed(enabled) {
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
				r.Report(r.Where(other.path), other.path, "", "is given while "+enabled+
					" is false: set that to true, or remove this")
			}
		}
	}
	r.checkPair(cert, c.CertFile, key, c.KeyFile)
	r.checkPair(key, c.KeyFile, cert, c.CertFile)
}

func (r rules) checkPair(path, text, other, otherText string) {
	if text != "" && otherText == "" && !r.Failed(other) && !r.Failed(path) {
		r.Report(r.Where(path), path, "", "is given without "+other+": give both or neither")
	}
}

// checkSASL holds what to authenticate with to the mechanism.
func (r rules) checkSASL(c *SASL) {
	const mechanism, url = "kafka.sasl.mechanism", "kafka.sasl.token_url"
	if r.Failed(mechanism) {
		return
	}
	words := c.Mechanism != "none" && c.Mechanism != "oauthbearer" && c.Mechanism != "aws-msk-iam"
	tokens := c.Mechanism == "oauthbearer"
	server := tokens && c.TokenURL != ""
	for _, credential := range []struct {
		path               string
		empty, used, needs bool
	}{
		{"kafka.sasl.username", c.Username == "", words, words},
		{"kafka.sasl.password", c.Password == "", words, words},
		{"kafka.sasl.token_file", c.TokenFile == "", tokens && !server, tokens && !server},
		{url, c.TokenURL == "", tokens, false},
		{"kafka.sasl.token_ca_file", c.TokenCAFile == "", server, false},
		{"kafka.sasl.client_id", c.ClientID == "", server, server},
		{"kafka.sasl.client_secret", c.ClientSecret == "", server, server},
		{"kafka.sasl.scope", c.Scope == "", server, false},
	} {
		switch path := credential.path; {
		case r.Failed(path), r.Failed(url):
		case credential.needs && credential.empty:
			r.Report(r.Where(path, mechanism), path, "", fmt.Sprintf("must not be empty while %s is %s%s",
				mechanism, c.Mechanism, map[bool]string{true: " and " + url + " is not given"}[tokens &&
					!server]))
		case !credential.used && !credential.empty && tokens && !server:
			r.Report(r.Where(path), path, "", "is given without "+url+": give that, or remove this")
		case !credential.used && !credential.empty && tokens && path == "kafka.sasl.token_file":
			r.Report(r.Where(path), path, "", "is given beside "+url+": give one of them")
		case !credential.used && !credential.empty:
			r.Report(r.Where(path), path, "", "is given while "+mechanism+" is "+c.Mechanism+
				": choose another mechanism, or remove this")
		}
	}
}

// checkTopics keeps the topics apart: reading what was written is a loop.
func (r rules) checkTopics(c *Config) {
	topics := []struct{ path, name string }{
		{"input.topic", c.Input.Topic},
		{"fingerprints.topic", c.Fingerprints.Topic},
		{"output.topic", c.Output.Topic},
		{"output.clusters_topic", c.Output.ClustersTopic},
		{"output.dead_letter_topic", c.Output.DeadLetterTopic},
		{"labels.topic", c.Labels.Topic},
		{"labels.corrections", c.Labels.Corrections},
		{"stories.topic", c.Stories.Topic},
	}
	for i, t := range topics {
		for _, earlier := range topics[:i] {
			if t.name == "" || t.name != earlier.name || r.Failed(t.path, earlier.path) {
				continue
			}
			blamed, other := t.path, earlier.path
			if _, given := r.Given(blamed); !given {
				blamed, other = other, blamed
			}
			r.Report(r.Where(blamed), blamed, t.name, "must differ from "+other)
		}
	}
}

// checkSecret keeps the hash that exists to make old fingerprints from being asked to make new
// ones.
func (r rules) checkSecret(c *method.FingerprintSettings) {
	const secret, hash = "fingerprint.secret", "fingerprint.hash"
	if c.Secret != "" && c.Hash == "sdbm-raw" && !r.Failed(secret, hash) {
		r.Report(r.Where(hash), hash, c.Hash, "is for matching old fingerprints, and none was made with "+
			secret+": choose another, or remove the secret")
	}
}

// checkIDF keeps a table from being given in vain.
func (r rules) checkIDF(c *method.FingerprintSettings) {
	const idf, weight = "fingerprint.idf", "fingerprint.weight"
	if c.IDF != "" && c.Weight != "tfidf" && !r.Failed(idf, weight) {
		r.Report(r.Where(idf), idf, "", "is given while "+weight+" is "+c.Weight+
			": set that to tfidf, or remove this")
	}
}

// checkSimilarity keeps a similarity from being given in vain.
func (r rules) checkSimilarity(c *Config) {
	const similarity, name = "cluster.similarity", "fingerprint.method"
	inVain := !slices.Contains(method.Using(similarity), c.Fingerprint.Method)
	if inVain && c.Cluster.Similarity != 0 && !r.Failed(similarity, name) {
		r.Report(r.Where(similarity), similarity, "", "is given while "+name+" is "+c.Fingerprint.Method+
			", which knows none: remove this, or choose another method")
	}
}

// checkContacts keeps contacts from being listed in vain.
func (r rules) checkContacts(c *method.ContactSettings) {
	const join, ignore, regions = "contacts.join", "contacts.ignore", "contacts.regions"
	inVain := func(key string, given []string) {
		if !c.Join && len(given) > 0 && !r.Failed(join, key) {
			r.Report(r.Where(key), key, "", "is given while "+join+
				" is false: set that to true, or remove this")
		}
	}
	inVain(ignore, c.Ignore)
	inVain(regions, c.Regions)
}

// checkLabels keeps corrections from being asked for where nothing could write them.
func (r rules) checkLabels(c *Config) {
	const topic, corrections, bytes = "labels.topic", "labels.corrections", "serve.bytes"
	if c.Labels.Corrections == "" || r.Failed(topic, corrections, bytes) {
		return
	}
	if c.Labels.Topic == "" {
		r.Report(r.Where(corrections), corrections, "", "is given while "+topic+
			" is empty: name the topic of labels, or remove this")
	}
	if c.Serve.Bytes == 0 {
		r.Report(r.Where(corrections), corrections, "", "is given while "+bytes+
			" is 0: the earlier articles of a cluster are found in the view of results; give it some "+
			"bytes, such as 4GiB, or remove this")
	}
}

// checkLongSimilarity keeps a minimum for long texts from being below that for all.
func (r rules) checkLongSimilarity(c *Cluster) {
	const long, similarity = "cluster.long_similarity", "cluster.similarity"
	if c.LongSimilarity > 0 && c.LongSimilarity < c.Similarity && !r.Failed(long, similarity) {
		r.Report(r.Where(long), long, strconv.FormatFloat(c.LongSimilarity, 'g', -1, 64), fmt.Sprintf(
			"is below %s, %v, and has no effect: raise it, or remove this", similarity, c.Similarity))
	}
}

// checkScope has a field given where articles are divided by one, and only there.
func (r rules) checkScope(c *Config) {
	const scope, field = "cluster.scope", "cluster.scope_field"
	if r.Failed(scope, field) {
		return
	}
	_, header := strings.CutPrefix(c.Cluster.ScopeField, "header:")
	switch divided := c.Cluster.Scope == ByField; {
	case divided && c.Cluster.ScopeField == "":
		r.Report(r.Where(field, scope), field, "", "must not be empty while "+scope+" is "+ByField+
			": name the field of articles, such as language, or a header, such as header:tenant")
	case divided && !header && c.Input.Format == "text":
		r.Report(r.Where(field), field, "", "is a field while input.format is text, which has none: "+
			"name a header, such as header:tenant")
	case !divided && c.Cluster.ScopeField != "":
		r.Report(r.Where(field), field, "", "is given while "+scope+" is "+c.Cluster.Scope+
			": set that to "+ByField+", or remove this")
	}
}
