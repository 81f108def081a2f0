package sample

import "maps"

// newMixed returns the language of Chinese originals full of English terms.
func newMixed() *language {
	w := maps.Clone(chineseWords)
	maps.Copy(w, mixedWords)
	l := &language{
		grammar: newGrammar(w),
		phrases: &phrases{
			synonyms: chineseSynonyms,
			leads:    chineseLeads,
			credits:  chineseCredits,
			more:     "Read more 阅读全文",
		},
		size: characters,
		min:  260,
		max:  430,
	}
	l.parse(mixedSubjects)
	l.body = l.grammar.parseAll(mixedBody)
	l.ends = l.grammar.parseAll(chineseEnds)
	return l
}

var mixedSubjects = []subject{
	{ // software
		titles: []string{
			"{Company}开源 {App} {1-9}.{0-9}，支持 {Tech}",
			"{App} {1-9}.{0-9} 发布：{Tech} 与 {tech} 一次到位",
			"{Company}把 {App} 搬上 {Platform}，开发者热议",
		},
		leads: []string{
			"{time}，{Company}在{City}宣布开源 {App} {1-9}.{0-9}，新版本加入 {Tech}，采用 {license} 许可证。",
			"{City}的{Company}{time}发布 {App} {1-9}.{0-9}，可在 {Platform} 上直接运行，并首次支持 {Tech}。",
			"面向 {Platform} 的 {App} {time}开放下载，{Company}称其 {Tech} 模块重写了{3-8}成代码。",
		},
		body: []string{
			"团队在 {Platform} 上做了 benchmark：冷启动 {80-900} ms，{Tech} 吞吐 {2-98}k ops/s，比旧版快{1.2-4.9}倍。",
			"release notes 提到，{tech} 默认关闭，需要在 {config} 里手动打开，升级前务必先做 backup。",
			"不少用户在 issue 区反馈 {bug}，维护者回复说 {1-9}.{0-9} 之前会合入 hotfix。",
			"“We kept the API small on purpose,” 项目负责人说，“先把 {Tech} 做稳，再谈 {tech}。”",
			"{customer}的工程师已把 {App} 接入自家 pipeline，替换掉原来的 {tech}，每月节省 {200-4800} 小时机时。",
			"文档提供中文和 English 两个版本，{12-80} 个 example 覆盖 {tech}、{tech} 等常见场景。",
			"社区 roadmap 显示，下一步是 {tech}，同时改善 {bug}，预计 Q{1-4} 给出 beta。",
			"第三方 audit 找到 {2-18} 个 low severity 问题，均已修复，{config} 的默认权限也收紧了。",
		},
	},
	{ // a conference
		titles: []string{
			"{City} {Tech} Summit 开幕，{300-2800}名开发者到场",
			"从 {Tech} 到 {tech}：{City}开发者大会看点",
			"{Company}在 {Tech} Summit 展示 {Product}",
		},
		leads: []string{
			"第{2-12}届 {Tech} Summit {time}在{City}会展中心举行，{40-180}场 talk 吸引了{600-4800}名听众。",
			"{time}，{Company}在{City} {Tech} Summit 上演示了接入 {App} 的{Product}，现场 demo 一次成功。",
			"一年一度的 {City} {Tech} Summit {time}落幕，{Tech} 与{feature}成为 keynote 里的高频词。",
		},
		body: []string{
			"keynote 之后的 panel 上，{customer}和{customer}的代表就 {tech} 的成本展开争论，moderator 几次打断。",
			"workshop 名额只有 {20-120} 个，参加者带着 laptop 跟练 {tech}，三小时搭出一个能跑的 {App} demo。",
			"展区里，{company}的{product}支持 {tech}，扫码即可领取 {30-120} 天 trial。",
			"一位 speaker 坦言，{bug} 困扰团队{3-20}个月，最后靠重写 {tech} 层才解决，“it was never the network.”",
			"hackathon 冠军作品用 {App} 和 {tech} 帮助{customer}预测{weak}，36 小时写了 {2-18}k 行代码。",
			"主办方公布 survey：{42-88}% 的受访者在 production 中使用 {tech}，但只有 {8-39}% 对 {tech} 满意。",
			"闭门 session 讨论了 {license} 许可证的边界，律师建议公司先盘点 dependency，再决定是否 fork。",
			"明年的 call for papers 已开放，topic 包括 {tech}、{tech} 和 {feature}。",
		},
	},
	{ // cross-border trade
		titles: []string{
			"{City}卖家的 {Channel} 生意经：{Goods}月销{2-48}万单",
			"{Goods}出海记：{Company}押注 {Channel}",
			"{Channel} 新规将至，{City}{Goods}卖家忙调整",
		},
		leads: []string{
			"靠着 {Channel}，{City}{District}的{Company}把{Goods}卖到{12-80}个市场，去年 GMV 达到{1.2-9.9}亿元。",
			"{time}，{City}{District}举办 {Channel} 沙龙，{80-600}名{Goods}卖家讨论 {metric} 为何下滑。",
			"{Company}{time}宣布把{Goods}业务全面转向 {Channel}，并在{City}建立 {20-180} 人的 content team。",
		},
		body: []string{
			"运营主管打开 dashboard：{metric} 上升 {3-28}%，{metric} 却跌了 {2-19}%，原因是 listing 图片没有本地化。",
			"他们给{Goods}换上 “{slogan}” 的 slogan，A/B test 跑了 {2-6} 周，转化率提高 {0.5-4.9} 个百分点。",
			"物流走 {Channel} 专线，door to door {6-18} 天，客户可用 tracking number 查询，破损率低于 {0.2-2.9}%。",
			"客服分三班，英文邮件要在 {2-12} 小时内回复，模板里最常见的一句是 “{slogan}”。",
			"{quality}不过关会直接拉低 {metric}，为此工厂把 QC 环节从 {1-3} 道加到 {4-8} 道。",
			"KOL 合作不便宜，一条 {15-90} 秒短视频报价 {300-4800} 美元，ROI 要看 {metric}。",
			"新人培训第一课是看懂 {metric}，第二课是写 product description，禁用词表有 {80-600} 条。",
			"旺季备货全靠 {App} 预测，{goods}和{goods}的库存周转从 {50-90} 天缩短到 {20-45} 天。",
		},
	},
}

