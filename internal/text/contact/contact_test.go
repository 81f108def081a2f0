package contact

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/golden"
	"github.com/clusterd/clusterd/internal/text"
	"github.com/clusterd/clusterd/internal/text/fold"
)

// folding is the cleaner before which contacts are looked for.
func folding(t testing.TB) *text.Cleaner {
	t.Helper()
	c, err := text.NewCleaner(text.CleanOptions{Fold: fold.Latest, Links: true})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func finderOf(t testing.TB, ignore ...string) *Finder {
	t.Helper()
	f, err := New(ignore, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// valuesOf returns the contacts of an article of this content, with spaces between.
func valuesOf(c *text.Cleaner, f *Finder, content string) string {
	clean, styled := c.AppendStyled(nil, "", content)
	var parts []Range
	for _, part := range styled {
		parts = append(parts, Range(part))
	}
	return strings.Join(f.Values(clean, parts...), " ")
}

func TestContacts(t *testing.T) {
	c, f := folding(t), finderOf(t)
	for _, group := range []struct {
		what string
		want map[string]string
	}{
		{"sites", map[string]string{
			"see https://www.winslots.com/page?b=c now":     "site:winslots.com",
			"Visit ALEXIS-17.NET.":                          "site:alexis-17.net",
			"http://a.b.winslots.co.id/x":                   "site:winslots.co.id",
			"m.winslots.vip，快来":                             "site:winslots.vip",
			"http://203.0.113.7:8080/x":                     "site:203.0.113.7",
			"http://paypal.com@winslots.top/login":          "site:winslots.top",
			"my.blogspot.com and you.github.io":             "site:my.blogspot.com site:you.github.io",
			"ana17.tumblr.com":                              "site:ana17.tumblr.com",
			"www.winslots.today is open":                    "site:winslots.today",
			"win.today/slots":                               "site:win.today",
			"https://winslots.today":                        "site:winslots.today",
			"5566888.com":                                   "site:5566888.com",
			"best pills 24 dot com, bestpills24.com":        "site:bestpills24.com",
			"visit best pills 24 dot com now":               "site:bestpills24.com",
			"geocities.com and www.netscape.com/":           "",
			"geocities.com/winslots":                        "url:geocities.com/winslots",
			"winslots.com, winslots.com/a and WinSlots.com": "site:winslots.com",
		}},
		{"pages of platforms", map[string]string{
			"https://www.youtube.com/watch?v=AbC-_17&t=3s":   "",
			"www.youtube.com/watch?si=x&v=AbC-_17&index=2":   "url:youtube.com/watch?v=abc-_17",
			"youtu.be/AbC17?si=z m.youtube.com/shorts/AbC17": "url:youtube.com/watch?v=abc17",
			"/watch?v=AbC-_17":                                     "url:youtube.com/watch?v=abc-_17",
			"bit.ly/3xYz and goo.gl\\BxRosr":                       "url:bit.ly/3xyz url:goo.gl/bxrosr",
			"sites.google.com/ad/?utm_id=x&bb=2&aa=1&si=z#p":       "url:sites.google.com/ad?aa=1&bb=2",
			"https://t.me/Kefu_8 telegram.me/@kefu_8":              "name:kefu_8",
			"t.me/joinchat/AbC2 t.me/+AbC2":                        "url:t.me/+abc2 url:t.me/joinchat/abc2",
			"https://wa.me/6281234567890?text=hi":                  "number:+6281234567890",
			"wa.me/6281234567890 t.me/+6281234567890":              "number:+6281234567890",
			"facebook.com/100012345678":                            "number:100012345678",
			"api.whatsapp.com/send?phone=6281234567890":            "number:+6281234567890",
			"tiktok.com/@alexisbaby":                               "name:alexisbaby",
			"http://www.county.gov.cn/news/1.html":                 "url:county.gov.cn/news/1.html",
			"http://www.county.gov.cn/ www.youtube.com/ baidu.com": "",
			"https://www.google.com/index.html":                    "",
		}},
		{"addresses", map[string]string{
			"mail Sam.Lee+news@Shop-Mail.example.net!": "mail:sam.lee@shop-mail.example.net",
			"sam#163.com, sam(at)163(dot)com":          "mail:sam@163.com",
			"sam@ 163.com":                             "mail:sam@163.com",
			"<a href='mailto:sam@163.com'>x</a>":       "mail:sam@163.com",
			"314159265@qq.com or QQ 314159265":         "number:314159265",
			"x@localhost a@b.c1 @163.com":              "",
			"sam (at) gmail (dot) com":                 "mail:sam@gmail.com",
			"sam.lee [at] shop-mail [dot] com":         "mail:sam.lee@shop-mail.com",
			"sam17 at gmail dot com":                   "mail:sam17@gmail.com",
		}},
		{"numbers", map[string]string{
			"电话：139-1357-2468":                         "number:13913572468",
			"+86 139 1357 2468, 0086-13913572468":      "number:+8613913572468",
			"+62 813-5792-4680 081357924680":           "number:+6281357924680 number:081357924680",
			"+44 7911 123456, 07911 123456":            "number:+447911123456 number:07911123456",
			"(010)6567-1234 01065671234 010-65671234":  "number:01065671234",
			"030/1234567 and 040/1234567":              "number:0301234567 number:0401234567",
			"0171 234 56789, 06 1 234 5678":            "number:017123456789 number:0612345678",
			"QQ：31415, 加q31415":                        "number:31415",
			"微信同号 15926535897":                         "number:15926535897",
			"qq31415 tel:31415":                        "number:31415",
			"text WIN to 87121 now":                    "number:87121",
			"call 08712404000 or 0871 240 4001 2 stop": "number:08712404000 number:08712404001",
			"tel 08712404000now, 08712404001150p/min":  "number:08712404000 number:08712404001",
			"400.820.8823":                             "number:4008208823",
			"31415926 27182818":                        "number:27182818 number:31415926",
			"13913572468 13913572469":                  "number:13913572468 number:13913572469",
			"联系一三九一三五七二四六八":                            "number:13913572468",
			"139一三五七2468":                              "number:13913572468",
		}},
		{"names", map[string]string{
			"微信：lucky_star":                                      "name:lucky_star",
			"wechat id lucky_star":                               "name:lucky_star",
			"加v luck-1234":                                       "name:luck-1234",
			"加vx：luck1234，加wxluck1234":                           "name:luck1234",
			"Telegram: @lucky.star":                              "name:lucky.star",
			"IG @lucky.star17":                                   "name:lucky.star17",
			"ask alexis17 or 88bet77 or sk38xh":                  "name:88bet77 name:alexis17 name:sk38xh",
			"main di bet77":                                      "name:bet77",
			"line id: lucky8, dm @lucky8":                        "name:lucky8",
			"WINSLOT4D gacor":                                    "name:winslot4d",
			"公众号lucky8":                                          "name:lucky8",
			"message @crypto_anna on Telegram":                   "name:crypto_anna",
			"write crypto_anna on my telegram, t.me/crypto_anna": "name:crypto_anna",
			"加薇信：qian 8888 zhuan":                                "name:qian8888zhuan",
			"加薇信：qian 8888 zhuan，qian8888zhuan":                  "name:qian8888zhuan",
			"微信：wang 139 1357 2468":                              "number:13913572468",
		}},
		{"codes", map[string]string{
			"邀请码 888x6":                     "code:888x6",
			"邀请码：731946, promo code 731947": "code:731946 code:731947",
			"use code alexis17":             "code:alexis17",
		}},
	} {
		t.Run(group.what, func(t *testing.T) {
			for content, want := range group.want {
				if got := valuesOf(c, f, content); got != want {
					t.Errorf("%q has the contacts %q, want %q", content, got, want)
				}
			}
		})
	}
}

// Spam writes a contact in ever other ways.
func TestObfuscated(t *testing.T) {
	c, f := folding(t), finderOf(t)
	for want, contents := range map[string][]string{
		"site:winslots.com": {
			"ｗｉｎｓｌｏｔｓ．ｃｏｍ", "WⒾN𝗌lоtѕ.соm", "win\u200bslots.com", "winslots[.]com", "winslots(.)com",
			"winslots (dot)com",
			"winslots(dot)com", "winslots dot com now", "winslots点com", "winslots。com",
			"winslots . com", "winslots. com",
			"hxxp://winslots.com", "hxxps://www.winslots.com/x?y", "w w w . w i n s l o t s . c o m",
			"www. winslots.com", "<a href='http://winslots.com/?a=1'>hier</a>", "🎰winslots.com🎰",
		},
		"name:alexis17": {
			"ALEXIS17", "A L E X I S 1 7", "⭐ A L E X I S 1 7 ⭐", "🅰🅻🅴🆇🅸🆂17", "АLЕХІS17", "ａｌｅｘｉｓ１７",
			"a.l.e.x.i.s.1.7",
			"a💋l💋e💋x💋i💋s💋1💋7", "A\u200bl\u200bexis17", "ÁLËXÎS17", "微信 alexis17", "薇❤信：alexis17",
			"徽信alexis17",
			"加V alexis17",
			"加 薇 alexis17", "ＷＥＣＨＡＴ： alexis17", "t.me/alexis17",
		},
		"number:13913572468": {
			"１３９１３５７２４６８", "①③⑨①③⑤⑦②④⑥⑧", "1 3 9 1 3 5 7 2 4 6 8", "1⃣3⃣9⃣1⃣3⃣5⃣7⃣2⃣4⃣6⃣8⃣",
			"139 1357 2468",
			"一三九一三五七二四六八", "壹叁玖壹叁伍柒贰肆陆捌", "1-3-9-1-3-5-7-2-4-6-8",
			"𝟏𝟑𝟗𝟏𝟑𝟓𝟕𝟐𝟒𝟔𝟖", "139★1357★2468", "vx13913572468",
		},
	} {
		for _, content := range contents {
			if got := valuesOf(c, f, content); got != want {
				t.Errorf("%q has the contacts %q, want %q", content, got, want)
			}
		}
	}
}

// Five letters and more that were written in a style are a name.
func TestStyledNames(t *testing.T) {
	f := finderOf(t)
	text := []byte("main di betmen dan alexis, welcome to alexis17 nice covid")
	part := func(word string) Range {
		at := bytes.Index(text, []byte(word))
		return Range{at, at + len(word)}
	}
	for _, c := range []struct {
		styled []Range
		want   string
	}{
		{nil, "name:alexis17"},
		{[]Range{part("betmen")}, "name:alexis17 name:betmen"},
		{[]Range{part("main di betmen")}, "name:alexis17 name:betmen"},
		{
			[]Range{part("main"), part("bet"), part("men"), part("alexis")},
			"name:alexis name:alexis17 name:betmen",
		},
		{[]Range{part("betm"), part("nice"), part("covid")}, "name:alexis17"}, // which is ignored
	} {
		if got := strings.Join(f.Values(text, c.styled...), " "); got != c.want {
			t.Errorf("with %v in a style, the contacts are %q, want %q", c.styled, got, c.want)
		}
	}
}

// What people write to each other, and numbers of all kinds, are no contacts.
func TestNoContacts(t *testing.T) {
	c, f := folding(t), finderOf(t)
	for what, contents := range map[string][]string{
		"dates and times": {
			"2024-01-05 12:30:45", "2024.01.05", "05-01-2024 1999-2003", "20240105", "20240105123045",
			"编号20260105001", "拨打12306或12356",
			"12:30-13:45",
			"二〇二六年一月五日", "1704545382909", "1998 - 2002", "July 12th 1999", "on 2024-01-05 to 2024-02-06",
		},
		"amounts": {
			"$1260582", "1,260,582 people", "1260582亿元", "23557440.8元", "126.521.750 views",
			"2500-3000元", "Rp1250000",
			"rp 1250000", "rose to 25000", "10000000", "3.14159265358", "€1.250.000,50", "共1234568人",
			"涨了1234568%",
		},
		"versions and addresses on the Internet": {
			"6.00.2900.2180", "v10.0.19041", "202.108.158.12", "from 202.108.158.*", "192.168.1.1:8080",
			"1.2.3-4567",
		},
		"numbers typed for fun": {
			"666666", "23333333", "123456789", "9876543210", "88888888",
			"1212121",
		},
		"series": {
			"6-2 3-6", "21-18 21-15 11-7", "03 07 12 25 31", "10 20 30 40", "line 1 2 3",
		},
		"measures and ordinals": {
			"512kbps and 14mbps", "13x24cm", "400thousand", "21st 102nd 1023rd", "early1990s",
			"100m in 10.04secs", "5000mAh",
		},
		"names of things": {
			"一架飞机ag600m",
			"covid19 and iphone15", "mwc2018 euro2024", "cop29 h1n1 hpv83", "nice666 haha2333",
			"gb18030 iso9001", "mp3 b2b 5g 3d",
		},
		"keys and hashes": {
			"8hlo6gjoaohtttd5sklyc", "f3b53b70", "d41d8cd98f00b204e9800998ecf8427e",
			"550e8400-e29b-41d4-a716-44665544dead",
		},
		"sentences": {
			"great.it was", "I like it.so does he", "wait...and see", "he said.me too",
			"and/or him/her", "e.g. this, i.e. that, at 5 p.m. or later", "x x x x x x",
			"T H I S or W O W",
			"the bottom line is they were better", "line: hurt me", "its dot com culture",
			"the .net framework", "in the year 2000 dot com shares fell", "in 99 dot com stocks rose",
			"meet me at shop dot com culture", "look (at) this", "wait at gmail",
			"I saw @bbc_news on Twitter", "微信：更新到 ios 17 了", "the snake_case on telephones",
			"my telegram is private", "instagram: people love it", "he called to say that",
			"source code is here",
			"error code 10061", "今天8点pk", "3点15分", "晚上8点live", "加油！微信支付", "发短信给我", "text me to be sure",
		},
		"files and shares": {
			"readme.md main.py index.html", "script.sh photo.mov a.zip",
			"000063.sz 0763.hk 600519.sh",
		},
		"mentions": {
			"@alexis17 hello", "回复@alexis17:好的", "thanks @alexis17", "//@小明alexis17:转发",
			"@手机用户3004226201", "@a @b",
			"at 5 @ home",
		},
	} {
		t.Run(what, func(t *testing.T) {
			for _, content := range contents {
				if got := valuesOf(c, f, content); got != "" {
					t.Errorf("%q has the contacts %q, want none", content, got)
				}
			}
		})
	}
}

// What is ignored has a place, but no value.
func TestPlaces(t *testing.T) {
	const content = "ask alexis17 at youtube.com or covid19, http://winslots.com/x!"
	var got []string
	for c := range finderOf(t).All([]byte(content)) {
		got = append(got, fmt.Sprintf("%s=%s %t", content[c.Start:c.End], c.Value, c.URL))
	}
	want := []string{
		"alexis17=name:alexis17 false", "youtube.com= true", "covid19= false",
		"http://winslots.com/x=site:winslots.com true",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestBounds(t *testing.T) {
	f := finderOf(t)
	var many []byte
	for i := range 100 {
		many = fmt.Appendf(many, "slots%03d.com slots%03d.com ", i, i)
	}
	values := f.Values(many)
	if len(values) != MaxPerText || values[0] != "site:slots000.com" ||
		values[15] != "site:slots015.com" {
		t.Errorf("of 100 contacts these count: %q", values)
	}
	places, valued := 0, 0
	for c := range f.All(many) {
		places++
		if c.Value != "" {
			valued++
		}
	}
	if places != 200 || valued < MaxPerText || valued > 2*MaxPerText {
		t.Errorf("%d places, %d with a value", places, valued)
	}
	long := strings.Repeat("abcdefgh/", 20)
	a, b := f.Values([]byte("bit.ly/"+long+"1")), f.Values([]byte("bit.ly/"+long+"2"))
	if len(a) != 1 || len(b) != 1 || a[0] == b[0] || len(a[0]) != MaxBytes {
		t.Errorf("of long pages: %q and %q, want different ones of %d bytes", a, b, MaxBytes)
	}
	if got := f.Values([]byte(strings.Repeat("a", 100) + "@slots.com")); len(got) > 0 {
		t.Errorf("too long an address is %q", got)
	}
}

// The golden file shows what is found in made-up texts: a change of it is one of [version].
func TestGolden(t *testing.T) {
	c, f := folding(t), finderOf(t)
	input, err := os.ReadFile("testdata/contacts.txt")
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	fmt.Fprintf(&got, "%s\n", f.Identity())
	for line := range strings.Lines(string(input)) {
		fmt.Fprintf(&got, "\n%s%s\n", line, valuesOf(c, f, line))
	}
	golden.Check(t, "testdata/contacts.golden", got.Bytes())
}

func writeList(t *testing.T, lines string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ignore.txt")
	if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestIgnore(t *testing.T) {
	path := writeList(t, "\uFEFF# ours\r\n\r\nsite:Winslots.com\nname:alex*\nname:bob#\n"+
		"number:13913572468\nmail:sam@shop.example.net\nurl:bit.ly/a*")
	f, c := finderOf(t, path), folding(t)
	for content, want := range map[string]string{
		"winslots.com www.winslots.com/":           "",
		"winslots.com/a m.winslots.com/b/":         "url:winslots.com/a url:winslots.com/b",
		"winslots2.com":                            "site:winslots2.com",
		"alexis17 alexa99":                         "",
		"bobby1984 bob19 bobb19 bob198765":         "name:bobb19",
		"+8613913572468 139-1357-2468 13913572469": "number:+8613913572468 number:13913572469",
		"sam@shop.example.net sam@shop.net":        "mail:sam@shop.net",
		"bit.ly/abc bit.ly/bca":                    "url:bit.ly/bca",
		"thanks to covid19, see youtube.com 666":   "",
	} {
		if got := valuesOf(c, f, content); got != want {
			t.Errorf("%q has the contacts %q, want %q", content, got, want)
		}
	}
}

func TestIgnoreErrors(t *testing.T) {
	_, err := New([]string{"missing.txt"}, nil)
	check.ErrorHas(t, err, "missing.txt")
	for lines, want := range map[string]string{
		"# x\n\nwinslots.com":                    "line 3",
		"phone:123":                              "a KIND of site, url, mail, number, name or code",
		"name:":                                  "line 1",
		"name:a b":                               "line 1",
		"name:a\xff":                             "line 1",
		"name:a\n" + strings.Repeat("x", 70_000): "line 2 has more than 64 KiB",
	} {
		path := writeList(t, lines)
		_, err := New([]string{path}, nil)
		check.ErrorHas(t, err, path, want)
	}
}

// The identity goes by what is ignored, in whatever order and files.
func TestIdentity(t *testing.T) {
	plain, one := finderOf(t), finderOf(t, writeList(t, "name:a\nname:b*"))
	other := finderOf(t, writeList(t, "name:b*"), writeList(t, "\n# c\nname:A\nname:a"))
	if one.Identity() != other.Identity() || one.Identity() == plain.Identity() {
		t.Errorf("identities: %s, %s and, of nothing more, %s", one.Identity(), other.Identity(),
			plain.Identity())
	}
	whole, start := finderOf(t, writeList(t, "name:a")), finderOf(t, writeList(t, "name:a*"))
	if whole.Identity() == start.Identity() {
		t.Errorf("name:a and name:a* have the identity %s", whole.Identity())
	}
}

// FuzzContacts: places are in order and apart, values are what a fingerprint may have, and what
// is found in a text is found in it when it is cleaned once more.
func FuzzContacts(f *testing.F) {
	check.OneGoroutine(f)
	c, finder := folding(f), finderOf(f)
	f.Add("加微信 alexis17, https://youtu.be/x?t=1 139-1357-2468 sam#163.com winslots点com")
	f.Fuzz(func(t *testing.T, content string) {
		clean, _ := c.AppendStyled(nil, "", content)
		at := 0
		for found := range finder.All(clean) {
			if found.Start < at || found.End <= found.Start || found.End > len(clean) {
				t.Fatalf("a contact at [%d, %d) behind %d of %d", found.Start, found.End, at, len(clean))
			}
			at = found.End
		}
		values := finder.Values(clean)
		if err := singlepass.NewContacts(values).Check(); err != nil {
			t.Errorf("%q: %v", values, err)
		}
		for _, v := range values {
			kind, value, _ := strings.Cut(v, ":")
			if !pageKinds[kind] || value == "" || !isPrintable(value) {
				t.Errorf("contact %q", v)
			}
		}
		cleanAgain, _ := c.AppendStyled(nil, "", string(clean))
		again := finder.Values(cleanAgain)
		if !strings.ContainsAny(content, "<>&") && !slices.Equal(values, again) {
			t.Errorf("%q has %q, and cleaned once more %q", clean, values, again)
		}
	})
}
