package paper

import (
	"slices"
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	for text, want := range map[string][]string{
		"":                 nil,
		"港口大桥今天通车":         {"港口", "大桥", "今天", "通车"},
		"港口大桥。":            {"港口", "大桥", "。"},
		"the café's 12,5%": {"the", " ", "café", "'", "s", " ", "12", ",", "5", "%"},
		"用iphone15拍":       {"用", "iphone15", "拍"},
		"ひらがな漢字x":          {"ひらがな", "漢字", "x"},
		"cafe\u0301 naïve": {"cafe\u0301", " ", "naïve"},
		"\xff港":            {"\xff", "港"},
	} {
		if got := words(text); !slices.Equal(got, want) {
			t.Errorf("words of %q: %q, want %q", text, got, want)
		}
	}
}

func TestSentences(t *testing.T) {
	for text, want := range map[string][]string{
		"":                     nil,
		"one":                  {"one"},
		"title\nfirst. second": {"title\n", "first. ", "second"},
		"大桥通车。“真好！”他说。":        {"大桥通车。", "“真好！”", "他说。"},
		"up 3.5 % (a.b)? yes":  {"up 3.5 % (a.b)? ", "yes"},
		"wait... then\n\n\ngo": {"wait... ", "then\n\n\n", "go"},
	} {
		if got := sentences(text); !slices.Equal(got, want) {
			t.Errorf("sentences of %q: %q, want %q", text, got, want)
		}
	}
}

func TestSpaced(t *testing.T) {
	for word, want := range map[string]string{
		"word": "word ", "12": "12 ", "港口": "港口", "。": "。",
		"": "",
	} {
		if got := spaced(word); got != want {
			t.Errorf("spaced %q: %q", word, got)
		}
	}
}

// Divided and joined, a text is the same, whatever it is.
func FuzzDivide(f *testing.F) {
	f.Fuzz(func(t *testing.T, text string) {
		for name, parts := range map[string][]string{"words": words(text), "sentences": sentences(text)} {
			if joined := strings.Join(parts, ""); joined != text {
				t.Errorf("%s of %q joined: %q", name, text, joined)
			}
			if slices.Contains(parts, "") {
				t.Errorf("%s of %q: %q", name, text, parts)
			}
		}
	})
}
