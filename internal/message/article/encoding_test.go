package article_test

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding/htmlindex"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/text/charset"
)

func encoding(t testing.TB, name string) *charset.Encoding {
	t.Helper()
	e, err := charset.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func encoded(t testing.TB, name, text string) []byte {
	t.Helper()
	e, err := htmlindex.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	b, err := e.NewEncoder().Bytes([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const (
	harbour  = `{"id":"港7","title":"台风登陆","content":"台风今晨登陆，铁路部门停运了\"三十多趟\"列车。\n瀄，誠實","source":"\u65b0\u534e"}`
	harbourT = `{"id":"港7","title":"颱風登陸","content":"颱風今晨登陸，鐵路部門停駛了\"三十多班\"列車。\n許功蓋","source":"\u65b0\u534e"}`
)

// JSON is read once it is UTF-8: in GBK, Big5 and Shift_JIS the second byte of a character may be
// that of a backslash or a brace.
func TestDecodeEncodings(t *testing.T) {
	for _, tt := range []struct {
		in, named, value string
		auto             bool
	}{
		{"utf-8", "utf-8", harbour, true},
		{"gb18030", "gb18030", harbour, true},
		{"gbk", "gb2312", harbour, true},
		{"big5", "big5", harbourT, true},
		{"utf-16le", "utf-16", harbour, true},
		{"utf-16be", "utf-16be", harbour, true},
		{"shift_jis", "shift_jis", `{"id":"1","content":"ソ連の表示は十分ではない。"}`, false},
		{"euc-kr", "euc-kr", `{"id":"1","content":"태풍이 오늘 아침 상륙했다"}`, false},
		{"windows-1252", "latin1", `{"id":"1","content":"Le café d'à côté"}`, false},
	} {
		want, err := jsonDecoder(defaultFields(), maxBytes, "auto").Decode(nil, []byte(tt.value), here())
		if err != nil {
			t.Fatal(err)
		}
		value := encoded(t, tt.in, tt.value)
		for _, name := range []string{tt.named, "auto"} {
			if name == "auto" && !tt.auto {
				continue
			}
			got, err := jsonDecoder(defaultFields(), maxBytes, name).Decode(nil, value, here())
			notes := got.Notes
			if got.Notes = nil; err != nil || got != want {
				t.Errorf("%s as %s: %+v, %v, want %+v", tt.in, name, got, err, want)
			}
			if tt.in != "utf-8" && (notes == nil || notes.Encoding != encoding(t, tt.in).String() ||
				notes.Invalid) {
				t.Errorf("%s as %s: notes %+v", tt.in, name, notes)
			}
		}
	}
}

// A key is read as its value is, since it alone says too little.
func TestDecodeTextKeysInEncodings(t *testing.T) {
	const text = "台风今晨登陆，铁路部门停运了三十多趟列车。"
	for _, in := range []string{"gbk", "utf-16le", "big5"} {
		content := text
		if in == "big5" {
			content = "颱風今晨登陸，鐵路部門停駛了三十多班列車。"
		}
		for _, name := range []string{in, "auto"} {
			decoder := plainTextDecoder(maxBytes, name)
			got, err := decoder.Decode(encoded(t, in, "港"), encoded(t, in, content), here())
			if in == "utf-16le" && name == "auto" {
				got.ID = "港" // its bytes are valid UTF-8
			}
			if err != nil || got.ID != "港" || got.Content != content {
				t.Errorf("%s as %s: %+v, %v", in, name, got, err)
			}
		}
	}
}

func TestDecodeBoundsWhatItTranscodes(t *testing.T) {
	value := encoded(t, "gbk", `{"content":"`+strings.Repeat("台风", 100)+`"}`)
	decoder := jsonDecoder(defaultFields(), len(value)+10, "auto")
	_, err := decoder.Decode(nil, value, here())
	if reason := rejected(t, err, article.TooLarge); !strings.Contains(reason, "gb18030") {
		t.Errorf("reason %q, want the encoding in it", reason)
	}
	// Marks for bytes that cannot be read cost no article, as ever.
	value = []byte(`{"content":"` + strings.Repeat("x\xff", 100) + `"}`)
	if _, err := jsonDecoder(defaultFields(), len(value), "utf-8").Decode(nil, value,
		here()); err != nil {
		t.Error(err)
	}
	_, err = jsonDecoder(defaultFields(), maxBytes, "auto").Decode(nil,
		encoded(t, "gbk", "台风今晨登陆，铁路部门停运"), here())
	if reason := rejected(t, err, article.BadJSON); !strings.Contains(reason, "(read as gb18030)") {
		t.Errorf("reason %q, want the encoding in it", reason)
	}
}
