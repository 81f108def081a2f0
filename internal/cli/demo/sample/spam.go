package sample

import (
	"strings"

	"golang.org/x/text/width"
)

// Adverts run in campaigns: for an epoch of the feed a few adverts come again
// and again with other names, numbers and pages. What they sell stays, and where
// one is to ask for it, but that is written in ever other ways. Then others follow.
const (
	epoch            = 500 // articles
	runningCampaigns = 4
)

// A campaigns makes the adverts of the running campaigns.
type campaigns struct {
	grammar *grammar
	adverts []template
	epoch   int
	running []campaign
}

type campaign struct {
	advert template
	slots  []slot // what is fixed all through the campaign
	first  string // the ID of its first advert, "" before it
}

// next returns the content of an advert and the ID of its campaign's first, ""
// if it is the first itself.
func (c *campaigns) next(d dice, id string, count int) (content, origin string) {
	if c.grammar == nil {
		c.grammar = newGrammar(advertWords)
		c.adverts = c.grammar.parseAll(adverts)
	}
	if now := 1 + count/epoch; now != c.epoch {
		c.epoch = now
		c.start(d)
	}
	chosen := &c.running[d.n(len(c.running))]
	origin = chosen.first
	if origin == "" {
		chosen.first = id
	}
	w := c.grammar.draw(d)
	w.slots = chosen.slots
	return c.disguise(d, w.text(chosen.advert), chosen), origin
}

// disguise writes the contact of a campaign in one of the ways in which filters
// do not find it.
func (c *campaigns) disguise(d dice, text string, of *campaign) string {
	contact := of.slots[c.grammar.number["contact"]].fixed
	contact += of.slots[c.grammar.number["enContact"]].fixed // an advert has one of the two, or none
	ways := []string{contact, "★" + contact + "★", strings.ToUpper(contact), width.Widen.String(contact)}
	if contact == "" {
		return text
	}
	return strings.Replace(text, contact, ways[d.n(len(ways))], 1)
}

// start replaces the running campaigns by others.
func (c *campaigns) start(d dice) {
	c.running = c.running[:0]
	for _, i := range d.order(len(c.adverts))[:runningCampaigns] {
		c.running = append(c.running, campaign{
			advert: c.adverts[i],
			slots:  make([]slot, len(c.grammar.texts)),
		})
	}
}

// In an advert the fixed references ({Goods}) are the campaign's, the others
// are drawn anew each time.
var adverts = []string{
	"兼职{Job}，在家就能做，日结{Pay}元，不收任何押金，时间自由，宝妈学生都可以。已有{120-980}人报名，名额有限，先到先得。加微信{Contact}，备注“{Job}”，{agent}一对一带你入门。",
	"{Goods}工厂直销，{Offer}，支持七天无理由退换，量大从优，全国包邮。仓库现货{200-900}件，今天下单今天发货，错过再等一年。详情点 {link} 或联系客服{agent}，微信{Contact}。",
	"需要{Goods}的朋友看过来！本店{Offer}，老顾客都说好，质量有保证，假一赔十。最近三天已卖出{300-2000}单，想要的私信{agent}，联系号码{Contact}，拍下备注“优惠”再减{5-60}元。",
	"跟着老师学{Skill}，零基础也能听懂，{Pay}元体验三节课，不满意全额退款。本期还剩{3-30}个座位，报名送全套资料。扫码或打开 {link} ，咨询{agent}，微信{Contact}。",
	"急用钱？{Pay}元起，手续简单，当天到账，无需抵押，资料齐全马上办理，利息低至每天{1.0-9.9}元。已帮助{500-4000}位客户解决难题。办理请联系{agent}，号码{Contact}，或访问 {link}",
	"{Goods}清仓最后{2-9}天，{Offer}，买二送一，送完为止！门店地址在{Street}{1-300}号，也可以网上下单 {link} 。咨询热线{Contact}，找{agent}报暗号享折上折。",
	"Work from home as a {EnJob} and earn up to ${EnPay} a day! No experience, no fees, flexible hours, weekly payouts. {120-980} people joined this month and seats are going fast. Message {enAgent} at {EnContact} or sign up now: {link}",
	"Limited offer: {EnGoods} at {EnOffer}, free shipping worldwide, thirty-day money back guarantee. Only {20-400} pieces left in stock. Order today at {link} and use code {code} at checkout. Questions? Ask {enAgent}, {EnContact}.",
	"I was sceptical, but this {EnGoods} changed everything for me. {EnOffer} until Sunday, and they ship the same day. {300-2000} happy customers cannot be wrong! Get yours here {link} and tell {enAgent} that code {code} sent you.",
	"Learn {EnSkill} in just {5-30} days with our live online course. Small groups, real projects, a certificate at the end, and the first lesson is free. {30-900} students already enrolled. Reserve your place: {link} (contact {enAgent}, {EnContact}).",
	"Need cash fast? Loans from ${EnPay} approved in minutes, no paperwork, no credit check, money in your account the same day. We have helped {500-4000} people this year. Apply at {link} or write to {enAgent}: {EnContact}.",
	"Boost your page today! Get {EnOffer} on {EnService} from real accounts, instant delivery, full refund if you are not happy. {100-900} shops trust us. Packages start at ${1.5-9.9}. Visit {link} or add {EnContact} and ask for {enAgent}.",
}

