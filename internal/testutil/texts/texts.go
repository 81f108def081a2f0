// Package texts makes up articles that have as much in common as a test wants.
package texts

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

const vocabulary = `港口 大桥 今天 通车 居民 沿着 河岸 庆祝 工程 历时 三年 建成 市场 价格 上涨 蔬菜 水果 农民 丰收 天气
	预报 明天 暴雨 学校 学生 比赛 冠军 火车 车站 乘客 医院 医生 研究 发现 新药 海洋 鱼类 保护 公园 树木 种植 博物馆 展览 开幕 音乐 舞蹈 演出
	harbour bridge opens after three years work market prices rise farmers harvest storm warning school wins chess final
	railway station passengers doctors study medicine ocean fish protected park trees planted museum exhibition concert`

// Sentence returns n words that seed chooses: two seeds make texts that have little in common.
func Sentence(seed uint64, n int) string {
	r := rand.New(rand.NewPCG(seed, 1))
	words, all := make([]string, n), strings.Fields(vocabulary)
	for i := range words {
		words[i] = all[r.IntN(len(all))]
	}
	// A number of its own tells texts apart that share most words.
	return strings.Join(words, " ") + fmt.Sprintf(" %d号 n%d", seed, seed*7919)
}

// ArticleJSON returns the record of an article.
func ArticleJSON(id, title, content string) []byte {
	return fmt.Appendf(nil, `{"id":%q,"title":%q,"content":%q}`, id, title, content)
}

// Feed returns n articles, of which about every second is one of a few stories again.
func Feed(seed uint64, n int) [][]byte {
	r := rand.New(rand.NewPCG(seed, 2))
	values := make([][]byte, n)
	for i := range values {
		story := uint64(i)
		if i > 0 && r.IntN(2) == 0 {
			story = uint64(r.IntN(min(i, 20)))
		}
		values[i] = ArticleJSON(fmt.Sprintf("a%d-%d", seed, i), fmt.Sprintf("story %d", story),
			Sentence(seed*100_000+story, 60))
	}
	return values
}
