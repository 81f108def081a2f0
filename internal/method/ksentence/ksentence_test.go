package ksentence

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clusterd/clusterd/internal/text"
)

func sentencesOf(clean string) (all []string) {
	var s splitter
	s.split([]byte(clean))
	for _, one := range s.sentences {
		all = append(all, string(s.text[one.start:one.end]))
	}
	return all
}

func TestSplit(t *testing.T) {
	for _, test := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{" \n。!?...", nil},
		{"台风登陆。居民转移!安全吗?是;好", []string{"台风登陆", "居民转移", "安全吗", "是", "好"}},
		{"台风,登陆了。“居民”转移", []string{"台风登陆了", "居民转移"}},
		{"台风.居民", []string{"台风居民"}}, // as in a name; not where white space follows
		{"台风. 居民.", []string{"台风", "居民"}},
		{"the storm. it came! why?", []string{"thestorm", "itcame", "why"}},
		{"a line\nanother\r\n\na third\u2028a fourth", []string{"aline", "another", "athird", "afourth"}},
		{"it grew by 3.14 percent. the rest", []string{"itgrewby314percent", "therest"}},
		{"see example.org/a.html. the rest", []string{"seeexampleorgahtml", "therest"}},
		{"dr. li of the u.s. army left. the rest", []string{"drlioftheusarmyleft", "therest"}},
		{"in 2020. the rest", []string{"in2020", "therest"}},
		{"1. first\n2. second", []string{"1first", "2second"}},
		{"he left.” the rest", []string{"heleft", "therest"}},
		{"e\u0301tat", []string{"e\u0301tat"}},
	} {
		if got := sentencesOf(test.text); !slices.Equal(got, test.want) {
			t.Errorf("sentences of %q: %q, want %q", test.text, got, test.want)
		}
	}
}

func TestLongest(t *testing.T) {
	for _, test := range []struct {
		text string
		n    int
		want string
	}{
		{"", 3, ""},
		{"aa\nb", 3, "aa\nb\n"},
		{"a\nbbb\ncc\ndddd", 2, "bbb\ndddd\n"},
		{"dddd\nbbb\ncc", 2, "dddd\nbbb\n"},
		{"aa\nbb\ncc", 2, "aa\nbb\n"},
		{"aa\nbbb\ncc\ndd", 2, "aa\nbbb\n"},
		{"aaaa\n台风登陆了", 1, "台风登陆了\n"}, // by characters, not by bytes
		{"aaaa\n台风", 1, "aaaa\n"},
		{"aa\naa\naa", 2, "aa\naa\n"},
	} {
		var s splitter
		s.split([]byte(test.text))
		if got := string(s.longest(test.n)); got != test.want {
			t.Errorf("the %d longest of %q: %q, want %q", test.n, test.text, got, test.want)
		}
	}
}

// The longest sentences are those before which fewer than n are longer, or as long and earlier.
func FuzzLongest(f *testing.F) {
	f.Add("a. bb! ccc\ndd。eee", 2)
	f.Add("台风. 3.14 u.s. army\xff", 1)
	f.Add("aa\naa\naa\nb", 3)
	f.Fuzz(func(t *testing.T, text string, n int) {
		if n < 1 {
			t.Skip()
		}
		text = strings.ToValidUTF8(text, "")
		all := sentencesOf(text)
		ranks := make([]int, len(all))
		for i := range ranks {
			ranks[i] = i
		}
		slices.SortFunc(ranks, func(a, b int) int {
			return cmp.Or(utf8.RuneCountInString(all[b])-utf8.RuneCountInString(all[a]), a-b)
		})
		ranks = ranks[:min(n, len(ranks))]
		want := ""
		for i, one := range all {
			if slices.Contains(ranks, i) {
				want += one + "\n"
			}
		}
		var s splitter
		s.split([]byte(text))
		if got := string(s.longest(n)); got != want {
			t.Errorf("the %d longest of %q: %q, want %q", n, text, got, want)
		}
	})
}

func newMethod(t testing.TB, sentences int) *Method {
	t.Helper()
	cleaner, err := text.NewCleaner(text.CleanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(cleaner, sentences, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestFingerprinter(t *testing.T) {
	const long = "台风已经在沿海登陆。居民转移到了学校。政府表示没有人员伤亡。"
	m := newMethod(t, 3)
	fingerprint := m.NewFingerprinter()
	for _, test := range []struct {
		name, a, b string
		same       bool
	}{
		{"a short sentence in front", long, "快讯。" + long, true},
		{"a short sentence within", long, strings.Replace(long, "居民", "记者张三。居民", 1), true},
		{"other punctuation and white space", long, strings.ReplaceAll(long, "。", "! \n"), true},
		{"a word of a long one", long, strings.Replace(long, "沿海", "海边", 1), false},
		{"other order", long, "政府表示没有人员伤亡。居民转移到了学校。台风已经在沿海登陆。", false},
		{"one sentence more", "台风登陆。", "台风登陆。居民转移。", false},
		{"one sentence that is two", "台风登陆居民转移", "台风登陆。居民转移", false},
	} {
		a, okA := fingerprint("", test.a)
		b, okB := fingerprint("", test.b)
		if same := m.Distance(a, b) == 0; same != test.same || !okA || !okB {
			t.Errorf("%s: distance %v, %t, %t", test.name, m.Distance(a, b), okA, okB)
		}
	}
	if _, ok := fingerprint("!", " …。"); ok {
		t.Error("punctuation has a fingerprint")
	}
}

func TestIdentity(t *testing.T) {
	if got, want := newMethod(t, 4).Identity(),
		"method=ksentence,sentences=4,norm=1,html=auto"; got != want {
		t.Errorf("identity %q, want %q", got, want)
	}
	if _, err := New(nil, 0, nil); err == nil {
		t.Error("no sentences are allowed")
	}
}
