package contact

// The kinds of contacts.
const (
	kindSite   = "site"
	kindURL    = "url"
	kindMail   = "mail"
	kindNumber = "number"
	kindName   = "name"
	kindCode   = "code"
)

// asciiKeywords announce a contact of this kind. They are whole words.
var asciiKeywords = map[string]string{
	"qq": kindNumber, "q": kindNumber, "qun": kindNumber, "tel": kindNumber, "phone": kindNumber,
	"mobile": kindNumber, "call": kindNumber, "text": kindNumber, "txt": kindNumber, "sms": kindNumber,
	"dial": kindNumber, "ring": kindNumber, "whatsapp": kindNumber, "wa": kindNumber,
	"hp": kindNumber, "hotline": kindNumber, "fax": kindNumber, "send": kindNumber,
	"reply": kindNumber, "msg": kindNumber, "to": kindNumber, "on": kindNumber,
	"wechat": kindName, "weixin": kindName, "wx": kindName, "vx": kindName, "v": kindName,
	"telegram": kindName, "tg": kindName, "tele": kindName, "line": kindName, "skype": kindName,
	"kakao": kindName, "kakaotalk": kindName, "ig": kindName, "instagram": kindName, "insta": kindName,
	"snapchat": kindName, "snap": kindName, "kik": kindName, "twitter": kindName,
	"code": kindCode, "kode": kindCode, "referral": kindCode, "voucher": kindCode, "coupon": kindCode,
	"promo": kindCode,
}

// fillerWords may stand between a keyword and its contact, and make it sure.
var fillerWords = map[string]bool{
	"id": true, "no": true, "number": true, "nomor": true, "code": true, "kode": true, "is": true,
}

// fillers are the same in Chinese.
var fillers = wide("号码", "账号", "帐号", "号", "群", "裙", "是", "为", "加", "：", "➕", "搜", "索", "添加", "联系")

type keyword struct {
	text []byte
	kind string
}

// wideKeywords announce a contact, by the low bits of their first byte. Spam writes 微信 with
// characters that look or sound like it.
var wideKeywords = byFirstByte(map[string][]string{
	kindName: {
		"微信", "薇信", "徽信", "嶶信", "威信", "维信", "葳信", "溦信", "微心", "微芯", "薇芯", "威芯", "微号", "薇号", "微x", "薇x",
		"v信", "加微", "加薇", "加威", "加v", "十微", "十薇", "公众号", "电报", "纸飞机", "抖音号", "快手号",
	},
	kindNumber: {
		"扣扣", "抠抠", "企鹅", "球球", "秋秋", "电话", "手机", "热线", "致电", "拨打", "短信", "加群", "群号", "裙号", "客服",
		"咨询", "联系", "传真",
	},
	kindCode: {"邀请码", "推荐码", "优惠码", "兑换码", "折扣码", "暗号", "口令"},
})

func byFirstByte(kinds map[string][]string) (all [64][]keyword) {
	for kind, texts := range kinds {
		for _, t := range texts {
			all[t[0]&0x3f] = append(all[t[0]&0x3f], keyword{[]byte(t), kind})
		}
	}
	return all
}

func wide(texts ...string) (all [][]byte) {
	for _, t := range texts {
		all = append(all, []byte(t))
	}
	return all
}
