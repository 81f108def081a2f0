package value

import (
	"errors"
	"fmt"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clusterd/clusterd/internal/secret/redacted"
	"github.com/clusterd/clusterd/internal/simhash/keyedhash"
	"github.com/clusterd/clusterd/internal/text/charset"
)

var errEmpty = errors.New("must not be empty")

// text returns the kind of strings that pass check.
func text(allowed string, t Trait, check func(string) error) Kind[string] {
	k := textOf[string](allowed, check)
	k.trait = t
	return k
}

func textOf[T ~string](allowed string, check func(string) error) Kind[T] {
	return Kind[T]{
		allowed: allowed,
		parse:   func(s string) (T, error) { return T(s), check(s) },
		format:  func(v T) string { return string(v) },
	}
}

// AnyText returns the kind of any string.
func AnyText() Kind[string] { return text("", PlainText, accept) }

// Required returns the kind of strings that are more than white space.
func Required() Kind[string] { return text("", PlainText, notEmpty) }

// OptionalFile returns the kind of names of files that exist; empty is none.
func OptionalFile() Kind[string] { return text("", FileName, accept) }

// RequiredFile returns the kind of names of files that exist.
func RequiredFile() Kind[string] { return text("", FileName, notEmpty) }

// Topic returns the kind of names of Kafka topics.
func Topic() Kind[string] { return text("", PlainText, checkTopic) }

// FieldPath returns the kind of dotted paths within a JSON object.
func FieldPath() Kind[string] { return text("", PlainText, checkFieldPath) }

// ScopeField returns the kind of dotted paths, and of headers as header:NAME; empty is none.
func ScopeField() Kind[string] {
	return text("a dotted path, or header:NAME", PlainText, checkScopeField)
}

// HostPort returns the kind of addresses to connect to.
func HostPort() Kind[string] { return text("each host:port", PlainText, checkHostPort) }

// ListenAddress returns the kind of addresses to listen on; empty is none.
func ListenAddress() Kind[string] { return text("host:port, or empty", PlainText, checkListen) }

// Password returns the kind of any secret.
func Password() Kind[redacted.Text] {
	return Kind[redacted.Text]{
		trait:  Secret,
		parse:  func(s string) (redacted.Text, error) { return redacted.Text(s), nil },
		format: redacted.Text.String,
	}
}

// BearerToken returns the kind of secrets that a header Authorization can carry.
func BearerToken() Kind[redacted.Text] {
	k := Password()
	k.parse = func(s string) (redacted.Text, error) { return redacted.Text(s), checkToken(s) }
	return k
}

// HashSecret returns the kind of secrets that hashes are keyed with; empty is none. Its error
// leaves out how long the text is: that is nobody's business.
func HashSecret() Kind[redacted.Text] {
	k := Password()
	k.parse = func(s string) (redacted.Text, error) {
		if s != "" && len(s) < keyedhash.LeastBytes {
			return "", fmt.Errorf(
				"must have at least %d bytes, made at random, such as `openssl rand -hex 32` prints",
				keyedhash.LeastBytes)
		}
		return redacted.Text(s), nil
	}
	return k
}

func accept(string) error { return nil }

