package pinyin

import "testing"

func TestLetters(t *testing.T) {
	letters := newLetters()
	for text, want := range map[string]string{
		"":             "",
		"台风登陆":         "tfdl",
		"重庆 2026 年。":   "zqn", // the most usual reading, which is not always that of the word
		"iphone 新品":    "IPHONExp",
		"你好,world!":    "nhWORLD",
		"〇𠀀":           "l" + "h",
		"ω 7 が é \x00": "",
	} {
		if got := string(letters.append(nil, []byte(text))); got != want {
			t.Errorf("letters of %q: %q, want %q", text, got, want)
		}
	}
}

// No syllable begins with i, u or v.
func TestInitialsOfAllCharacters(t *testing.T) {
	for r, letter := range newLetters().of {
		switch {
		case letter == 0, 'A' <= letter && letter <= 'Z' && r <= 'z':
		case letter < 'a' || letter > 'z' || letter == 'i' || letter == 'u' || letter == 'v':
			t.Errorf("%c counts as %q", r, letter)
		}
	}
}
