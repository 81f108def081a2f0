package method

import (
	"fmt"

	"github.com/clusterd/clusterd/internal/method/exact"
	"github.com/clusterd/clusterd/internal/method/jaccard"
	"github.com/clusterd/clusterd/internal/method/ksentence"
	"github.com/clusterd/clusterd/internal/method/minhash"
	"github.com/clusterd/clusterd/internal/method/pinyin"
	"github.com/clusterd/clusterd/internal/method/shingle"
	"github.com/clusterd/clusterd/internal/method/shingling"
	"github.com/clusterd/clusterd/internal/method/simhashverify"
	"github.com/clusterd/clusterd/internal/simhash"
	"github.com/clusterd/clusterd/internal/simhash/keyedhash"
	"github.com/clusterd/clusterd/internal/text"
	"github.com/clusterd/clusterd/internal/text/contact"
)

// This file turns settings into the options of each method, which knows nothing of configurations.

func newSimHash(s Settings, key *keyedhash.Key) (Method, error) {
	o, err := simHashOptions(s, key)
	if err != nil {
		return nil, err
	}
	return simhash.NewMethod(o)
}

func newVerified(s Settings, key *keyedhash.Key) (Method, error) {
	o, err := simHashOptions(s, key)
	if err != nil {
		return nil, err
	}
	return simhashverify.New(simhashverify.Options{
		SimHash: o, Distance: s.Threshold.VerifiedDistance, Similarity: s.Threshold.Similarity,
	})
}

func simHashOptions(s Settings, key *keyedhash.Key) (simhash.Options, error) {
	o := simhash.Options{
		Hash: s.Fingerprint.Hash, Weight: s.Fingerprint.Weight, Pairs: s.Fingerprint.Features == Pairs,
		Key:       key,
		Tokenizer: s.Text.NewTokenizer, Index: s.Threshold.Index, Distance: s.Threshold.Distance,
	}
	if o.Weight == simhash.TFIDF {
		table, err := simhash.LoadIDF(s.Fingerprint.IDF)
		if err != nil {
			return simhash.Options{}, fmt.Errorf("loading the table of how rare words are: %w", err)
		}
		o.Table = table
	}
	return o, nil
}

func newMinHash(s Settings, key *keyedhash.Key) (Method, error) {
	shingles, err := shinglesOf(s, key)
	if err != nil {
		return nil, err
	}
	return minhash.New(minhash.Options{
		Shingles: shingles, Signature: s.Fingerprint.Signature, Hashes: s.Fingerprint.Hashes,
		Similarity: s.Threshold.Similarity, Recall: s.Threshold.Recall,
		Rule: s.Guard.rule(), Key: key,
	})
}

func newShingle(s Settings, key *keyedhash.Key) (Method, error) {
	shingles, err := shinglesOf(s, key)
	if err != nil {
		return nil, err
	}
	return shingle.New(shingle.Options{
		Shingles: shingles, Similarity: s.Threshold.Similarity,
		Rule: s.Guard.rule(), Key: key,
	})
}

func (s GuardSettings) rule() jaccard.Rule {
	return jaccard.Rule{Containment: s.Containment, LongSimilarity: s.LongSimilarity}
}

func shinglesOf(s Settings, key *keyedhash.Key) (shingles shingling.Shingles, err error) {
	shingles.Size = s.Fingerprint.Shingle.Size
	shingles.WeighTitles = s.Fingerprint.Titles == Weighed
	shingles.TellNumbers = s.Guard.Numbers == Differ
	if s.Fingerprint.Shingle.Of == OfWords {
		shingles.Words, err = s.Text.NewTokenizer(key.For("token").SumString)
	} else {
		shingles.Cleaner, err = s.Text.newCleaner()
	}
	return shingles, err
}

func newKSentence(s Settings, key *keyedhash.Key) (Method, error) {
	cleaner, err := s.Text.newCleaner()
	if err != nil {
		return nil, err
	}
	return ksentence.New(cleaner, s.Fingerprint.Sentences, key)
}

func newPinyin(s Settings, key *keyedhash.Key) (Method, error) {
	cleaner, err := s.Text.newCleaner()
	if err != nil {
		return nil, err
	}
	p := s.Fingerprint.Pinyin
	return pinyin.New(pinyin.Options{
		Cleaner: cleaner, Window: p.Window, Overlap: p.Overlap, Levels: p.Levels,
		Boundaries: p.Boundaries,
		Similarity: s.Threshold.Similarity, Key: key,
	})
}

func newExact(s Settings, key *keyedhash.Key) (Method, error) {
	cleaner, err := s.Text.newCleaner()
	if err != nil {
		return nil, err
	}
	return exact.New(cleaner, key), nil
}

// NewTokenizer loads the dictionary, for words with these hashes.
func (s TextSettings) NewTokenizer(hash func(string) uint64) (*text.Tokenizer, error) {
	clean, err := s.CleanOptions()
	if err != nil {
		return nil, err
	}
	t, err := text.New(text.Options{
		CleanOptions: clean, Dictionaries: s.Dictionaries, StopWords: s.StopWords, Hash: hash,
	})
	if err != nil {
		return nil, fmt.Errorf("loading dictionaries and stop words: %w", err)
	}
	return t, nil
}

// CleanOptions returns how texts are cleaned.
func (s TextSettings) CleanOptions() (text.CleanOptions, error) {
	o := text.CleanOptions{HTML: s.HTML, Extract: s.Extract, Fold: s.Fold}
	if len(s.Mask) == 0 {
		return o, nil
	}
	mask, err := contact.NewMask(s.Mask)
	o.Mask = mask
	return o, err
}

func (s TextSettings) newCleaner() (*text.Cleaner, error) {
	o, err := s.CleanOptions()
	if err != nil {
		return nil, err
	}
	return text.NewCleaner(o)
}
