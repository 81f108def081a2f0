package text

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/golden"
)

var loadShared = sync.OnceValues(func() (*Tokenizer, error) { return New(Options{}) })

// shared returns a Tokenizer with default options, loaded once.
func shared(t testing.TB) *Tokenizer {
	t.Helper()
	tok, err := loadShared()
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// withHTML returns a Tokenizer that differs from the shared one in its HTML mode.
func withHTML(t testing.TB, mode htmlMode) *Tokenizer {
	t.Helper()
	tok := *shared(t)
	tok.Cleaner = &Cleaner{html: mode, norm: tok.norm}
	return &tok
}

// tokens lists tokens in order, each as often as it occurs.
func tokens(counts map[string]int) string {
	var all []string
	for _, word := range slices.Sorted(maps.Keys(counts)) {
		for range counts[word] {
			all = append(all, word)
		}
	}
	return strings.Join(all, " ")
}

func write(t testing.TB, name, content string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTokens(t *testing.T) {
	for _, c := range []struct{ name, title, content, want string }{
		{"words", "", "北京天气晴朗", "北京 天气晴朗"},
		{"title and content are one text", "天气", "天气晴朗 天气", "天气 天气 天气晴朗"},
		{"a line break lies between them", "北", "京", "京 北"},
		{"counts", "", "台风 台风 台风", "台风 台风 台风"},
		{"Chinese stop words", "", "台风的但是因为我们", "台风"},
		{"English stop words", "", "The typhoon is not in the harbour", "harbour typhoon"},
		{"contractions", "", "Don't they've can’t she'll I'm you're typhoon's", "typhoon"},
		{"numbers stay", "", "2024 年 3 月 3.14 1,000", "000 1 14 2024 3 3 年 月"},
		{"mixed", "", "华为发布Mate 60手机,支持5G网络", "5g 60 mate 华为 发布 手机 支持 网络"},
		{"mixed words of the dictionary", "", "他穿T恤炒A股", "a股 t恤 炒 穿"},
		{"punctuation", "", "！？，。、；：“”（）《》—…·.,!?-_=+/\\|~`@#$%^&*()[]{}<>'\"", ""},
		{"a rule of signs", "", "台风\n----------\n==========\n**********", "台风"},
		{"emoji", "", "😀😀 👨‍👩‍👧‍👦 ❤️ 🇨🇳 台风🌀登陆", "台风 登陆"},
		{"keycap", "", "1️⃣", "1"},
		{"invalid bytes split", "", "台风\xff\xfe登陆\x80\xe4\xb8", "台风 登陆"},
		{"NUL and control characters split", "", "台风\x00登陆\x1b\x7f", "台风 登陆"},
		{"spaces", "\t \n", " \u3000\u00a0\u2003\u2028\u0085 ", ""},
		{"nothing", "", "", ""},
		{"marks alone", "", "\u0301\u0301 \u20dd", ""},
		{"names with a middle dot", "", "约翰·史密斯", "史密斯 约翰"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := tokens(shared(t).Tokens(c.title, c.content)); got != c.want {
				t.Errorf("Tokens(%q, %q)\n got %s\nwant %s", c.title, c.content, got, c.want)
			}
		})
	}
}

// What reads alike has the same tokens.
func TestTokensOfTextsThatReadAlike(t *testing.T) {
	for _, c := range []struct{ name, a, b string }{
		{"traditional and simplified", "颱風登陸臺灣，經濟損失嚴重", "台风登陆台湾，经济损失严重"},
		{"traditional words that gse lists so", "乾隆皇帝下江南", "乾隆皇帝下江南。"},
		{"compatibility ideographs", "金\uF90A", "金金"},
		{"full width", "ＡＢＣ１２３　ｔｙｐｈｏｏｎ", "ABC123 typhoon"},
		{"half width katakana", "ﾀｲﾌｰﾝ", "タイフーン"},
		{"ligatures", "ﬁle oﬃce", "file office"},
		{"circled numbers", "①②", "12"},
		{"composed and not", "cafe\u0301", "café"},
		{"ASCII case", "TYPHOON", "typhoon"},
		{"Latin case", "ÄÖÜ ÉCOLE", "äöü école"},
		{"Greek case", "ΩΣ", "ωσ"},
		{"Cyrillic case", "МОСКВА", "москва"},
		{"Turkish dotted I", "İstanbul", "istanbul"},
		{"sharp s", "ẞ", "ß"},
		{"composed in lower case only", "H\u0331", "\u1e96"},
		{"compatibility capital, then a mark", "\u210c\u0331", "\u1e96"},
		{"zero width space", "台\u200b风 ty\u200bphoon", "台风 typhoon"},
		{"zero width joiners", "台\u200d风\u200c", "台风"},
		{"byte order mark", "\ufeff台\ufeff风", "台风"},
		{"soft hyphen", "ty\u00adphoon", "typhoon"},
		{"marks of direction", "\u202e台\u202c\u2066风\u2069", "台风"},
		{"variation selectors", "台\ufe00风\U000e0100", "台风"},
		{"Hangul filler", "台\u3164风\u115f", "台风"},
		{"invisible before a mark", "cafe\u200b\u0301", "café"},
		{"tag characters", "台\U000e0041风", "台风"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := shared(t).Tokens("", c.a), shared(t).Tokens("", c.b)
			if len(a) == 0 {
				t.Errorf("no tokens in %q", c.a)
			}
			if diff := cmp.Diff(a, b); diff != "" {
				t.Errorf("tokens of %q and %q differ:\n%s", c.a, c.b, diff)
			}
		})
	}
}