func notEmpty(s string) error {
	if strings.TrimSpace(s) == "" {
		return errEmpty
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

// OneOf returns the kind of texts that are one of the words.
func OneOf[T ~string](words ...T) Kind[T] {
	names := make([]string, len(words))
	for i, w := range words {
		names[i] = string(w)
	}
	allowed := strings.Join(names, ", ")
	k := textOf[T](allowed, func(s string) error {
		switch {
		case slices.Contains(names, s):
			return nil
		case len(names) == 1:
			return fmt.Errorf("must be %s", allowed)
		default:
			return fmt.Errorf("must be one of %s", allowed)
		}
	})
	k.words = names
	return k
}

// Listed returns the kind of texts that are on a list that is too long to show; what says what they
// are.
func Listed(what string, words []string) Kind[string] {
	k := text(what, PlainText, func(s string) error {
		if !slices.Contains(words, s) {
			return errors.New("must be " + what)
		}
		return nil
	})
	k.words = words
	return k
}

// Encoding returns the kind of names of character encodings, each kept by its standard name.
func Encoding() Kind[string] {
	return Kind[string]{
		allowed: charset.Common + ", ...",
		words:   strings.Split(charset.Common, ", "),
		format:  func(v string) string { return v },
		parse: func(s string) (string, error) {
			e, err := charset.Get(s)
			if err != nil {
				return "", err
			}
			return e.String(), nil
		},
	}
}

// Boolean returns the kind of true and false.
func Boolean() Kind[bool] {
	return Kind[bool]{
		allowed: "true, false",
		words:   []string{"true", "false"},
		format:  strconv.FormatBool,
		parse: func(s string) (bool, error) {
			if s != "true" && s != "false" {
				return false, errors.New("must be true or false")
			}
			return s == "true", nil
		},
	}
}

// Version returns the kind of what is off, on, or on as an earlier version of it was. false is 0,
// true the latest version, and an earlier one is its number.
func Version(latest int) Kind[int] {
	words := []string{"true", "false"}
	for v := 1; v < latest; v++ {
		words = append(words, strconv.Itoa(v))
	}
	k := OneOf[string](words...)
	return Kind[int]{
		allowed: k.allowed,
		words:   words,
		format: func(v int) string {
			switch v {
			case 0:
				return "false"
			case latest:
				return "true"
			}
			return strconv.Itoa(v)
		},
		parse: func(s string) (int, error) {
			switch _, err := k.parse(s); {
			case err != nil || s == "false":
				return 0, err
			case s == "true":
				return latest, nil
			}
			return strconv.Atoi(s)
		},
	}
}

// Integer returns the kind of whole numbers from low to high.
func Integer(low, high int) Kind[int] {
	return ranged(low, high, "a whole number", strconv.Itoa, strconv.Atoi)
}

// Size returns the kind of sizes in bytes from low to high.
func Size(low, high int) Kind[int] {
	return ranged(low, high, "a size such as 4MiB or 512KiB", FormatSize, parseSize)
}

// SizeOrAuto returns the kind of sizes from low to high; 0 is the word auto.
func SizeOrAuto(low, high int) Kind[int] {
	return orAuto(ranged(low, high, "auto or a size such as 4GiB or 512MiB", FormatSize, parseSize))
}

// Share returns the kind of fractions from low to high.
func Share(low, high float64) Kind[float64] {
	return ranged(low, high, "a share such as 0.8", formatShare, parseShare)
}

// ShareOrAuto returns the kind of fractions from low to high; 0 is the word auto.
func ShareOrAuto(low, high float64) Kind[float64] {
	return orAuto(ranged(low, high, "auto or a share such as 0.8", formatShare, parseShare))
}

func formatShare(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func parseShare(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err == nil && math.IsNaN(v) {
		err = errors.New("not a number")
	}
	return v, err
}

// orAuto returns a kind that writes 0 as the word auto.
func orAuto[T int | float64](k Kind[T]) Kind[T] {
	return Kind[T]{
		allowed: "auto, or " + k.allowed,
		words:   []string{"auto"},
		format: func(v T) string {
			if v == 0 {
				return "auto"
			}
			return k.format(v)
		},
		parse: func(s string) (T, error) {
			if s == "auto" {
				return 0, nil
			}
			return k.parse(s)
		},
	}
}

// Duration returns the kind of durations from low to high.
func Duration(low, high time.Duration) Kind[time.Duration] {
	return ranged(low, high, "a duration such as 20ms, 1h30m or 7d", formatDuration, parseDuration)
}

// ranged returns the kind of quantities from low to high; what names them.
func ranged[T int | float64 | time.Duration](
	low, high T, what string, format func(T) string, parse func(string) (T, error),
) Kind[T] {
	limits := fmt.Sprintf("between %s and %s", format(low), format(high))
	allowed := fmt.Sprintf("%s to %s", format(low), format(high))
	if any(high) == any(time.Duration(math.MaxInt64)) || any(high) == any(math.MaxInt) {
		limits, allowed = format(low)+" or more", format(low)+" or more"
	}
	return Kind[T]{
		allowed: allowed,
		format:  format,
		parse: func(s string) (T, error) {
			v, err := parse(s)
			switch {
			case s == "":
				return 0, errEmpty
			case err != nil:
				return 0, fmt.Errorf("must be %s, %s", what, limits)
			case v < low || v > high:
				return 0, fmt.Errorf("must be %s", limits)
			}
			return v, nil
		},
	}
}
