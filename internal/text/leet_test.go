package text

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/text/fold"
)

// A word of spam is the same in each of its spellings.
func TestLeet(t *testing.T) {
	c := foldingCleaner(t)
	for in, want := range map[string]string{
		"v1agra": "viagra", "V1AGRA!": "viagra!", "V1AGR4": "viagra", "c1al1s": "cialis",
		"b0nus": "bonus", "c4sino": "casino", "cas1n0": "casino", "cas1n0s": "casinos",
		"p0rn": "porn", "s3xy": "sexy", "fr33dom": "freedom", "l0ans": "loans", "cr3d1t": "credit",
		"m0ney": "money", "inve5t": "invest", "t3legram": "telegram", "wh4tsapp": "whatsapp",
		"b1tcoin": "bitcoin", "disc0unt": "discount", "gu4rant33d": "guaranteed", "pa55word": "password",
		"buy v1agra.":         "buy viagra.",
		"(v1agra) \"c4sino\"": "(viagra) \"casino\"",
		"v1agra-c4sino,b0nus": "viagra-casino,bonus",
		"v1agra/c4sino":       "viagra/casino",
		"买v1agra，送b0nus":      "买viagra,送bonus",
		"в0nus":               "bonus", // the letter is Cyrillic
		"ｖ１ａｇｒａ 𝐯𝟏𝐚𝐠𝐫𝐚 v①agra ⓥ❶ⓐⓖⓡⓐ": "viagra viagra viagra viagra",
		"v\u202e1\u200bagra": "viagra",
		"V 1 A G R A":        "viagra",
		"v1ágra":             "viagra",
	} {
		if got := folded(c, in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

// What honest texts write with digits is as it was.
func TestLeetLeavesHonestWords(t *testing.T) {
	c := foldingCleaner(t)
	honest := `5g 4k 3d 2fa 1st 2nd 3rd 10am 5pm 100km 30s 1080p 7up 4ever 5gphone covid-19 covid19
		covid19test mp3 mp4 mp3player mp4s h1n1 h5n1 b2b b2c p2p w3c h2o co2 c4 a4 x86 x64 i18n l10n a11y
		k8s s3 ec2 e2e utf8 utf-8 sha256 md5 h264 win10 win7 win7pro python3 web3 web3js log4j log4shell
		slf4j neo4j hba1c iphone5s iphone4 galaxys7edge ps4 ps5 ps5pro rtx3080ti gtx1070 gt3rs 7800x3d
		wh-1000xm4 sm-a515f t-1000 a320 b737 f16 c130 m16 ak47 r2d2 c3po area51 route66 formula1 top10 k12
		b12 g20 u2 sw1a ec1v n17ab 1a2b3c4d a3f5e7bc 0x1f4a fr33 gr8 m8 john33 us$50 $100 ca$h 3.5 v1.0
		v1.4.3b 12:30

		v1agra.com www.b0nus-shop.net/c4sino t.me/cr1pto @b0nus_bot m1ke@mail.com https://x/b0nus
		#b0nus q=b0nus /b0nus c4sino.txt my_v4lue c:\b0nus`
	for _, in := range strings.Fields(honest) {
		if got := folded(c, in); got != in {
			t.Errorf("%q becomes %q", in, got)
		}
	}
	for _, in := range []string{"第3季 t恤3件", "ж1знь", "пр0дам", "مرحبا3بك"} {
		digits, _ := c.AppendStyled(nil, "", in)
		if got := folded(c, in); got != string(digits[1:]) {
			t.Errorf("%q becomes %q, want %q", in, got, digits[1:])
		}
	}
}

// Names and codes are exact: a finder of contacts gets them as they are. A mask knows digits as
// such.
func TestNamesKeepTheirDigits(t *testing.T) {
	c, err := NewCleaner(CleanOptions{Fold: fold.Latest, Mask: digitMask{}})
	if err != nil {
		t.Fatal(err)
	}
	const content = "b0nus of m4rie"
	if clean, _ := c.AppendStyled(nil, "", content); string(clean) != "\n"+content {
		t.Errorf("as a finder gets it: %q", clean)
	}
	if got := folded(c, content); got != "bnus of mrie" {
		t.Errorf("masked: %q", got)
	}
}

// digitMask takes out digits.
type digitMask struct{}

func (digitMask) Identity() string { return "mask=digits" }

func (digitMask) Apply(text []byte) []byte {
	return slices.DeleteFunc(text, func(b byte) bool { return '0' <= b && b <= '9' })
}

var (
	visible = regexp.MustCompile(`[!-~]+`)
	address = regexp.MustCompile(`^/|[@#_=\\]|[a-z0-9]\.[a-z0-9]|://`)
	words   = regexp.MustCompile(`[a-z0-9]+`)
	signs   = regexp.MustCompile(`[0-9]+`)
	leet    = regexp.MustCompile(strings.ReplaceAll(`^[a-z]+(SIGN[a-z]+)+SIGN?$`, "SIGN",
		`(00?|11?|33?|44?|55?|77?)`))
	own = regexp.MustCompile(`^(c3po|covid|galaxy|gt3|hba1c|iphone|log4|mp[34]|neo4j|ps[345]|` +
		`python3|slf4j|web3|win7)`)
	digits = strings.NewReplacer("0", "o", "1", "i", "3", "e", "4", "a", "5", "s", "7", "t")
)

// leetByDefinition is what [fold.Leet] says.
func leetByDefinition(s string) string {
	return visible.ReplaceAllStringFunc(s, func(chunk string) string {
		if address.MatchString(chunk) {
			return chunk
		}
		return words.ReplaceAllStringFunc(chunk, func(word string) string {
			count := len(strings.Join(signs.FindAllString(word, -1), ""))
			parts := slices.DeleteFunc(signs.Split(word, -1), func(s string) bool { return s == "" })
			letters := len(word) - count
			if !leet.MatchString(word) || own.MatchString(word) || letters < 2*count || letters < 3 ||
				letters == 3 && len(parts[len(parts)-1]) < 2 {
				return word
			}
			return digits.Replace(word)
		})
	})
}