// Other tokens call for a new normVersion, for they make stored fingerprints
// worthless. The identity shows that two loads of the same words agree.
func TestTokensGolden(t *testing.T) {
	inputs, err := filepath.Glob("testdata/articles/*.txt")
	if err != nil || len(inputs) == 0 {
		t.Fatalf("no articles: %v", err)
	}
	got := shared(t).Identity() + "\n"
	for _, path := range inputs {
		article, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		title, content, _ := strings.Cut(string(article), "\n")
		got += fmt.Sprintf("\n%s\n", filepath.Base(path))
		counts := shared(t).Tokens(title, content)
		for _, word := range slices.Sorted(maps.Keys(counts)) {
			got += fmt.Sprintf("  %s %d\n", word, counts[word])
		}
	}
	golden.Check(t, "testdata/tokens.golden", []byte(got))
}

// No shape of text takes more than near-linear time or memory: with gse's
// hidden Markov model, say, this test would take hours.
func TestTokensOfLongTexts(t *testing.T) {
	size := 1 << 20
	if check.Race { // finds no more in a long text
		size = 1 << 14
	}
	for _, c := range []struct {
		name, unit string
		tokens     bool // whether any is left
	}{
		{"one character", "中", true},
		{"one rare character", "䶮", true},
		{"one stop word", "的", false},
		{"one word", "台风", true},
		{"words unbroken", "台风登陆北京天气晴朗", true},
		{"a letter", "a", true},
		{"digits", "7", true},
		{"short words", "a1 ", true},
		{"letters and characters", "a中", true},
		{"spaces", " ", false},
		{"line breaks", "\n", false},
		{"combining marks", "\u0301", false},
		{"combining marks that reorder", "a\u0301\u0323\u0330", true},
		{"invisible characters", "\u200b", false},
		{"emoji", "😀", false},
		{"what NFKC makes longer", "\ufdfa", true},
		{"invalid bytes", "\xff", false},
		{"NUL", "\x00", false},
		{"left angles", "<", false},
		{"open tags", "<p ", true},
		{"open tags with a doctype", "<!doctype html><p a=b ", false},
		{"tags", "<b>中</b>", true},
		{"open scripts", "<script>", false},
		{"open templates", "<template a=b>", false},
		{"open comments", "<p><!--", false},
		{"ampersands", "&", false},
		{"references", "&#20013;", true},
		{"unknown references", "&nosuchreference;", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tok := shared(t)
			length := max(len(c.unit), len(tok.norm.normalize(c.unit)))
			got := tok.Tokens("", strings.Repeat(c.unit, size/length))
			if (len(got) > 0) != c.tokens {
				t.Errorf("%d different tokens, want some: %v", len(got), c.tokens)
			}
		})
	}
}

