package contact

import (
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/text"
	"github.com/clusterd/clusterd/internal/text/fold"
)

func maskOf(t testing.TB, names ...string) *Mask {
	t.Helper()
	m, err := NewMask(names)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMask(t *testing.T) {
	for name, want := range map[string]map[string]string{
		"urls": {
			"see https://winslots.com/a?b=c, or winslots点com now": "see  , or   now",
			"youtube.com/watch?v=x, t.me/alexis17, wa.me/6281":    " ,  ,  ",
			"sam@163.com alexis17 13913572468":                    "sam@163.com alexis17 13913572468",
		},
		"contacts": {
			"https://winslots.com sam@winslots.com":      "https://winslots.com  ",
			"ask alexis17, covid19 or 139 1357 2468 now": "ask  ,   or   now",
			"邀请码731946 微信lucky_star, 1,250 people, 2024": "邀请码  微信 , 1,250 people, 2024",
		},
		"numbers": {
			"3.14 kg, 12:30, 1,250 of 2024-01-05 in 5g v2": "  kg,  ,   of   in  g v ",
			"第十二章 三百 a1 12345.":                            "第十二章 三百 a   .",
		},
		"numerals": {
			"三百人, 一人, 一九九八年, 12人": " 人, 一人,  年, 12人",
			"两千万元和二十一岁":           " 元和 岁",
		},
		"dates": {
			"2024年1月5日12时30分 三月 十二点":                  "         ",
			"十分漂亮, 一点, 一时, 12 people, 一九九八年":          "十分漂亮, 一点, 一时, 12 people,  ",
			"on monday, july 12, may is a modal verb": "on  ,   12, may is a modal verb",
			"mondays marching decimal":                "mondays marching decimal",
		},
	} {
		m := maskOf(t, name)
		for in, want := range want {
			if got := string(m.Apply([]byte(in))); got != want {
				t.Errorf("without %s, %q is %q, want %q", name, in, got, want)
			} else if again := string(m.Apply([]byte(got))); again != got {
				t.Errorf("without %s once more, %q is %q", name, got, again)
			}
		}
	}
}

// All masks at once: texts that a template filled in are the same.
func TestMasks(t *testing.T) {
	m := maskOf(t, Masks...)
	c, err := text.NewCleaner(text.CleanOptions{Fold: fold.Latest, Mask: m})
	if err != nil {
		t.Fatal(err)
	}
	cleaned := func(content string) string {
		return strings.Join(strings.Fields(string(c.AppendClean(nil, "", content))), " ")
	}
	a := cleaned("已有291人加入，1月5日开奖，加V lucky88，winslots.com，三百名额")
	b := cleaned("已有17,594人加入，12月31日开奖，加V starry17，http://slots点net/?k=1，二十名额")
	if a != b || !strings.Contains(a, "人加入") {
		t.Errorf("the template says %q and %q", a, b)
	}
	// Where next to nothing is left, nothing is taken out.
	for _, content := range []string{
		"13913572468", "winslots.com 5", "alexis17 go!", "2024-01-05 12:30",
	} {
		if got := string(c.AppendClean(nil, "", content)); got != "\n"+content {
			t.Errorf("%q is %q, want it as it is", content, got)
		}
	}
}

func TestMaskIdentity(t *testing.T) {
	if got := maskOf(t, "numbers", "urls", "numbers").Identity(); got != "mask=urls+numbers/"+version {
		t.Errorf("identity %s", got)
	}
	if got := maskOf(t, "dates", "numbers").Identity(); got != "mask=numbers+dates/1" {
		t.Errorf("without contacts: identity %s", got)
	}
	_, err := NewMask([]string{"urls", "words"})
	check.ErrorHas(t, err, `"words"`, "urls, contacts, numbers, numerals, dates")
}

// FuzzMask: what is left is the text with spaces in place of parts of it.
func FuzzMask(f *testing.F) {
	check.OneGoroutine(f)
	c, m := folding(f), maskOf(f, Masks...)
	f.Add("2024年1月5日 三百 3.14 july alexis17 http://winslots.com/x sam@163.com 13913572468")
	f.Fuzz(func(t *testing.T, content string) {
		clean := string(c.AppendClean(nil, "", content))
		rest, from := string(m.Apply([]byte(clean))), clean
		for _, word := range strings.Split(rest, " ") {
			_, after, ok := strings.Cut(from, word)
			if !ok {
				t.Fatalf("of %q is left %q: %q is not in it", clean, rest, word)
			}
			from = after
		}
		if len(rest) > len(clean) {
			t.Errorf("of %d bytes %d are left", len(clean), len(rest))
		}
	})
}
