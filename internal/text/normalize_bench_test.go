package text

import (
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
)

func BenchmarkNormalize(b *testing.B) {
	n := newTestNormalizer(b)
	english := strings.Repeat("The typhoon made landfall near the harbour on Monday, and 3,200 "+
		"people were moved. ", 25)
	for _, c := range []struct{ name, text string }{
		{"news", article(2000)},
		{"english", english},
		{"emoji", strings.ReplaceAll(article(2000), "，", "😀❤\ufe0f")},
		{"decomposed", norm.NFD.String(strings.Repeat("Một cơn bão đã đổ bộ vào bờ biển, ", 50))},
		{"thai", strings.Repeat("พายุไต้ฝุ่นขึ้นฝั่งแล้ว ", 30)},
	} {
		b.Run(c.name, func(b *testing.B) {
			var dst []byte
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				dst = n.appendNormalized(dst[:0], c.text)
			}
		})
		b.Run(c.name+"/by definition", func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				byDefinition(n, c.text)
			}
		})
	}
}

func BenchmarkNewNormalizer(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		newTestNormalizer(b)
	}
}
