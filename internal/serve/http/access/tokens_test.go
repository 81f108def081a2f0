package access

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseTokens(t *testing.T) {
	hash := fmt.Sprintf("%x", sha256.Sum256([]byte(readToken)))
	reader := token{digestOf(readToken), Caller{"reader", Read}}
	for _, tt := range []struct {
		name, file string
		want       tokens
	}{
		{"nothing", "", nil},
		{"comments alone", "# a\n\n  # b\r\n", nil},
		{"one", "reader read " + readToken, tokens{reader}},
		{"by its hash", "reader read sha256:" + hash + "\n", tokens{reader}},
		{"by its hash in capitals", "reader read sha256:" + strings.ToUpper(hash), tokens{reader}},
		{"a byte order mark, blanks, CRLF", "\ufeff reader\t read  " + readToken + " \r\n", tokens{
			reader,
		}},
		{"rights in any order, twice", "a label,read,read " + labelToken, tokens{
			{digestOf(labelToken), Caller{"a", Read | Label}},
		}},
		{"one name, two tokens", "reader read " + readToken + "\nreader write " + writeToken, tokens{
			reader, {digestOf(writeToken), Caller{"reader", Write}},
		}},
		{"any letters", "Bob.M\u00fcller-2@desk+x write " + writeToken, tokens{
			{digestOf(writeToken), Caller{"Bob.M\u00fcller-2@desk+x", Write}},
		}},
	} {
		got, err := parseTokens([]byte(tt.file))
		if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(token{})); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", tt.name, err, diff)
		}
	}
}

func TestParseTokensRefuses(t *testing.T) {
	for _, tt := range []struct{ name, file, want string }{
		{"two words", "\n\nreader read", "line 3: must be NAME RIGHTS TOKEN"},
		{"four words", "reader read a" + readToken + " x", "line 1: must be NAME RIGHTS TOKEN"},
		{"no such right", "reader root " + readToken, "line 1: the second word must name rights"},
		{"an empty right", "reader read, " + readToken, "line 1: the second word must name rights"},
		{"the token in the second place", "reader " + readToken + " read", "line 1: the second word"},
		{
			"the token in the first place", readToken + "! read reader-0123456789",
			"line 1: a name must be of",
		},
		{"a short token", "reader read " + readToken[:15], "line 1: the token must have 16 characters"},
		{"no ASCII", "reader read canary\u00e90123456789", "line 1: the token must have 16 characters"},
		{
			"a long name", strings.Repeat("x", 65) + " read " + readToken,
			"line 1: a name must have at most 64",
		},
		{"a name that is taken", "local read " + readToken, "line 1: the names local and http.token"},
		{"a name that escapes", "a\x1b[2J read " + readToken, "line 1: a name must be of letters"},
		{"a name with a comma", "a,b read " + readToken, "line 1: a name must be of letters"},
		{"no UTF-8", "a\xff read " + readToken, "line 1: a name must be of letters"},
		{"a short hash", "reader read sha256:" + strings.Repeat("0", 63), "line 1: sha256: must be"},
		{"a long hash", "reader read sha256:" + strings.Repeat("0", 65), "line 1: sha256: must be"},
		{"no hash", "reader read sha256:" + strings.Repeat("x", 64), "line 1: sha256: must be"},
		{
			"one token of two", "a read " + readToken + "\nb read " + readToken,
			"line 2: the token is that of line 1",
		},
		{"one token and its hash", "a read " + readToken + "\nb read sha256:" +
			fmt.Sprintf("%x", sha256.Sum256([]byte(readToken))), "line 2: the token is that of line 1"},
		{"too many", manyTokens(maxTokens + 1), "line 1001: there are more than 1000 tokens"},
	} {
		_, err := parseTokens([]byte(tt.file))
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: shows the token: %v", tt.name, err)
		}
	}
}

func manyTokens(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "a%d read canary-number-%010d\n", i, i)
	}
	return text.String()
}

// FuzzTokens holds that whatever a file says: who is known has a name and rights, and an error
// repeats nothing of the file.
func FuzzTokens(f *testing.F) {
	for _, text := range []string{
		tokensText, "", "a b c", "a read sha256:00", "\ufeffa read,write " + readToken,
		"a read sha256:" + strings.Repeat("0a", 32), manyTokens(3),
	} {
		f.Add([]byte(text))
	}
	said := regexp.MustCompile(`^line \d+: (must be NAME RIGHTS TOKEN, such as: alice read,label 8f1c…|` +
		`the second word must name rights, of read, label and write, with commas between them and no ` +
		`blanks|a name must (have at most 64 bytes|be of letters, digits and \. _ - @ \+ only)|` +
		`the names local and http.token are taken|the token is that of line \d+: give each its own|` +
		`there are more than 1000 tokens|sha256: must be followed by 64 digits of 0-9 and a-f: ` +
		`printf %s TOKEN \| sha256sum|` +
		`the token must have 16 characters of visible ASCII or more: openssl rand -hex 32)$`)
	f.Fuzz(func(t *testing.T, file []byte) {
		all, err := parseTokens(file)
		if err != nil {
			if !said.MatchString(err.Error()) || all != nil {
				t.Errorf("%d tokens and %v", len(all), err)
			}
			return
		}
		for _, one := range all {
			c := one.caller
			if c.Name == "" || len(c.Name) > maxName || c.Rights == 0 || !All.Has(c.Rights) {
				t.Errorf("%q has %d", c.Name, c.Rights)
			}
			if got, ok := all.find(one.digest); !ok || got != c {
				t.Errorf("%v is found as %v", c, got)
			}
		}
	})
}

// To find a token takes as long wherever it stands, and whether it is there or not.
func TestFindTakesAsLong(t *testing.T) {
	all, err := parseTokens([]byte(manyTokens(maxTokens)))
	if err != nil {
		t.Fatal(err)
	}
	nearly := all[0].digest
	nearly[len(nearly)-1] ^= 1
	asked := []digest{all[0].digest, all[maxTokens-1].digest, nearly, digestOf(noToken)}
	times := make([][]time.Duration, len(asked))
	for range 201 {
		for i, one := range asked { // in turns, so that they meet the same disturbances
			begin := time.Now()
			all.find(one)
			times[i] = append(times[i], time.Since(begin))
		}
	}
	var medians []time.Duration
	for _, of := range times {
		slices.Sort(of)
		medians = append(medians, of[len(of)/2])
	}
	// A search that ended early would find the first a thousand times faster than the last.
	if least, most := slices.Min(medians), slices.Max(medians); most > 3*least {
		t.Errorf("the first, the last, nearly the first and none took %v", medians)
	}
}

func TestRights(t *testing.T) {
	for rights, want := range map[Rights]string{
		0: "", Read: "read", Label | Write: "label,write", All: "read,label,write",
	} {
		if got := rights.String(); got != want {
			t.Errorf("%d is %q, want %q", rights, got, want)
		}
	}
	if Read.Has(Read|Label) || !All.Has(Label) || !Read.Has(0) {
		t.Error("Has is wrong")
	}
}
