package config

// This file holds the rules between keys. A rule is left out where one of its
// keys is wrong already, so that one mistake gives one error.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clusterd/clusterd/internal/method"
)

func (d *decoder) check(c *Config) {
	d.checkTLS(&c.Kafka.TLS)
	d.checkSASL(&c.Kafka.SASL)
	d.checkTopics(c)
	d.checkSecret(&c.Fingerprint)
	d.checkS3(&c.S3)
	d.checkEffect(c)
	d.checkLabels(c)
	d.checkStories(c)
	d.checkHTTP(&c.HTTP)
	d.checkScope(c)
}

// blame reports a mistake of the key at path, which contradicts the others. If one of them is wrong
// already, blame does nothing: one mistake gives one error.
func (d *decoder) blame(path, text, problem string, others ...string) {
	if !d.hasFailed(path) && !d.hasFailed(others...) {
		d.report(d.where(append([]string{path}, others...)...), path, text, problem)
	}
}

func (d *decoder) checkTLS(c *TLS) {
	const enabled, cert, key = "kafka.tls.enabled", "kafka.tls.cert_file", "kafka.tls.key_file"
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
		if !c.Enabled && other.set {
			d.blame(other.path, "", "is given while "+enabled+
				" is false: set that to true, or remove this", enabled)
		}
	}
	d.checkPair(cert, c.CertFile, key, c.KeyFile)
	d.checkPair(key, c.KeyFile, cert, c.CertFile)
}

func (d *decoder) checkPair(path, text, other, otherText string) {
	if text != "" && otherText == "" {
		d.blame(path, "", "is given without "+other+": give both or neither", other)
	}
}

// checkSASL holds what to authenticate with to the mechanism.
func (d *decoder) checkSASL(c *SASL) {
	const mechanism, url = "kafka.sasl.mechanism", "kafka.sasl.token_url"
	if d.hasFailed(mechanism) {
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
		case d.hasFailed(path), d.hasFailed(url):
		case credential.needs && credential.empty:
			d.report(d.where(path, mechanism), path, "", fmt.Sprintf("must not be empty while %s is %s%s",
				mechanism, c.Mechanism, map[bool]string{true: " and " + url + " is not given"}[tokens &&
					!server]))
		case !credential.used && !credential.empty && tokens && !server:
			d.report(d.where(path), path, "", "is given without "+url+": give that, or remove this")
		case !credential.used && !credential.empty && tokens && path == "kafka.sasl.token_file":
			d.report(d.where(path), path, "", "is given beside "+url+": give one of them")
		case !credential.used && !credential.empty:
			d.report(d.where(path), path, "", "is given while "+mechanism+" is "+c.Mechanism+
				": choose another mechanism, or remove this")
		}
	}
}

