package config

import (
	"errors"
	"fmt"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clusterd/clusterd/internal/charset"
	"github.com/clusterd/clusterd/internal/method/keyedhash"
)

var errEmpty = errors.New("must not be empty")

// text is the kind of strings that pass check.
func text(allowed string, t trait, check func(string) error) kind[string] {
	k := textOf[string](allowed, check)
	k.trait = t
	return k
}

func textOf[T ~string](allowed string, check func(string) error) kind[T] {
	return kind[T]{
		allowed: allowed,
		parse:   func(s string) (T, error) { return T(s), check(s) },
		format:  func(v T) string { return string(v) },
	}
}

func anyText() kind[string]      { return text("", plainText, accept) }
func required() kind[string]     { return text("", plainText, notEmpty) }
func optionalFile() kind[string] { return text("", fileName, accept) }
func requiredFile() kind[string] { return text("", fileName, notEmpty) }
func topic() kind[string]        { return text("", plainText, checkTopic) }
func fieldPath() kind[string]    { return text("", plainText, checkFieldPath) }
func hostPort() kind[string]     { return text("each host:port", plainText, checkHostPort) }

func listenAddress() kind[string] { return text("host:port, or empty", plainText, checkListen) }

func password() kind[Secret] {
	return kind[Secret]{
		trait:  secret,
		parse:  func(s string) (Secret, error) { return Secret(s), nil },
		format: Secret.String,
	}
}

func bearerToken() kind[Secret] {
	k := password()
	k.parse = func(s string) (Secret, error) { return Secret(s), checkToken(s) }
	return k
}

// hashSecret leaves the length out of what it says: it is nobody's business.
func hashSecret() kind[Secret] {
	k := password()
	k.parse = func(s string) (Secret, error) {
		if s != "" && len(s) < keyedhash.LeastBytes {
			return "", fmt.Errorf("must have at least %d bytes, made at random, such as `openssl rand -hex 32` prints", keyedhash.LeastBytes)
		}
		return Secret(s), nil
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
		return errors.New(`must be host:port, such as 127.0.0.1:8080 or :8080, with a port between 1 and 65535, or "" for nowhere`)
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

func oneOf[T ~string](words ...T) kind[T] {
	names := make([]string, len(words))
	for i, w := range words {
		names[i] = string(w)
	}
	allowed := strings.Join(names, ", ")
	return textOf[T](allowed, func(s string) error {
		switch {
		case slices.Contains(names, s):
			return nil
		case len(names) == 1:
			return fmt.Errorf("must be %s", allowed)
		default:
			return fmt.Errorf("must be one of %s", allowed)
		}
	})
}

// characterEncoding is kept by its standard name.
func characterEncoding() kind[string] {
	return kind[string]{
		allowed: charset.Common + ", ...",
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

func boolean() kind[bool] {
	return kind[bool]{
		allowed: "true, false",
		format:  strconv.FormatBool,
		parse: func(s string) (bool, error) {
			if s != "true" && s != "false" {
				return false, errors.New("must be true or false")
			}
			return s == "true", nil
		},
	}
}

func integer(least, most int) kind[int] {
	return ranged(least, most, "a whole number", strconv.Itoa, strconv.Atoi)
}

func size(least, most int) kind[int] {
	return ranged(least, most, "a size such as 4MiB or 512KiB", formatSize, parseSize)
}

func sizeOrAuto(least, most int) kind[int] {
	return orAuto(ranged(least, most, "auto or a size such as 4GiB or 512MiB", formatSize, parseSize))
}

func share(least, most float64) kind[float64] {
	return ranged(least, most, "a share such as 0.8", formatShare, parseShare)
}

func shareOrAuto(least, most float64) kind[float64] {
	return orAuto(ranged(least, most, "auto or a share such as 0.8", formatShare, parseShare))
}

func formatShare(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func parseShare(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err == nil && math.IsNaN(v) {
		err = errors.New("not a number")
	}
	return v, err
}

// orAuto writes 0 as the word auto.
func orAuto[T int | float64](k kind[T]) kind[T] {
	return kind[T]{
		allowed: "auto, or " + k.allowed,
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

func duration(least, most time.Duration) kind[time.Duration] {
	return ranged(least, most, "a duration such as 20ms, 1h30m or 7d", formatDuration, parseDuration)
}

// ranged is the kind of quantities from least to most; what names them.
func ranged[T int | float64 | time.Duration](
	least, most T, what string, format func(T) string, parse func(string) (T, error),
) kind[T] {
	limits := fmt.Sprintf("between %s and %s", format(least), format(most))
	allowed := fmt.Sprintf("%s to %s", format(least), format(most))
	if any(most) == any(time.Duration(math.MaxInt64)) || any(most) == any(math.MaxInt) {
		limits, allowed = format(least)+" or more", format(least)+" or more"
	}
	return kind[T]{
		allowed: allowed,
		format:  format,
		parse: func(s string) (T, error) {
			v, err := parse(s)
			switch {
			case s == "":
				return 0, errEmpty
			case err != nil:
				return 0, fmt.Errorf("must be %s, %s", what, limits)
			case v < least || v > most:
				return 0, fmt.Errorf("must be %s", limits)
			}
			return v, nil
		},
	}
}
