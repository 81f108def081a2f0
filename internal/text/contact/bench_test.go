package contact

import (
	"strings"
	"testing"
)

func BenchmarkFind(b *testing.B) {
	c, f := folding(b), finderOf(b)
	for _, input := range []struct{ name, text string }{
		{"comments", strings.Repeat("哈哈，转发微博 👍👍 好的 ok！回复@小明：今天去不去？", 10)},
		{"chinese", strings.Repeat("台风于1月5日在沿海登陆，三千二百人被转移，联系有关部门的热线已经开通。", 25)},
		{"english", strings.Repeat("The typhoon made landfall near the harbour on Monday, and 3,200 "+
			"people were moved. I saw a well-known boat: nobody was in it. ", 25)},
		{"spam", strings.Repeat("加薇信 lucky_star88, 看 https://www.winslots.com/a?b=c 或 "+
			"139 1357 2468. ", 10)},
	} {
		clean := c.AppendClean(nil, "", input.text)
		b.Run(input.name, func(b *testing.B) {
			b.SetBytes(int64(len(clean)))
			b.ReportAllocs()
			for b.Loop() {
				f.Values(clean)
			}
		})
		b.Run(input.name+"/mask", func(b *testing.B) {
			m, buffer := maskOf(b, Masks...), make([]byte, len(clean))
			b.SetBytes(int64(len(clean)))
			b.ReportAllocs()
			for b.Loop() {
				copy(buffer, clean)
				m.Apply(buffer)
			}
		})
	}
}
