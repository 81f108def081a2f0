package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/text/charset"
	"github.com/clusterd/clusterd/internal/text/contact"
	"github.com/clusterd/clusterd/internal/text/fold"
)

// A kind checks the text of a value and parses it. parse and format are inverse:
// parse(format(v)) is v for every v that parse returns.
type kind struct {
	allowed string   // the limits, for people; "" if any text will do
	words   []string // some texts to propose
	file    bool     // names a file: resolve it, and see that the file is there
	parse   func(text string) (any, error)
	format  func(v any) string
}

// kindOf returns the kind that a tag names. Words or limits follow the name. A quantity always has
// a lower limit and may have an upper limit.
func kindOf(tag string) kind {
	name, rest, _ := strings.Cut(tag, " ")
	given := strings.Fields(rest)
	switch name {
	case "word":
		return oneOf(given)
	case "mechanism":
		return oneOf([]string{
			"none", "plain", "scram-sha-256", "scram-sha-512", "oauthbearer", "aws-msk-iam",
		})
	case "part":
		return oneOf(ResultFields())
	case "mask":
		return oneOf(contact.Masks)
	case "method":
		return oneOf(method.Names())
	case "region":
		return regionKind()
	case "encoding":
		return encodingKind()
	case "bool":
		return boolKind()
	case "fold":
		return foldKind()
	case "integer":
		return ranged(given, "a whole number", strconv.Itoa, strconv.Atoi)
	case "size":
		return ranged(given, "a size such as 4MiB or 512KiB", formatSize, parseSize)
	case "size_or_none":
		return orNone(ranged(given, "a size such as 4MiB or 512KiB", formatSize, parseSize))
	case "size_or_auto":
		return orAuto(0, ranged(given, "auto or a size such as 4GiB or 512MiB", formatSize, parseSize))
	case "share":
		return ranged(given, "a share such as 0.8", formatShare, parseShare)
	case "share_or_auto":
		return orAuto(0., ranged(given, "auto or a share such as 0.8", formatShare, parseShare))
	case "duration":
		return ranged(given, "a duration such as 20ms, 1h30m or 7d", formatDuration, parseDuration)
	}
	return textKind(name)
}

func textKind(name string) kind {
	t, ok := texts[name]
	if !ok {
		panic("config: no kind " + name)
	}
	return kind{
		allowed: t.allowed,
		file:    t.file,
		parse:   func(s string) (any, error) { return s, t.check(s) },
		format:  func(v any) string { return fmt.Sprint(v) }, // masks secrets
	}
}

// oneOf returns the kind of texts that are one of the words.
func oneOf(words []string) kind {
	k := textKind("")
	k.allowed, k.words = strings.Join(words, ", "), words
	k.parse = func(s string) (any, error) {
		if !slices.Contains(words, s) {
			return "", errors.New("must be one of " + k.allowed)
		}
		return s, nil
	}
	return k
}

// regionKind takes one of many words, too many to show.
func regionKind() kind {
	k := oneOf(contact.RegionNames())
	k.allowed = "an ISO 3166 code such as GB"
	isRegion := k.parse
	k.parse = func(s string) (any, error) {
		if _, err := isRegion(s); err != nil {
			return "", errors.New("must be " + k.allowed)
		}
		return s, nil
	}
	return k
}

// encodingKind takes any name of a character encoding, and keeps the standard name.
func encodingKind() kind {
	k := textKind("")
	k.allowed, k.words = charset.Common+", ...", strings.Split(charset.Common, ", ")
	k.parse = func(s string) (any, error) {
		e, err := charset.Get(s)
		if err != nil {
			return "", err
		}
		return e.String(), nil
	}
	return k
}

func boolKind() kind {
	k := textKind("")
	k.allowed, k.words = "true, false", []string{"true", "false"}
	k.parse = func(s string) (any, error) {
		if s != "true" && s != "false" {
			return false, errors.New("must be true or false")
		}
		return s == "true", nil
	}
	return k
}

// foldKind takes a version of folding: false is 0, true is the latest, and an earlier version is a
// number.
func foldKind() kind {
	words := []string{"true", "false"}
	for v := 1; v < fold.Latest; v++ {
		words = append(words, strconv.Itoa(v))
	}
	k := oneOf(words)
	isWord := k.parse
	k.parse = func(s string) (any, error) {
		switch _, err := isWord(s); {
		case err != nil || s == "false":
			return 0, err
		case s == "true":
			return fold.Latest, nil
		}
		return strconv.Atoi(s)
	}
	k.format = func(v any) string {
		switch v {
		case 0:
			return "false"
		case fold.Latest:
			return "true"
		}
		return fmt.Sprint(v)
	}
	return k
}

// orAuto returns a kind that writes zero as the word auto.
func orAuto(zero any, k kind) kind {
	parse, format := k.parse, k.format
	k.allowed, k.words = "auto, or "+k.allowed, []string{"auto"}
	k.parse = func(s string) (any, error) {
		if s == "auto" {
			return zero, nil
		}
		return parse(s)
	}
	k.format = func(v any) string {
		if v == zero {
			return "auto"
		}
		return format(v)
	}
	return k
}

// orNone returns a kind of sizes that takes 0, too.
func orNone(k kind) kind {
	parse := k.parse
	k.allowed = "0, or " + k.allowed
	k.parse = func(s string) (any, error) {
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

// ranged returns the kind of quantities within the limits; what names them in errors.
func ranged[T interface{ ~int | ~int64 | ~float64 }](
	limits []string, what string, format func(T) string, parse func(string) (T, error),
) kind {
	limit := func(text string) T {
		v, err := parse(text)
		if err != nil {
			panic("config: limit " + text + ": " + err.Error())
		}
		return v
	}
	low, high := limit(limits[0]), limit(limits[len(limits)-1])
	allowed := format(low) + " or more"
	within := allowed
	if len(limits) > 1 {
		allowed = fmt.Sprintf("%s to %s", format(low), format(high))
		within = fmt.Sprintf("between %s and %s", format(low), format(high))
	}
	return kind{
		allowed: allowed,
		format:  func(v any) string { return format(v.(T)) },
		parse: func(s string) (any, error) {
			v, err := parse(s)
			switch {
			case s == "":
				return v, errEmpty
			case err != nil:
				return v, fmt.Errorf("must be %s, %s", what, within)
			case v < low, v > high && len(limits) > 1:
				return v, errors.New("must be " + within)
			}
			return v, nil
		},
	}
}
