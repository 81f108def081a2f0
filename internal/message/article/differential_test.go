package article_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/corpus"
)

// decoderPair decodes in both ways.
type decoderPair struct {
	article article.Decoder
	plain   plainDecoder
}

// decoderPairs are for plain text and for many kinds of paths. A component with | stands first
// only: in an array gjson takes it for an operator even where it is escaped.
func decoderPairs() map[string]decoderPair {
	const maxBytes = 1 << 16
	pairs := map[string]decoderPair{"text": {
		plainTextDecoder(maxBytes, "utf-8"),
		plainDecoder{maxBytes: maxBytes},
	}}
	for name, fields := range map[string]article.Fields{
		"default":  defaultFields(),
		"short":    {ID: "a", Title: "b", Content: "a.b", PublishedAt: "b.a", Source: "a.a.a"},
		"indices":  {ID: "a.0", Title: "a.1.b", Content: "b.0.0", PublishedAt: "a.00", Source: "0"},
		"same":     {ID: "a.b", Title: "a.b", Content: "a", PublishedAt: "b", Source: "b.a.b"},
		"escapes":  {ID: "\uFFFD", Title: "a\n", Content: "\u0000", PublishedAt: `b.\`, Source: `a."`},
		"specials": {ID: "a.*", Title: "@this", Content: "a|b.#", PublishedAt: "时.0", Source: `!x.\`},
	} {
		pairs[name] = decoderPair{
			jsonDecoder(fields, maxBytes, "utf-8"),
			newPlainDecoder(fields, maxBytes),
		}
	}
	return pairs
}

// same fails the test unless both ways have the same result. Of times the plain way knows some
// forms only, and of an empty record it does not say which keys there are.
func (p decoderPair) same(t *testing.T, key, value []byte) {
	t.Helper()
	for _, part := range [][]byte{key, value} {
		for _, mark := range []string{"\xff\xfe", "\xfe\xff", "\x00\x00\xfe\xff"} {
			if bytes.HasPrefix(part, []byte(mark)) {
				return // UTF-16 or UTF-32, of which the plain way knows nothing
			}
		}
	}
	got, err := p.article.Decode(key, value, here())
	want, without, wantErr := p.plain.Decode(key, value, here())
	var fallbacks []string
	if got.Notes != nil {
		for _, f := range got.Notes.Fallbacks {
			if f.Reason != "format" {
				fallbacks = append(fallbacks, f.Field+" "+f.Reason)
			}
		}
	}
	if want.PublishedAt.IsZero() {
		got.PublishedAt = time.Time{}
	}
	notes := got.Notes
	got.Notes = nil
	same := got == want && slices.Equal(fallbacks, without)
	switch {
	case err == nil || wantErr == nil:
		same = same && err == nil && wantErr == nil
	case wantErr.Reason == "":
		same = err.Class == article.Empty
	default:
		same = same && reflect.DeepEqual(err, wantErr)
	}
	if !same {
		t.Errorf("%q\ngot  %+v, %+v, %v\nwant %+v, %v, %v", value, got, notes, err, want, without,
			wantErr)
	}
}

// pieces are what random texts are made of: runes of all lengths, those around the borders of UTF-8
// and JSON, and what is not valid.
var pieces = []string{
	"a", "b", "Z", "0", "7", " ", "~", "\x7f", "/", "<", ">", "&", "plain text", "中", "文", "新闻", "，",
	"。", "“", "”", "…",
	"é", "\u0080", "\u07ff", "\u0800", "\u0fff", "\u1000", "\u2027", "\u2028", "\u2029", "\u202a",
	"\ud7ff", "\ue000", "\ufffd", "\uffff",
	"😀", "\U00010000", "\U0010ffff",
	"\x80", "\xbf", "\xc0\x80", "\xc3", "\xe0\x80\x80", "\xe0\x9f\xbf", "\xe4\xb8", "\xe4", "\xe2\x80",
	"\xed\xa0\x80", "\xed\xbf\xbf",
	"\xef\xbf", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf0\x9f\x98", "\xff", "\xfe",
}

// What stands within a JSON string with a meaning, as a value, and between the two, each also as it
// must not be.
var (
	escapes = []string{
		`\"`, `\\`, `\/`, `\b`, `\f`, `\n`, `\r`, `\t`, `\u0061`, `\u4E2d`, `\u0000`, `\u2028`,
		`\ud83d\ude00`, `\ud800`, `\udc00`,
		`\ud800\u0062`, `\uDBFF\n`, `\ud800\ud800`, `\\ud800`,
	}
	badEscapes = []string{
		`\u12`, `\u00g0`, `\u00G0`, `\u 123`, `\x`, `\U0061`, "\n", "\x00", "\x1f", `\`, `"`,
	}
	scalars = []string{
		"true", "false", "null", "0", "-0", "1", "-1", "17.25e3", "1E+2", "1e-7", "1714564800",
		"253402300800000",
		`"2024-05-01T12:00:00Z"`, `"2024-05-01T12:00:00.5+08:00"`, `"2024-05-01 12:00:00"`,
		`"2024-05-01T12:00:00"`, `"1714564800"`, `"2024-05-01"`, `"Wed, 01 May 2024 12:00:00 +0800"`,
		`"02/03/2024"`, `[]`,
	}
	badScalars = []string{
		"01", "1.", "-", "1e", "1e+", ".5", "+1", "tru", "truE", "nul", "NaN", "-x",
		"0x1", "",
	}
	spaces    = []string{"", "", "", " ", "\n", "\t\r "}
	badSpaces = []string{"\v", "\x00", "\u00a0", "/**/", ","}
)

// generator makes random JSON, or almost.
type generator struct{ *rand.Rand }

func (g generator) pick(from []string) string { return from[g.IntN(len(from))] }

// mostly picks what is good, but for once in a while.
func (g generator) mostly(good, bad []string) string {
	if g.IntN(300) == 0 {
		return g.pick(bad)
	}
	return g.pick(good)
}

func (g generator) text(n int) string {
	var b strings.Builder
	for range g.IntN(n) {
		b.WriteString(g.pick(pieces))
	}
	return b.String()
}

func (g generator) string() string {
	s := g.text(12)
	for g.IntN(3) == 0 {
		s += g.mostly(escapes, badEscapes) + g.text(4)
	}
	return `"` + s + `"`
}

func (g generator) space() string { return g.mostly(spaces, badSpaces) }

func (g generator) value(depth int) string {
	switch n := g.IntN(12); {
	case n < 4 && depth > 0:
		return g.object(depth)
	case n < 6 && depth > 0:
		elements := make([]string, g.IntN(4))
		for i := range elements {
			elements[i] = g.space() + g.value(depth-1) + g.space()
		}
		return "[" + strings.Join(elements, ",") + "]"
	case n < 9:
		return g.string()
	default:
		return g.mostly(scalars, badScalars)
	}
}

func (g generator) object(depth int) string {
	keys := []string{
		`"a"`, `"b"`, `"a"`, `"b"`, `"id"`, `"title"`, `"content"`, `"published_at"`, `"source"`, `"0"`,
		`"\u0061"`, `"\ud800"`, `"a\n"`, `"\u0000"`, `"\\"`, `"\""`, `"@this"`, `"a|b"`, `"#"`, `"*"`,
		`""`,
	}
	members := make([]string, g.IntN(7))
	for i := range members {
		members[i] = g.space() + g.pick(keys) + g.space() + ":" + g.space() + g.value(depth-1) + g.space()
	}
	return "{" + strings.Join(members, ",") + "}"
}

// damage changes some bytes.
func (g generator) damage(s string) []byte {
	b := []byte(s)
	for range g.IntN(3) {
		if len(b) == 0 {
			break
		}
		i := g.IntN(len(b))
		switch g.IntN(3) {
		case 0:
			b[i] = `"\{}[]:, 1e`[g.IntN(11)]
		case 1:
			b = append(b[:i], b[i+1:]...)
		default:
			b = b[:i]
		}
	}
	return b
}

func TestDecodeIsAsPlain(t *testing.T) {
	check.OneGoroutine(t)
	for name, pair := range decoderPairs() {
		t.Run(name, func(t *testing.T) {
			g := generator{rand.New(rand.NewPCG(5, 1))}
			for range 2000 {
				value := g.space() + g.object(4) + g.space()
				pair.same(t, []byte(g.text(3)), []byte(value))
				pair.same(t, nil, g.damage(value))
			}
			for depth := article.MaxDepth - 2; depth <= article.MaxDepth+2; depth++ {
				for _, inside := range []string{"", "1", "{", "]"} {
					for _, closed := range []int{0, depth - 1, depth} {
						pair.same(t, nil,
							[]byte(`{"a":`+strings.Repeat("[", depth-1)+inside+strings.Repeat("]", closed)+"}"))
						pair.same(t, nil, []byte(strings.Repeat(`{"a":`, depth)+inside+strings.Repeat("}", closed)))
					}
				}
			}
		})
	}
}

// A text is read at every distance from the end of the value, and of eight bytes.
func TestDecodeTextsAsPlain(t *testing.T) {
	check.OneGoroutine(t)
	pair := decoderPairs()["default"]
	for _, piece := range slices.Concat(pieces, escapes, badEscapes) {
		for before := range 17 {
			for after := range 10 {
				for _, filler := range []string{"x", "文"} {
					pair.same(t, nil, []byte(`{"content":"`+
						strings.Repeat(filler, before)+piece+strings.Repeat(filler, after)+`"}`))
					pair.same(t, nil, []byte(`{"content":"`+strings.Repeat(filler, before)+piece))
				}
			}
		}
	}
}

// Real articles: as they are, and with all but ASCII escaped.
func TestDecodeRealTextsAsPlain(t *testing.T) {
	check.OneGoroutine(t)
	pair := decoderPairs()["default"]
	for _, set := range corpus.Sets(t) {
		set.Lines(t, func(n int, value []byte) bool {
			pair.same(t, nil, slices.Clone(value))
			pair.same(t, nil, ascii(value))
			return n < 200
		})
	}
}

// ascii escapes all but ASCII, as many programs do.
func ascii(value []byte) []byte {
	var b []byte
	for _, r := range string(value) {
		switch {
		case r < 0x80:
			b = append(b, byte(r))
		case r < 0x10000:
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = fmt.Appendf(b, `\u%04x\u%04x`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
		}
	}
	return b
}
