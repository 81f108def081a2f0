package text

import (
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/testutil/corpus"
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

// articles returns made-up articles by kind.
func articles() []struct{ name, text string } {
	return []struct{ name, text string }{
		{"news", article(2000)},
		{"comment", article(100)},
		{"english", strings.Repeat("The typhoon made landfall near the harbour on Monday, and 3,200 "+
			"people were moved. ", 25)},
		{"html", "<p>" + strings.ReplaceAll(article(2000), "\n", "</p>\n<p class=\"x\">") + "</p>"},
	}
}

// BenchmarkTokens compares a Counter with the plain path over gse.
func BenchmarkTokens(b *testing.B) {
	for _, c := range articles() {
		benchmarkTokens(b, c.name, []string{c.text})
	}
	b.Run("real", func(b *testing.B) {
		benchmarkTokens(b, "zh_events", realTexts(b, "zh_events"))
		benchmarkTokens(b, "bbc", realTexts(b, "bbc"))
		benchmarkTokens(b, "ced_comments", realTexts(b, "ced_comments"))
	})
}

func benchmarkTokens(b *testing.B, name string, texts []string) {
	size := int64(len(strings.Join(texts, "")))
	b.Run(name+"/counter", func(b *testing.B) {
		counter := shared(b).NewCounter()
		b.SetBytes(size)
		b.ReportAllocs()
		for b.Loop() {
			for _, text := range texts {
				counter.Tokens("", text)
			}
		}
	})
	b.Run(name+"/gse", func(b *testing.B) {
		plain := sharedOracle(b)
		b.SetBytes(size)
		b.ReportAllocs()
		for b.Loop() {
			for _, text := range texts {
				plain.tokens("", text)
			}
		}
	})
}

// BenchmarkSegment compares segmentation alone with gse's.
func BenchmarkSegment(b *testing.B) {
	benchmarkSegment(b, "news", article(2000))
	b.Run("real", func(b *testing.B) {
		benchmarkSegment(b, "zh_events", strings.Join(realTexts(b, "zh_events"), "\n"))
	})
}

func benchmarkSegment(b *testing.B, name, text string) {
	text = shared(b).norm.normalize(text)
	b.Run(name+"/segmenter", func(b *testing.B) {
		s, bytes := &segmenter{lexicon: shared(b).lexicon}, []byte(text)
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			for at := 0; at < len(bytes); {
				at, _ = s.run(bytes, at)
			}
		}
	})
	b.Run(name+"/gse", func(b *testing.B) {
		plain := sharedOracle(b)
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			for range plain.words(text) {
			}
		}
	})
}

// realTexts returns some megabytes of real articles.
func realTexts(b *testing.B, set string) []string {
	var texts []string
	for _, s := range corpus.Sets(b) {
		if s.Name != set {
			continue
		}
		for _, a := range realArticles(b, s, 1) {
			texts = append(texts, a.Title+"\n"+a.Content)
		}
	}
	if len(texts) == 0 {
		b.Skipf("the set %s is not next to the repository", set)
	}
	return texts
}

// BenchmarkNew measures how long loading takes, and what stays in memory: of another tokenizer
// without words of its own, and of one with them, which shares nothing, as the first one does not.
func BenchmarkNew(b *testing.B) {
	shared(b)
	for name, options := range map[string]Options{
		"another": {}, "own": {StopWords: []string{write(b, "stop.txt", "harbour\n")}},
	} {
		b.Run(name, func(b *testing.B) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			var tok *Tokenizer
			for b.Loop() {
				var err error
				if tok, err = New(options); err != nil {
					b.Fatal(err)
				}
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "heap-MB")
			runtime.KeepAlive(tok)
		})
	}
}

func BenchmarkStripTags(b *testing.B) {
	text := "<p>" + strings.ReplaceAll(article(2000), "\n", "</p>\n<p class=\"x\">") + "</p>"
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		htmlAuto.plain(text, nil)
	}
}