func TestTokensConcurrently(t *testing.T) {
	articles := []string{
		"台风登陆，12 人受伤。", "The typhoon made landfall.", "<p>颱風<b>登</b>陸</p>", "ＡＢＣ &amp; Ä",
	}
	tok := shared(t)
	var want []map[string]int
	for _, a := range articles {
		want = append(want, tok.Tokens(a, a))
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				for i, a := range articles {
					if got := tok.Tokens(a, a); !maps.Equal(got, want[i]) {
						t.Errorf("%q\n got %s\nwant %s", a, tokens(got), tokens(want[i]))
					}
				}
			}
		})
	}
	group.Wait()
}

func TestNewRefuses(t *testing.T) {
	check.OneGoroutine(t)
	gb18030 := "\xcc\xa8\xb7\xe7 100\n"
	for _, c := range []struct{ name, dictionary, stopWords, html, want string }{
		{name: "html", html: "yes", want: `html mode "yes": want auto, always or never`},
		{
			name: "frequency is no number", dictionary: "台风眼 100\n# note\n\n風眼 n\n",
			want: `FILE:4: frequency "n" of word "風眼" is no number from 1 to 1e9; without one a word gets 1000`,
		},
		{name: "frequency too low", dictionary: "台风眼 0.5", want: `FILE:1: frequency "0.5"`},
		{name: "frequency too high", dictionary: "台风眼 1e10", want: `FILE:1: frequency "1e10"`},
		{name: "frequency not finite", dictionary: "台风眼 NaN", want: `FILE:1: frequency "NaN"`},
		{
			name: "word with a space", dictionary: "machine learning 100",
			want: `FILE:1: frequency "learning" of word "machine"`,
		},
		{name: "word with spaces", dictionary: "a b c 100", want: `FILE:1: "a b c 100" has 4 fields`},
		{
			name: "word with punctuation", dictionary: "台风眼\nc++ 100",
			want: `FILE:2: word "c++" can never match: text is split at all but letters and numbers`,
		},
		{
			name: "word that normalises to punctuation", dictionary: "台风（一） 9",
			want: `FILE:1: word "台风（一）" can never match`,
		},
		{name: "word without letters", dictionary: "\u200b\u0301", want: `FILE:1: word "\u200b`},
		{name: "long word", dictionary: strings.Repeat("中", 65), want: "is longer than 64 characters"},
		{
			name: "dictionary not UTF-8", dictionary: gb18030,
			want: "FILE:1: not UTF-8; convert the file, as with: iconv -f GB18030 -t UTF-8",
		},
		{name: "stop list not UTF-8", stopWords: "\n" + gb18030, want: "FILE:2: not UTF-8"},
		{
			name: "long line", stopWords: "a\n" + strings.Repeat("b", 1<<17),
			want: "FILE:2: line longer than 65536 bytes",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := Options{CleanOptions: CleanOptions{HTML: c.html}}
			path := ""
			if c.dictionary != "" {
				path = write(t, "dictionary.txt", c.dictionary)
				o.Dictionaries = []string{path}
			}
			if c.stopWords != "" {
				path = write(t, "stop.txt", c.stopWords)
				o.StopWords = []string{path}
			}
			_, err := New(o)
			if want := strings.ReplaceAll(c.want, "FILE", path); err == nil ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("error %v\n  want %s", err, want)
			}
		})
	}
	for _, o := range []Options{
		{Dictionaries: []string{"testdata/missing.txt"}},
		{StopWords: []string{"testdata/missing.txt"}},
	} {
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), "testdata/missing.txt") {
			t.Errorf("New(%+v): error %v, want the missing path", o, err)
		}
		o.Dictionaries, o.StopWords = nil, []string{"testdata"}
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), "testdata") {
			t.Errorf("New(%+v): error %v, want the folder's path", o, err)
		}
	}
}
