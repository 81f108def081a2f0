package main

import (
	"encoding/json"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/clusterd/clusterd/internal/testutil/check"
)

// made returns inputs of made-up texts, as they are used.
func made() map[string]corpus {
	news, comments := madeUp()
	return map[string]corpus{
		"news":     newCorpus("n", news, newsSize, true),
		"comments": newCorpus("c", comments, commentSize, false),
		"large":    newCorpus("g", news, 100_000, true), "small": newCorpus("g", news, 50, false),
	}
}

func TestValuesAreArticlesOfTheSizeWanted(t *testing.T) {
	check.OneGoroutine(t)
	sizes := map[string]struct{ low, mean, high int }{ // of contents
		"news":     {newsSize / 2, newsSize, newsSize * 3 / 2},
		"comments": {commentSize / 2, commentSize, commentSize * 3 / 2},
		"large":    {50_000, 100_000, 150_000}, "small": {25, 50, 75},
	}
	for name, c := range made() {
		t.Run(name, func(t *testing.T) {
			size := sizes[name]
			sum := 0
			n := min(len(c.texts), 1_000)
			for i := range n {
				var a struct {
					ID, Title, Content string
					PublishedAt        time.Time `json:"published_at"`
				}
				if err := json.Unmarshal(c.value(i), &a); err != nil {
					t.Fatal(err)
				}
				if titled := a.Title != ""; titled != (name == "news" || name == "large") ||
					a.PublishedAt.IsZero() {
					t.Fatalf("article %d: %+v", i, a)
				}
				if number, err := c.number(a.ID); number != i || err != nil {
					t.Fatalf("article %d has the id %q: %d, %v", i, a.ID, number, err)
				}
				// The last character may not have fitted.
				if len(a.Content) <= size.low-utf8.UTFMax || len(a.Content) > size.high {
					t.Fatalf("article %d: %d bytes, want %d to %d", i, len(a.Content), size.low, size.high)
				}
				sum += len(a.Content)
			}
			if mean := sum / n; mean < size.mean*9/10 || mean > size.mean*11/10 {
				t.Errorf("%d texts have %d bytes in the mean, want about %d", n, mean, size.mean)
			}
		})
	}
}

func TestArticlesFollowFromTheirNumbers(t *testing.T) {
	check.OneGoroutine(t)
	one, other := made(), made()
	for name, c := range one {
		for _, i := range []int{0, 1, len(c.texts) - 1, len(c.texts), 3*len(c.texts) + 7} {
			if a, b := string(c.value(i)), string(other[name].value(i)); a != b {
				t.Errorf("%s %d is %s, and then %s", name, i, a, b)
			}
		}
	}
}

// Of the texts that come again, about three in ten are as they were; the others are whole
// characters too.
func TestTextsComeAgainWithVariations(t *testing.T) {
	check.OneGoroutine(t)
	for name, c := range made() {
		same, n := 0, min(1_000, 10_000_000/len(c.texts[0].Content)) // the large ones take long
		for i := range n {
			var was, is text
			at := len(c.texts)*(1+i/len(c.texts)) + i%len(c.texts)
			if json.Unmarshal(c.value(at%len(c.texts)), &was) != nil ||
				json.Unmarshal(c.value(at), &is) != nil {
				t.Fatalf("%s %d is not JSON", name, at)
			}
			if is.Content == "" || !utf8.ValidString(is.Content) ||
				utf8.RuneCountInString(is.Content) != utf8.RuneCountInString(was.Content) {
				t.Fatalf("%s %d was %q and is %q", name, at, was.Content, is.Content)
			}
			if is.Content == was.Content {
				same++
			}
		}
		if same < n*25/100 || same > n*40/100 { // a splice may put in what was there
			t.Errorf("%s: %d of %d texts came again as they were", name, same, n)
		}
	}
}
