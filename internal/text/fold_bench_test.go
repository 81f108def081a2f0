package text

import (
	"strings"
	"testing"
)

// BenchmarkFold compares cleaning with and without folding.
func BenchmarkFold(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"chinese", article(2000)},
		{"english", strings.Repeat("The typhoon made landfall near the harbour on Monday, and 3,200 "+
			"people were moved. I saw a boat. ", 25)},
		{"comments", strings.Repeat("哈哈，转发微博 👍👍 好的 ok！ ", 10)},
		{"spaced", strings.Repeat("加 微 信 A L E X I S 1 7 ★ 🅱🅾🅽🆄🆂, see you. ", 10)},
		{"russian", strings.Repeat("Тайфун обрушился на побережье в понедельник. ", 30)},
		{"thai", strings.Repeat("พายุไต้ฝุ่นขึ้นฝั่งแล้ว ", 30)},
	} {
		for _, mode := range []struct {
			name    string
			cleaner *Cleaner
		}{
			{"plain", withHTML(b, htmlNever).Cleaner},
			{"fold", foldingCleaner(b)},
		} {
			b.Run(c.name+"/"+mode.name, func(b *testing.B) {
				var dst []byte
				b.SetBytes(int64(len(c.text)))
				b.ReportAllocs()
				for b.Loop() {
					dst = appendPlain(mode.cleaner, dst[:0], c.text)
				}
			})
		}
	}
}
