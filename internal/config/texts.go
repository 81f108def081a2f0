package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clusterd/clusterd/internal/simhash/keyedhash"
)

var errEmpty = errors.New("must not be empty")

// texts has the kinds of texts by their names in tags.
var texts = map[string]struct {
	allowed string
	file    bool
	check   func(string) error
}{
	"":              {check: accept},
	"required":      {check: notEmpty},
	"file":          {check: accept, file: true},
	"needed_file":   {check: notEmpty, file: true},
	"topic":         {check: checkTopic},
	"topic_or_none": {check: unlessEmpty(checkTopic)},
	"path":          {check: checkFieldPath},
	"scope_field":   {check: checkScopeField, allowed: "a dotted path, or header:NAME"},
	"label":         {check: checkLabel},
	"broker":        {check: checkHostPort, allowed: "each host:port"},
	"listen":        {check: checkListen, allowed: "host:port, or empty"},
	"host":          {check: checkHostName},
	"origin":        {check: checkOrigin},
	"network":       {check: checkNetwork},
	"url":           {check: unlessEmpty(checkURL)},
	"header":        {check: unlessEmpty(checkHTTPHeader)},
	"bearer":        {check: checkToken},
	"hash_secret":   {check: checkHashSecret},
}

func accept(string) error { return nil }

func notEmpty(s string) error {
	if strings.TrimSpace(s) == "" {
		return errEmpty
	}
	return nil
}

func unlessEmpty(check func(string) error) func(string) error {
	return func(s string) error {
		if s == "" {
			return nil
		}
		return check(s)
	}
}

// checkHashSecret leaves out how long the text is: that is nobody's business.
func checkHashSecret(s string) error {
	if s != "" && len(s) < keyedhash.LeastBytes {
		return fmt.Errorf(
			"must have at least %d bytes, made at random, such as `openssl rand -hex 32` prints",
			keyedhash.LeastBytes)
	}
	return nil
}

// checkTopic holds a name to org.apache.kafka.common.internals.Topic.validate.
func checkTopic(s string) error {
	switch {
	case s == "":
		return errEmpty
	case s == "." || s == "..":
		return errors.New("must be more than dots, to be a topic's name")
	case len(s) > 249:
		return fmt.Errorf("must be at most 249 characters to be a topic's name, not %d", len(s))
	case strings.ContainsFunc(s, notTopicRune):
		return errors.New("must be of a-z, A-Z, 0-9, '.', '_' and '-' only, to be a topic's name")
	}
	return nil
}

func notTopicRune(r rune) bool {
	alphanumeric := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	return !alphanumeric && r != '.' && r != '_' && r != '-'
}

func checkFieldPath(s string) error {
	if s == "" {
		return errEmpty
	}
	if slices.Contains(strings.Split(s, "."), "") {
		return errors.New("must be names joined by single dots, such as meta.title")
	}
	return nil
}

func checkScopeField(s string) error {
	name, header := strings.CutPrefix(s, "header:")
	switch {
	case s == "":
		return nil
	case header && name == "":
		return errors.New("must name a header behind header:, such as header:tenant")
	case header:
		return nil
	}
	return checkFieldPath(s)
}

func checkHostPort(s string) error {
	host, port, err := net.SplitHostPort(s)
	if err != nil || host == "" || strings.ContainsAny(host, " \t\r\n/,@") {
		return errors.New("must be host:port, such as kafka-1:9092 or [::1]:9092")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return errors.New("must be host:port with a port between 1 and 65535")
	}
	return nil
}

// checkListen takes, beside what brokers have, no host for every interface.
func checkListen(s string) error {
	if s == "" {
		return nil
	}
	if strings.HasPrefix(s, ":") {
		s = "0.0.0.0" + s
	}
	if checkHostPort(s) != nil {
		return errors.New(
			`must be host:port, such as 127.0.0.1:8080 or :8080, with a port between 1 and 65535, or "" for nowhere`)
	}
	return nil
}

// checkToken holds a token to what the header Authorization can carry.
func checkToken(s string) error {
	if strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("must be of visible ASCII characters only, without spaces, to go into a header")
	}
	return nil
}

// maxLabelBytes is how long a label may be.
const maxLabelBytes = 64

// checkLabel returns an error for a text that is no label.
func checkLabel(s string) error {
	switch {
	case s == "":
		return errEmpty
	case len(s) > maxLabelBytes:
		return fmt.Errorf("must be at most %d bytes to be a label, not %d", maxLabelBytes, len(s))
	case !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl):
		return errors.New("must be UTF-8 without control characters, to be a label")
	case strings.TrimSpace(s) != s || strings.Contains(s, ","):
		return errors.New("must have neither a comma nor white space around it, to be a label")
	}
	return nil
}

func checkHTTPHeader(s string) error {
	notToken := func(r rune) bool {
		alphanumeric := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !alphanumeric && r != '-' && r != '_'
	}
	if strings.ContainsFunc(s, notToken) {
		return errors.New("must be of a-z, A-Z, 0-9, '-' and '_' only, to be a header's name")
	}
	return nil
}

func checkHostName(s string) error {
	if s == "" {
		return errEmpty
	}
	if _, err := netip.ParseAddr(s); err == nil {
		return nil
	}
	if strings.ContainsAny(s, " \t\r\n/,@:[]*") {
		return errors.New("must be a host's name without a port, such as clusterd.example.com")
	}
	return nil
}

func checkOrigin(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" ||
		s != u.Scheme+"://"+u.Host {
		return errors.New("must be scheme://host or scheme://host:port, such as https://desk.example.com")
	}
	return nil
}

func checkURL(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil ||
		u.RawQuery != "" || u.Fragment != "" {
		return errors.New("must be a URL such as http://127.0.0.1:4318")
	}
	return nil
}

func checkNetwork(s string) error {
	if _, err := netip.ParseAddr(s); err == nil {
		return nil
	}
	if _, err := netip.ParsePrefix(s); err == nil {
		return nil
	}
	return errors.New("must be an address or a network, such as 10.1.2.3 or 10.0.0.0/8")
}
