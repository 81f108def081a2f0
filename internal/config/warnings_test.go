package config

import (
	"strings"
	"testing"
)

func TestWarnings(t *testing.T) {
	const sasl = "sasl: {mechanism: %, username: u, password: hunter2}"
	plain, scram := strings.Replace(sasl, "%", "plain", 1),
		strings.Replace(sasl, "%", "scram-sha-512", 1)
	for _, test := range []struct{ name, yaml, want string }{
		{"nothing", "state: {dir: /var/lib/clusterd}", ""},
		{"raw hash", "fingerprint: {hash: sdbm-raw}\nstate: {dir: /x}", "fingerprint.hash"},
		{
			"raw hash of a method without it",
			"fingerprint: {hash: sdbm-raw, method: exact}\nstate: {dir: /x}", "",
		},
		{
			"plain without TLS", "kafka: {brokers: ['k:1'], " + plain + "}\nstate: {dir: /x}",
			"kafka.sasl.mechanism",
		},
		{"plain without TLS, one broker elsewhere", "kafka: {brokers: ['127.0.0.1:1', 'k:1'], " + plain +
			"}\nstate: {dir: /x}", "kafka.sasl.mechanism"},
		{"plain on this machine", "kafka: {brokers: ['127.0.0.1:1', '[::1]:2', 'localhost:3'], " + plain +
			"}\nstate: {dir: /x}", ""},
		{"plain to a name like localhost", "kafka: {brokers: ['localhost.example.org:3'], " + plain +
			"}\nstate: {dir: /x}", "kafka.sasl.mechanism"},
		{"plain with TLS", "kafka: {brokers: ['k:1'], tls: {enabled: true}, " + plain +
			"}\nstate: {dir: /x}", ""},
		{"scram without TLS", "kafka: {brokers: ['k:1'], " + scram + "}\nstate: {dir: /x}", ""},
		{
			"any certificate", "kafka: {tls: {enabled: true, insecure_skip_verify: true}}\nstate: {dir: /x}",
			"kafka.tls.insecure_skip_verify",
		},
		{
			"the limit of joins by contacts, as its default was",
			"contacts: {limit: 1000}\nstate: {dir: /x}",
			"contacts.limit: is ignored",
		},
		{"short texts by simhash", "input: {max_bytes: 64KiB}\nstate: {dir: /x}", "fingerprint.method"},
		{
			"short texts by minhash",
			"input: {max_bytes: 64KiB}\nfingerprint: {method: minhash}\nstate: {dir: /x}", "",
		},
		{"longer texts by simhash", "input: {max_bytes: 65KiB}\nstate: {dir: /x}", ""},
		{"masks alone", "text: {mask: [numbers]}\nstate: {dir: /x}", "text.mask"},
		{
			"masks beside contacts", "text: {mask: [numbers]}\ncontacts: {join: true}\nstate: {dir: /x}", "",
		},
		{"results by source", "output: {key: source, partition: source}\nstate: {dir: /x}", ""},
		{"clusters by source", "output: {partition: source}\nstate: {dir: /x}", "output.partition"},
		{"a token on this machine", "http: {token: hunter2}\nstate: {dir: /x}", ""},
		{
			"a token in plain text", "http: {listen: ':1', token: 0123456789abcdef}\nstate: {dir: /x}",
			"http.listen",
		},
		{
			"tokens in plain text", "http: {listen: ':1', tokens_file: password.txt}\nstate: {dir: /x}",
			"http.listen",
		},
		{"tokens by TLS", "http: {listen: ':1', tokens_file: password.txt, tls: {cert_file: " +
			"password.txt, key_file: password.txt}}\nstate: {dir: /x}", ""},
		{"tokens behind a proxy", "http: {listen: ':1', tokens_file: password.txt, trusted_proxies: " +
			"[10.0.0.1]}\nstate: {dir: /x}", ""},
		{"tokens nowhere", "http: {listen: '', tokens_file: password.txt}\nstate: {dir: /x}", ""},
		{
			"a proxy that says nobody", "http: {trusted_proxies: [127.0.0.1]}\nstate: {dir: /x}",
			"http.trusted_proxies",
		},
		{"a proxy that says who", "http: {trusted_proxies: [127.0.0.1], user_header: X-User}\n" +
			"state: {dir: /x}", ""},
		{"state beside a configuration in /etc", "", "state.dir: /etc/clusterd/clusterd-data"},
		{"state in /etc", "state: {dir: ..}", "state.dir: /etc is"},
		{"state of a like name", "state: {dir: /etcetera/clusterd}", ""},
		{"state beside it but elsewhere", "state: {dir: ../../var/lib/clusterd}", ""},
	} {
		c, err := parse(test.yaml)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		got := c.Warnings()
		if len(got) > 1 || (len(got) == 1) != (test.want != "") || len(got) == 1 &&
			(!strings.HasPrefix(got[0], test.want) || strings.Contains(got[0], "hunter2")) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}