// checkTopics keeps the topics apart: reading what was written is a loop.
func (d *decoder) checkTopics(c *Config) {
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
			if t.name == "" || t.name != earlier.name || d.hasFailed(t.path, earlier.path) {
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

// checkSecret keeps the hash that exists to make old fingerprints from being asked to make new
// ones.
func (d *decoder) checkSecret(c *method.FingerprintSettings) {
	const secret = "fingerprint.secret"
	if c.Secret != "" && c.Hash == "sdbm-raw" {
		d.blame("fingerprint.hash", c.Hash, "is for matching old fingerprints, and none was made with "+
			secret+": choose another, or remove the secret", secret)
	}
}

// checkEffect reports settings that another setting leaves without effect.
func (d *decoder) checkEffect(c *Config) {
	const weight, name, similarity = "fingerprint.weight", "fingerprint.method", "cluster.similarity"
	if c.Fingerprint.IDF != "" && c.Fingerprint.Weight != "tfidf" {
		d.blame("fingerprint.idf", "", "is given while "+weight+" is "+c.Fingerprint.Weight+
			": set that to tfidf, or remove this", weight)
	}
	if c.Cluster.Similarity != 0 &&
		!slices.Contains(method.Using(similarity), c.Fingerprint.Method) {
		d.blame(similarity, "", "is given while "+name+" is "+c.Fingerprint.Method+
			", which knows none: remove this, or choose another method", name)
	}
	if long := c.Cluster.LongSimilarity; long > 0 && long < c.Cluster.Similarity {
		d.blame("cluster.long_similarity", formatShare(long), fmt.Sprintf(
			"is below %s, %v, and has no effect: raise it, or remove this", similarity,
			c.Cluster.Similarity), similarity)
	}
	const join = "contacts.join"
	const problem = "is given while " + join + " is false: set that to true, or remove this"
	if !c.Contacts.Join && len(c.Contacts.Ignore) > 0 {
		d.blame("contacts.ignore", "", problem, join)
	}
	if !c.Contacts.Join && len(c.Contacts.Regions) > 0 {
		d.blame("contacts.regions", "", problem, join)
	}
}

// checkLabels keeps corrections from being asked for where nothing could write them.
func (d *decoder) checkLabels(c *Config) {
	const topic, corrections, bytes = "labels.topic", "labels.corrections", "serve.bytes"
	if c.Labels.Corrections == "" || d.hasFailed(topic, corrections, bytes) {
		return
	}
	if c.Labels.Topic == "" {
		d.report(d.where(corrections), corrections, "", "is given while "+topic+
			" is empty: name the topic of labels, or remove this")
	}
	if c.Serve.Bytes == 0 {
		d.report(d.where(corrections), corrections, "", "is given while "+bytes+
			" is 0: the earlier articles of a cluster are found in the view of results; give it some "+
			"bytes, such as 4GiB, or remove this")
	}
}

// checkScope has a field given where articles are divided by one, and only there.
func (d *decoder) checkScope(c *Config) {
	const scope, field = "cluster.scope", "cluster.scope_field"
	header := strings.HasPrefix(c.Cluster.ScopeField, "header:")
	switch divided := c.Cluster.Scope == ByField; {
	case divided && c.Cluster.ScopeField == "":
		d.blame(field, "", "must not be empty while "+scope+" is "+ByField+
			": name the field of articles, such as language, or a header, such as header:tenant", scope)
	case divided && !header && c.Input.Format == "text":
		d.blame(field, "", "is a field while input.format is text, which has none: "+
			"name a header, such as header:tenant", scope)
	case !divided && c.Cluster.ScopeField != "":
		d.blame(field, "", "is given while "+scope+" is "+c.Cluster.Scope+
			": set that to "+ByField+", or remove this", scope)
	}
}

// checkStories has the story of a live cluster live, and keeps values of a field, which are not
// compared, from sharing stories.
func (d *decoder) checkStories(c *Config) {
	const topic, window, scope = "stories.topic", "stories.window", "cluster.scope"
	if c.Stories.Topic == "" || d.hasFailed(topic, window, scope) {
		return
	}
	if c.Cluster.Scope == ByField {
		d.report(d.where(topic), topic, c.Stories.Topic, "is given while "+scope+" is "+ByField+
			": stories are for the scopes topic and partition; remove this")
	}
	const shortest = "cluster.window"
	if c.Stories.Window > 0 && !d.hasFailed(shortest) &&
		(c.Cluster.Window == 0 || c.Cluster.Window > c.Stories.Window) {
		d.report(d.where(window, topic), window, "", "is shorter than "+shortest+", so that clusters "+
			"would outlive their stories: make it as long, or 0")
	}
}

// checkS3 wants both credentials or none.
func (d *decoder) checkS3(c *S3) {
	const id, secret = "s3.access_key", "s3.secret_key"
	switch {
	case c.AccessKey == "" && c.SecretKey != "":
		d.blame(id, "", "must not be empty where "+secret+" is given", secret)
	case c.AccessKey != "" && c.SecretKey == "":
		d.blame(secret, "", "must not be empty where "+id+" is given", id)
	}
}
