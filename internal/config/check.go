package config

// This file holds the rules between keys. A rule is left out where one of its
// keys is wrong already, so that one mistake gives one error.

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/clusterd/clusterd/internal/method"
)

func (d *decoder) check(c *Config) {
	d.checkTLS(&c.Kafka.TLS)
	d.checkSASL(&c.Kafka.SASL)
	d.checkTopics(c)
	d.checkSecret(&c.Fingerprint)
	d.checkS3(&c.S3)
	d.checkIDF(&c.Fingerprint)
	d.checkSimilarity(c)
	d.checkLongSimilarity(&c.Cluster)
	d.checkContacts(&c.Contacts)
	d.checkLabels(c)
	d.checkStories(c)
	d.checkHTTP(&c.HTTP)
	d.checkScope(c)
}

func (d *decoder) checkTLS(c *TLS) {
	const enabled, cert, key = "kafka.tls.enabled", "kafka.tls.cert_file", "kafka.tls.key_file"
	if !c.Enabled && !d.hasFailed(enabled) {
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
				d.report(d.where(other.path), other.path, "", "is given while "+enabled+
					" is false: set that to true, or remove this")
			}
		}
	}
	d.checkPair(cert, c.CertFile, key, c.KeyFile)
	d.checkPair(key, c.KeyFile, cert, c.CertFile)
}

func (d *decoder) checkPair(path, text, other, otherText string) {
	if text != "" && otherText == "" && !d.hasFailed(other) && !d.hasFailed(path) {
		d.report(d.where(path), path, "", "is given without "+other+": give both or neither")
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
	const secret, hash = "fingerprint.secret", "fingerprint.hash"
	if c.Secret != "" && c.Hash == "sdbm-raw" && !d.hasFailed(secret, hash) {
		d.report(d.where(hash), hash, c.Hash, "is for matching old fingerprints, and none was made with "+
			secret+": choose another, or remove the secret")
	}
}

// checkIDF keeps a table from being given in vain.
func (d *decoder) checkIDF(c *method.FingerprintSettings) {
	const idf, weight = "fingerprint.idf", "fingerprint.weight"
	if c.IDF != "" && c.Weight != "tfidf" && !d.hasFailed(idf, weight) {
		d.report(d.where(idf), idf, "", "is given while "+weight+" is "+c.Weight+
			": set that to tfidf, or remove this")
	}
}

// checkSimilarity keeps a similarity from being given in vain.
func (d *decoder) checkSimilarity(c *Config) {
	const similarity, name = "cluster.similarity", "fingerprint.method"
	inVain := !slices.Contains(method.Using(similarity), c.Fingerprint.Method)
	if inVain && c.Cluster.Similarity != 0 && !d.hasFailed(similarity, name) {
		d.report(d.where(similarity), similarity, "", "is given while "+name+" is "+c.Fingerprint.Method+
			", which knows none: remove this, or choose another method")
	}
}

// checkContacts keeps contacts from being listed in vain.
func (d *decoder) checkContacts(c *method.ContactSettings) {
	const join, ignore, regions = "contacts.join", "contacts.ignore", "contacts.regions"
	inVain := func(key string, given []string) {
		if !c.Join && len(given) > 0 && !d.hasFailed(join, key) {
			d.report(d.where(key), key, "", "is given while "+join+
				" is false: set that to true, or remove this")
		}
	}
	inVain(ignore, c.Ignore)
	inVain(regions, c.Regions)
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

// checkLongSimilarity keeps a minimum for long texts from being below that for all.
func (d *decoder) checkLongSimilarity(c *Cluster) {
	const long, similarity = "cluster.long_similarity", "cluster.similarity"
	if c.LongSimilarity > 0 && c.LongSimilarity < c.Similarity && !d.hasFailed(long, similarity) {
		d.report(d.where(long), long, strconv.FormatFloat(c.LongSimilarity, 'g', -1, 64), fmt.Sprintf(
			"is below %s, %v, and has no effect: raise it, or remove this", similarity, c.Similarity))
	}
}

// checkScope has a field given where articles are divided by one, and only there.
func (d *decoder) checkScope(c *Config) {
	const scope, field = "cluster.scope", "cluster.scope_field"
	if d.hasFailed(scope, field) {
		return
	}
	_, header := strings.CutPrefix(c.Cluster.ScopeField, "header:")
	switch divided := c.Cluster.Scope == ByField; {
	case divided && c.Cluster.ScopeField == "":
		d.report(d.where(field, scope), field, "", "must not be empty while "+scope+" is "+ByField+
			": name the field of articles, such as language, or a header, such as header:tenant")
	case divided && !header && c.Input.Format == "text":
		d.report(d.where(field), field, "", "is a field while input.format is text, which has none: "+
			"name a header, such as header:tenant")
	case !divided && c.Cluster.ScopeField != "":
		d.report(d.where(field), field, "", "is given while "+scope+" is "+c.Cluster.Scope+
			": set that to "+ByField+", or remove this")
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
	case d.hasFailed(id), d.hasFailed(secret), (c.AccessKey == "") == (c.SecretKey == ""):
	case c.AccessKey == "":
		d.report(d.where(id, secret), id, "", "must not be empty where "+secret+" is given")
	default:
		d.report(d.where(secret, id), secret, "", "must not be empty where "+id+" is given")
	}
}
