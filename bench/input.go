package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/clusterd/clusterd/internal/cli/demo/sample"
)

// The sizes of the inputs' contents, in the mean, in bytes. JSON adds some 80 bytes, and a title.
const (
	newsSize    = 2_000
	commentSize = 48
)

// text is one of a set.
type text struct {
	Title   string `json:"title"`
	Content string `json:"content"`
}

// readTexts reads what inputs are made of from the sets in dir, and says where they are from. Where
// there is no such directory, they are made up.
func readTexts(dir string) (news, comments []text, from string, err error) {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		news, comments = madeUp()
		return news, comments, "made up by internal/cli/demo/sample, since there is no " + dir, nil
	}
	newsSets, commentSets := []string{
		"zh_events", "dxy_news", "xwlb", "bbc",
	}, []string{"ced_comments", "youtube_spam", "sms_spam"}
	if news, err = readSets(dir, newsSets); err == nil {
		comments, err = readSets(dir, commentSets)
	}
	return news, comments, strings.Join(newsSets, ", ") + "; " + strings.Join(commentSets, ", "), err
}

func readSets(dir string, names []string) (texts []text, err error) {
	for _, name := range names {
		set, err := readSet(filepath.Join(dir, name+".jsonl.gz"))
		if err != nil {
			return nil, err
		}
		texts = append(texts, set...)
	}
	return texts, nil
}

// readSet reads a file of one JSON object a line.
func readSet(path string) ([]text, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(bufio.NewReader(file))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var texts []text
	for decoder := json.NewDecoder(unzipped); decoder.More(); {
		var t text
		if err := decoder.Decode(&t); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		texts = append(texts, t)
	}
	return texts, nil
}

// madeUp returns texts that are always the same.
func madeUp() (news, comments []text) {
	generator := sample.New(1, time.Unix(0, 0))
	for range 10_000 {
		switch a := generator.Next(); a.Kind {
		case sample.Original:
			news = append(news, text{a.Title, a.Content})
		case sample.Comment, sample.Spam:
			comments = append(comments, text{a.Title, a.Content})
		default: // made from an original
		}
	}
	return news, comments
}

// corpus is an endless input, in which an article follows from its number alone.
type corpus struct {
	prefix string // of the ids
	texts  []text
}

// newCorpus cuts and joins texts to contents of size bytes in the mean, of half of it at least and
// one and a half of it at most. Only articles have titles; comments do not.
func newCorpus(prefix string, texts []text, size int, titled bool) corpus {
	c := corpus{prefix: prefix}
	random := rand.New(rand.NewPCG(1, uint64(size)))
	var next text
	want := 0
	for _, t := range texts {
		if next.Content == "" {
			want = size/2 + random.IntN(size+1)
			if titled {
				next.Title = t.Title
			}
		} else {
			next.Content += "\n"
		}
		next.Content = cut(next.Content+t.Content, want)
		if want-len(next.Content) < utf8.UTFMax {
			c.texts, next = append(c.texts, next), text{}
		}
	}
	return c
}

// cut returns the beginning of s, of at most size bytes and of whole characters.
func cut(s string, size int) string {
	if len(s) <= size {
		return s
	}
	for !utf8.RuneStart(s[size]) {
		size--
	}
	return s[:size]
}

// id returns that of article i.
func (c corpus) id(i int) string { return fmt.Sprintf("%s%07d", c.prefix, i) }

// number returns the i of an id: it is the inverse of id.
func (c corpus) number(id string) (int, error) {
	digits, ok := strings.CutPrefix(id, c.prefix)
	if !ok {
		return 0, fmt.Errorf("%q is not the id of an article", id)
	}
	return strconv.Atoi(digits)
}

// value returns article i as JSON. Each time that the texts are through they come again, three in
// ten as they are, three in ten with a run of characters from another text in them, and the others
// with so much from others that they are new.
func (c corpus) value(i int) []byte {
	t := c.texts[i%len(c.texts)]
	if i >= len(c.texts) {
		random := rand.New(rand.NewPCG(2, uint64(i)))
		switch n := random.IntN(10); {
		case n < 3:
		case n < 6:
			t.Content = c.splice(random, t.Content, 1)
		default:
			t.Content = c.splice(random, t.Content, 1+len(t.Content)/(4*runLength))
		}
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	// A struct of strings cannot fail to encode, nor can a buffer to be written.
	_ = encoder.Encode(struct {
		ID          string    `json:"id"`
		Title       string    `json:"title,omitempty"`
		Content     string    `json:"content"`
		PublishedAt time.Time `json:"published_at"`
	}{c.id(i), t.Title, t.Content, time.Unix(1_700_000_000+int64(i)/100, 0).UTC()})
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// runLength is how many characters a splice replaces, some words.
const runLength = 8

// splice replaces runs of characters by runs from other texts.
func (c corpus) splice(random *rand.Rand, content string, times int) string {
	into := []rune(content)
	for range times {
		from := c.texts[random.IntN(len(c.texts))].Content
		at := random.IntN(len(from))
		// A run of bytes that begins and ends anywhere would not be text: take more, and of it whole
		// characters.
		run := []rune(strings.ToValidUTF8(from[at:min(len(from), at+runLength*utf8.UTFMax)], ""))
		copy(into[random.IntN(len(into)):], run[:min(len(run), runLength)])
	}
	return string(into)
}