var advertWords = words{
	"job":    {"打字录入", "手工串珠", "商品点评", "图片整理", "问卷填写", "线上客服", "配音朗读", "数据标注"},
	"goods":  {"羽绒被", "真皮手提包", "蓝牙耳机", "保温杯", "按摩枕", "蜂蜜礼盒", "运动鞋", "电动牙刷", "茶叶", "实木书架", "行李箱", "儿童积木"},
	"offer":  {"全场三折起", "拍一发二", "满百减五十", "第二件半价", "限时秒杀", "新客立减二十", "八八折封顶"},
	"skill":  {"短视频剪辑", "书法", "理财入门", "吉他弹唱", "英语口语", "手机摄影", "烘焙", "家庭收纳"},
	"street": {"新华路", "解放街", "长安里", "花园路", "工业大道", "学府街"}, "contact": {"{letters}{1000-9999}", "{letters}_{1000-9999}", "{letters}{100-999}{letters}", "1{30-89}{1000-9999}{1000-9999}"},
	"agent": {"小鹿", "阿泽", "可可", "果果", "小满", "米粒", "团团", "七七", "大壮", "木子", "糖糖", "豆包妹", "老K", "南风"}, "link": {"http://{Site}.example/{letters}{100-999}", "https://{Site}.example/?k={1000-9999}", "www.{Site}.example"},
	"letters": {"vxin", "kefu", "qmwl", "zhxs", "luyi", "yyta", "ddka", "haow", "mtpu", "bbei"}, "pay": {"99", "150", "188", "200", "260", "300", "399", "500", "800"},
	"host": {"deal", "shop", "best", "go", "mall", "quick", "lucky", "top"}, "site": {"{host}-{letters}{1000-9999}"},
	"code": {"{letters}{10-99}", "SAVE{10-99}", "VIP{100-999}"}, "enPay": {"120", "180", "250", "300", "450", "600", "900"},
	"enJob":     {"data entry clerk", "product tester", "chat assistant", "survey taker", "proofreader", "photo tagger"},
	"enGoods":   {"massage gun", "air fryer", "wireless headset", "memory foam pillow", "smart watch", "leather wallet", "water filter", "standing desk"},
	"enOffer":   {"70% off", "half price", "buy one get one free", "a $25 discount", "40% cashback", "three for the price of two"},
	"enSkill":   {"video editing", "guitar", "public speaking", "spreadsheet magic", "watercolour painting", "day trading", "baking"},
	"enService": {"followers", "product reviews", "video views", "newsletter subscribers", "page likes"},
	"enAgent":   {"the sales desk", "agent {10-99}", "our night team", "coach {3-40}", "the help line", "desk {100-400}"},
	"enContact": {"telegram @{letters}{1000-9999}", "whatsapp +{10-99} {200-999} {1000-9999}", "{letters}{100-999}@mail.example", "line id {letters}{1000-9999}"},
}
