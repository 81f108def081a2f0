package contact

import (
	"maps"
	"slices"
	"strings"
)

// The kinds of contacts.
const (
	kindMail   = Mail
	kindNumber = Number
	kindName   = Name
	kindCode   = Code
	kindChat   = "chat" // a number that belongs to a chat; the contact is a number
)

// asciiKeywords announce a contact of this kind. They are whole words.
var asciiKeywords = kindsOf(map[string]string{
	kindChat:   "qq q qun",
	kindNumber: "tel phone mobile whatsapp wa hp hotline fax",
	kindName:   "wechat weixin wx vx telegram tg skype kakao kakaotalk kik snapchat",
	kindCode:   "referral voucher coupon promo",
})

// weakKeywords are common words, too. What they announce must not look like something else: a
// name has a digit, a number is not round.
var weakKeywords = kindsOf(map[string]string{
	kindNumber: "text texts txt texting txting send sms reply rply msg call dial ring ans answer",
	kindName:   "v tele line ig ins insta instagram twitter snap dm contact kontak hubungi",
	kindCode:   "code kode",
})

// sendsTo is how many bytes may stand between a weak keyword of numbers and "to" or "on", as in
// "text WIN to 87121".
const sendsTo = 64

// longestKeyword is the most letters of a keyword.
const longestKeyword = 9

func kindsOf(words map[string]string) map[string]string {
	all := make(map[string]string)
	for kind, list := range words {
		for word := range strings.FieldsSeq(list) {
			all[word] = kind
		}
	}
	return all
}

var (
	// fillerWords may stand between a keyword and its contact. All but "is" make it sure.
	fillerWords = setOf("id no number nomor code kode is")
	// currencies make an amount of the number behind them.
	currencies = setOf("rp rs usd usdt idr rmb cny hkd eur gbp inr sgd myr")
)

// keywordLengths has, by their first letter, a bit for each length of what [scanner.keyword]
// knows: most words of a text are neither.
var keywordLengths = func() (all [256]uint16) {
	words := []string{"to", "on"}
	words = slices.AppendSeq(words, maps.Keys(asciiKeywords))
	words = slices.AppendSeq(words, maps.Keys(weakKeywords))
	words = slices.AppendSeq(words, maps.Keys(fillerWords))
	words = slices.AppendSeq(words, maps.Keys(currencies))
	for _, w := range words {
		all[w[0]] |= 1 << len(w)
	}
	return all
}()

// fillers are characters that may stand between, in Chinese, and make it sure.
const fillers = "号码账帐群裙是为加信搜索添联系➕："

type keyword struct {
	text []byte
	kind string
}

// wideKeywords announce a contact, by their first character, the longer ones first. Spam writes
// 微信 with characters that look or sound like it.
var wideKeywords = byFirst(map[string]string{
	kindName: "微信 薇信 徽信 嶶信 威信 维信 葳信 溦信 微心 微芯 薇芯 威芯 微号 薇号 微x 薇x v信 加微 加薇 加威 加v 加vx 加wx 十微 十薇 " +
		"公众号 公众账号 电报 纸飞机 抖音号 快手号",
	kindChat:   "扣扣 抠抠 企鹅 球球 秋秋 加群 群号 裙号 加q 加qq",
	kindNumber: "电话 手机 热线 致电 拨打 短信 客服 咨询 联系 传真",
	kindCode:   "邀请码 推荐码 优惠码 兑换码 折扣码 暗号 口令",
})

func byFirst(kinds map[string]string) map[rune][]keyword {
	all := make(map[rune][]keyword)
	for kind, texts := range kinds {
		for text := range strings.FieldsSeq(texts) {
			first := []rune(text)[0]
			all[first] = append(all[first], keyword{[]byte(text), kind})
		}
	}
	for _, keywords := range all {
		slices.SortFunc(keywords, func(a, b keyword) int { return len(b.text) - len(a.text) })
	}
	return all
}

// Classes of characters beyond ASCII.
const (
	beginsKeyword = 1 << iota
	isFiller
	isNumeral // of which numeralDigits has the digit
	isTens    // another part of a numeral
	isDateUnit
)

var wideClasses = func() *[1 << 16]uint8 {
	var all [1 << 16]uint8
	for r := range wideKeywords {
		all[r] |= beginsKeyword
	}
	for r := range numeralDigits {
		all[r] |= isNumeral
	}
	for class, characters := range map[uint8]string{
		isFiller: fillers, isTens: "十百千万亿拾佰仟", isDateUnit: "年月日号时点分秒",
	} {
		for _, r := range characters {
			all[r] |= class
		}
	}
	return &all
}()

func wideClass(r rune) uint8 {
	if int(r) < len(wideClasses) {
		return wideClasses[r]
	}
	return 0
}
