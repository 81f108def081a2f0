package text

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// article returns n bytes or little more of made-up news.
func article(n int) string {
	words := strings.Fields(`台风 今年 第九号 在 福建省 沿海 登陆 中心 附近 最大 风力 达到 十二级 的 气象局 发布
		红色 预警 要求 各地 做好 防汛 工作 目前 已 转移 群众 3200 人 没有 伤亡 报告 经济 损失 正在 统计 记者 了解 到
		高铁 停运 航班 取消 交通 部门 表示 将 根据 天气 变化 及时 恢复 运营 并且 专家 认为 WHO iPhone 2024 年`)
	random := rand.New(rand.NewPCG(3, 4))
	var b strings.Builder
	for b.Len() < n {
		for range 4 + random.IntN(12) {
			b.WriteString(words[random.IntN(len(words))])
		}
		b.WriteString([]string{"，", "。", "；", "\n"}[random.IntN(4)])
	}
	return b.String()
}

func BenchmarkTokens(b *testing.B) {
	english := strings.Repeat("The typhoon made landfall near the harbour on Monday, and 3,200 people were moved. ", 25)
	for _, c := range []struct{ name, text string }{
		{"news", article(2000)},
		{"comment", article(100)},
		{"english", english},
		{"html", "<p>" + strings.ReplaceAll(article(2000), "\n", "</p>\n<p class=\"x\">") + "</p>"},
	} {
		b.Run(c.name, func(b *testing.B) {
			tok := shared(b)
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				tok.Tokens("", c.text)
			}
		})
	}
}

func BenchmarkNormalize(b *testing.B) {
	n := newTestNormalizer(b)
	text := article(2000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		n.normalize(text)
	}
}

func BenchmarkStripTags(b *testing.B) {
	text := "<p>" + strings.ReplaceAll(article(2000), "\n", "</p>\n<p class=\"x\">") + "</p>"
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		htmlAuto.plain(text)
	}
}
