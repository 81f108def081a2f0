package value

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// AllHeaders stands for the headers of any name.
const AllHeaders = "*"

// maxLabelBytes is how long a label may be.
const maxLabelBytes = 64

// OptionalTopic returns the kind of names of Kafka topics; empty is none.
func OptionalTopic() Kind[string] { return text("", PlainText, unlessEmpty(checkTopic)) }

// Label returns the kind of names of labels.
func Label() Kind[string] { return text("", PlainText, checkLabel) }

// HeaderName returns the kind of names of a record's headers.
func HeaderName() Kind[string] { return text("", PlainText, notEmpty) }

// OptionalHeaderName returns the kind of names of HTTP headers; empty is none.
func OptionalHeaderName() Kind[string] { return text("", PlainText, unlessEmpty(checkHTTPHeader)) }

// HostName returns the kind of host names and addresses, without a port.
func HostName() Kind[string] { return text("", PlainText, checkHostName) }

// Origin returns the kind of origins of web pages.
func Origin() Kind[string] { return text("", PlainText, checkOrigin) }

// OptionalURL returns the kind of URLs of http and https, and of no text.
func OptionalURL() Kind[string] { return text("", PlainText, unlessEmpty(checkURL)) }

// Network returns the kind of addresses and networks in CIDR notation.
func Network() Kind[string] { return text("", PlainText, checkNetwork) }

// SizeOrNone returns the kind of sizes in bytes from low to high, and 0.
func SizeOrNone(low, high int) Kind[int] {
	k := Size(low, high)
	parse := k.parse
	k.allowed = "0, or " + k.allowed
	k.parse = func(s string) (int, error) {
		if s == "0" {
			return 0, nil
		}
		v, err := parse(s)
		if err != nil {
			err = fmt.Errorf("%w, or 0 for none", err)
		}
		return v, err
	}
	return k
}

func unlessEmpty(check func(string) error) func(string) error {
	return func(s string) error {
		if s == "" {
			return nil
		}
		return check(s)
	}
}

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
