package config

import (
	"github.com/clusterd/clusterd/internal/config/table"
	"github.com/clusterd/clusterd/internal/config/value"
	"github.com/clusterd/clusterd/internal/method"
)

// sketchKeys are those of the methods that compare parts of texts.
func sketchKeys(c *method.FingerprintSettings) []table.Key {
	return []table.Key{
		{
			Path: "fingerprint.shingle.of", Value: value.Scalar(&c.Shingle.Of,
				value.OneOf(method.OfCharacters, method.OfWords), method.OfCharacters),
			Doc: usedBy("fingerprint.shingle.of") +
				"what a shingle is a run of; characters need no dictionary.",
		},
		{
			Path: "fingerprint.shingle.size", Value: value.Scalar(&c.Shingle.Size, value.Integer(1, 64), 5),
			Doc: usedBy("fingerprint.shingle.size") + "how many of them a shingle has; more is stricter.",
		},
		{
			Path: "fingerprint.signature", Value: value.Scalar(&c.Signature,
				value.OneOf("fast", "permutation", "functions"), "fast"),
			Doc: usedBy("fingerprint.signature") +
				"fast similarity sketching, one permutation with densification, or a hash function for each " +
				"place (slow).",
		},
		{
			Path: "fingerprint.hashes", Value: value.Scalar(&c.Hashes, value.Integer(16, 1024), 128),
			Doc: usedBy("fingerprint.hashes") +
				"places of a signature, a byte each; more tells more and costs more.",
		},
		{
			Path: "fingerprint.sentences", Value: value.Scalar(&c.Sentences, value.Integer(1, 1000), 3),
			Doc: usedBy("fingerprint.sentences") + "how many of the longest sentences must be the same.",
		},
	}
}

func pinyinKeys(c *method.PinyinSettings) []table.Key {
	return []table.Key{
		{
			Path: "fingerprint.pinyin.window", Value: value.Scalar(&c.Window, value.Integer(8, 10_000), 24),
			Doc: usedBy("fingerprint.pinyin.window") +
				"characters in a window; larger ones tolerate more and match less.",
		},
		{
			Path: "fingerprint.pinyin.overlap", Value: value.Scalar(&c.Overlap, value.Share(0, 0.9), 0.5),
			Doc: usedBy("fingerprint.pinyin.overlap") + "share of a window that the next one has too.",
		},
		{
			Path: "fingerprint.pinyin.levels", Value: value.Scalar(&c.Levels, value.Integer(2, 10), 2),
			Doc: usedBy("fingerprint.pinyin.levels") +
				"how finely the frequency of a letter is told; finer is stricter.",
		},
		{
			Path: "fingerprint.pinyin.boundaries", Value: value.Scalar(&c.Boundaries,
				value.OneOf("content", "fixed"), "content"),
			Doc: usedBy("fingerprint.pinyin.boundaries") +
				"whether windows begin where the content says so, or at the first character, as published.",
		},
	}
}
