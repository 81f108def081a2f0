package access

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	minToken  = 16   // bytes, so that nobody guesses it
	maxTokens = 1000 // in a file: each request is compared with all of them
)

// digest is the SHA-256 hash of a token or of a session's id: neither is kept itself.
type digest [sha256.Size]byte

func digestOf(text string) digest { return sha256.Sum256([]byte(text)) }

// token is what a caller is known by.
type token struct {
	digest digest
	caller Caller
}

// tokens are all that are known.
type tokens []token

// find returns who has the token with a hash. It takes as long for one that is nearly right, or
// that stands first, as for any other.
func (t tokens) find(given digest) (Caller, bool) {
	at := -1
	for i := range t {
		same := subtle.ConstantTimeCompare(t[i].digest[:], given[:])
		at = subtle.ConstantTimeSelect(same, i, at)
	}
	if at < 0 {
		return Caller{}, false
	}
	return t[at].caller, true
}

// parseTokens reads a file of tokens: NAME RIGHTS TOKEN a line; empty lines and those that begin
// with # say nothing. An error says which line is wrong, and repeats nothing of it.
func parseTokens(file []byte) (tokens, error) {
	var all tokens
	known := make(map[digest]int) // and the line of each
	number := 0
	for line := range bytes.Lines(bytes.TrimPrefix(file, []byte("\ufeff"))) {
		number++
		text := strings.TrimSpace(string(line))
		if text == "" || text[0] == '#' {
			continue
		}
		one, err := parseToken(text)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if earlier, ok := known[one.digest]; ok {
			return nil, fmt.Errorf("line %d: the token is that of line %d: give each its own", number,
				earlier)
		}
		known[one.digest] = number
		if all = append(all, one); len(all) > maxTokens {
			return nil, fmt.Errorf("line %d: there are more than %d tokens", number, maxTokens)
		}
	}
	return all, nil
}

func parseToken(line string) (token, error) {
	words := strings.Fields(line)
	if len(words) != 3 {
		return token{}, errors.New("must be NAME RIGHTS TOKEN, such as: alice read,label 8f1c…")
	}
	if err := checkName(words[0]); err != nil {
		return token{}, err
	}
	rights, err := parseRights(words[1])
	if err != nil {
		return token{}, err
	}
	sum, err := parseSecret(words[2])
	return token{digest: sum, caller: Caller{Name: words[0], Rights: rights}}, err
}

func checkName(name string) error {
	switch odd := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-@+", r)
	}; {
	case len(name) > maxName:
		return fmt.Errorf("a name must have at most %d bytes", maxName)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, odd):
		return errors.New("a name must be of letters, digits and . _ - @ + only")
	case name == Local || name == Owner:
		return fmt.Errorf("the names %s and %s are taken", Local, Owner)
	}
	return nil
}

// parseSecret returns the hash of a token, which is given itself or by its hash.
func parseSecret(text string) (sum digest, err error) {
	hidden := func(r rune) bool { return r <= ' ' || r > '~' }
	if code, ok := strings.CutPrefix(text, "sha256:"); ok {
		n, err := hex.Decode(sum[:], []byte(code[:min(len(code), 2*len(sum))]))
		if err != nil || n != len(sum) || len(code) != 2*len(sum) {
			return digest{}, errors.New("sha256: must be followed by 64 digits of 0-9 and a-f: " +
				"printf %s TOKEN | sha256sum")
		}
		return sum, nil
	}
	if len(text) < minToken || strings.ContainsFunc(text, hidden) {
		return digest{}, fmt.Errorf("the token must have %d characters of visible ASCII or more: "+
			"openssl rand -hex 32", minToken)
	}
	return digestOf(text), nil
}
