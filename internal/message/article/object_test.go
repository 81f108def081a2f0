package article_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/clusterd/clusterd/internal/message/article"
)

// paths are plain keys and others; one of them twice.
func paths() []article.JSONPath {
	var all []article.JSONPath
	for _, name := range []string{"a", "b", "", "a", "a.b", "b.0", "\x00", `"`, `\`, "\uFFFD", "é"} {
		all = append(all, article.NewJSONPath(name))
	}
	return all
}

// wantAsPlain fails the test where Find does not do what encoding/json and gjson do, one after the
// other. Of UTF-8 that is not valid gjson makes something else, and no caller has any.
func wantAsPlain(t *testing.T, text string) {
	t.Helper()
	all := paths()
	found := make([]gjson.Result, len(all))
	ok := article.FindJSON(text, all, found)
	whole := gjson.Parse(text)
	if want := json.Valid([]byte(text)) && whole.IsObject() &&
		article.JSONDepth([]byte(text)) <= article.MaxJSONDepth; ok != want {
		t.Fatalf("%q: %v, want %v", text, ok, want)
	}
	if !ok {
		return
	}
	for i, at := range all {
		want := first(whole, at)
		if got := found[i]; got.Type != want.Type || got.Raw != want.Raw || got.Str != want.Str {
			t.Fatalf("%q at %q: %+v, want %+v", text, at.Name, got, want)
		}
	}
}

// first returns what stands at a path as gjson goes through an object.
func first(whole gjson.Result, at article.JSONPath) (value gjson.Result) {
	if strings.Contains(at.Name, ".") {
		return whole.Get(at.Query)
	}
	whole.ForEach(func(key, v gjson.Result) bool {
		if key.Str != at.Name {
			return true
		}
		value = v
		return false
	})
	return value
}

// tokens are what texts are made of that are nearly JSON.
var tokens = []string{
	"{", "}", "[", "]", ":", ",", `"a"`, `"b"`, `"a":`, `"b":`, `"":`, `"\u0061":`, `"\"":`,
	`"\\":`, `"\u0000":`, `"\ud800":`, `"é":`, "{}", "[]", `{"a":1}`, `{"b":"x"}`, "[0,true]",
	"0", "-0", "-", "1.5", "1.", ".5", "01", "1e5", "1E-2", "1e", "1e+",
	"123456789012345678901234567890", "1e999999999", "true", "false", "null", "tru", "nul",
	"True", "NaN", `"\n\t\r\b\f\/\\\""`, `"\x"`, `"\u12"`, `"\u12g4"`, `"\ud83d\ude00"`,
	`"\ud83d"`, `"\ude00\ud83d"`, `"\ud83dx"`, `"\ud83d\u0041y"`, `"\ud83d\n"`,
	`"\uD83D\uDE00"`, `"中文`, `文本"`, "\"\x00\"", "\"\x1f\"", "\"\x7f\"", `"`, `\`, " ", "\t",
	"\n", "\r", "\v", "\f", "\u00a0", "\ufeff", `"a long key of more than eight bytes":`,
	`"a long text of more than eight bytes"`, "'a'", "//",
}

func TestFindAsPlain(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		var b strings.Builder
		if random.IntN(8) > 0 {
			b.WriteString("{")
		}
		for n := random.IntN(10); n > 0; n-- {
			b.WriteString(tokens[random.IntN(len(tokens))])
		}
		if random.IntN(8) > 0 {
			b.WriteString("}")
		}
		wantAsPlain(t, b.String())
	}
}

// Random members are nearly always valid, so that more than the beginning of a text is read.
func TestFindMembersAsPlain(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	var value func(depth int) string
	value = func(depth int) string {
		if depth == 0 || random.IntN(3) > 0 {
			return tokens[random.IntN(len(tokens))]
		}
		open, end, members := "[", "]", []string{}
		for range random.IntN(4) {
			members = append(members, value(depth-1))
		}
		if random.IntN(2) == 0 {
			open, end = "{", "}"
			for i := range members {
				key := pick(`"a"`, `"b"`, `"\u0061"`, `"x y"`) + pick("", " ") + ":"
				members[i] = key + pick("", "\n") + members[i]
			}
		}
		return open + strings.Join(members, pick(",", " , ")) + end
	}
	for range 100_000 {
		wantAsPlain(t, `{"a":`+value(3)+`,"b" : `+value(2)+"}"+pick("", " ", "\n", "x"))
	}
}

// A special byte is found at every distance from the beginning and the end of the text, and of
// eight bytes, beside any other.
func TestFindStringsAsPlain(t *testing.T) {
	for c := range 256 {
		for before := range 18 {
			for _, after := range []int{0, 1, 7, 8, 9} {
				for _, filler := range []string{"x", "文", "\x7f", "!", "#", "[", "]"} {
					text := `{"a":"` + strings.Repeat(filler, before) + string([]byte{byte(c)}) +
						strings.Repeat(filler, after)
					wantAsPlain(t, text)
					wantAsPlain(t, text+`"}`)
					wantAsPlain(t, text+`n"}`)
				}
			}
		}
	}
}

func TestFindNestedAsPlain(t *testing.T) {
	for depth := article.MaxJSONDepth - 2; depth <= article.MaxJSONDepth+2; depth++ {
		wantAsPlain(t, strings.Repeat(`{"a":`, depth)+"1"+strings.Repeat("}", depth))
		wantAsPlain(t, `{"a":`+strings.Repeat("[", depth-1)+strings.Repeat("]", depth-1)+"}")
		wantAsPlain(t, `{"a":`+strings.Repeat("[", depth-1)+strings.Repeat("]", depth)+"}")
		wantAsPlain(t, `{"a":`+strings.Repeat("[{},", depth)+"1"+strings.Repeat("]", depth)+"}")
	}
	const many = 1 << 20
	for _, deep := range []string{"[", `{"a":`, `{"a":[`, `["`} {
		wantAsPlain(t, `{"a":`+strings.Repeat(deep, many))
	}
}

// FuzzFind: the seeds are in testdata/fuzz/FuzzFind.
func FuzzFind(f *testing.F) {
	f.Fuzz(func(t *testing.T, text string) { wantAsPlain(t, text) })
}