// Sentences that fit every mixed subject.
var mixedBody = []string{
	"业内人士分析，{trend}的背景下，{City}的优势在于{strength}，{shortage}则需要 long-term 投入。",
	"{City}软件园为此推出 “{slogan}” 计划，入驻 startup 可免租 {6-36} 个月，并获得 {10-90} 万元 cloud credit。",
	"网友评论两极分化，有人说 “{slogan}”，也有人担心{shortage}。",
	"类似的 case 在{city}也出现过，团队花了 {2-9} 个 sprint 才走出来，靠的是{strength}。",
}

var mixedWords = words{
	"app":      {"LumenDB", "Paperboat", "OpenSluice", "KiteFlow", "RiverNote", "TinyAbacus", "FernGraph", "Quillpad", "NorthMesh", "BambooUI", "SaltCache", "Driftwood"},
	"tech":     {"vector search", "edge computing", "stream processing", "offline sync", "zero-copy IO", "WebAssembly", "speech-to-text", "digital twin", "low-code", "observability", "federated learning", "GPU scheduling", "time series", "role-based access"},
	"platform": {"Linux", "RISC-V", "Kubernetes", "Raspberry 级小板", "ARM 服务器", "浏览器", "车载系统"},
	"license":  {"MIT", "Apache 2.0", "BSD", "MPL", "LGPL"},
	"config":   {"config.yaml", "settings 页面", "launch script", "admin console", "环境变量"},
	"bug":      {"memory leak", "UI 卡顿", "timezone 错乱", "cache miss 偏高", "登录 timeout", "中文 encoding 问题", "race condition", "日志 rotation 失效"},
	"channel":  {"live commerce", "DTC 独立站", "social ads", "marketplace", "海外仓 fulfilment", "short video", "B2B portal", "subscription box"},
	"metric":   {"CTR", "conversion rate", "repeat purchase", "ACOS", "review score", "return rate", "inventory turnover", "page views", "add-to-cart"},
	"slogan":   {"Small things, done well", "Ready when it rains", "Made to last", "Thank you for your patience", "Light up your day", "Bring it outside", "No more excuses", "Simple by design", "One more cup", "Keep it moving"},
}
