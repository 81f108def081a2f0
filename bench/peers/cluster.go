package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/clusterd/clusterd/internal/method/minhash"
	"github.com/clusterd/clusterd/internal/method/shingling"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/text"
)

type article struct {
	ID      any    `json:"id"`
	Title   string `json:"title"`
	Content string `json:"content"`
}

// cluster clusters the articles of one file into another, as the peer does.
func (s settings) cluster(files []string) error {
	if len(files) != 2 {
		return fmt.Errorf("got files %q, want one to read and one to write", files)
	}
	articles, err := readArticles(files[0])
	if err != nil {
		return err
	}
	cleaner, err := text.NewCleaner(text.CleanOptions{})
	if err != nil {
		return err
	}
	method, err := minhash.New(minhash.Options{
		Shingles:  shingling.Shingles{Cleaner: cleaner, Size: s.shingle},
		Signature: s.signature, Hashes: 128, Similarity: s.similarity, Recall: 0.999,
	})
	if err != nil {
		return err
	}
	started, err := processorTime()
	if err != nil {
		return err
	}
	clusters, err := assign(method, articles)
	if err != nil {
		return err
	}
	ended, err := processorTime()
	if err != nil {
		return err
	}
	if err := writeClusters(files[1], articles, clusters); err != nil {
		return err
	}
	fmt.Println(len(articles), (ended - started).Seconds())
	return nil
}

// processorTime returns what this process has taken so far, by itself and in the kernel.
func processorTime() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, fmt.Errorf("asking for the processor time: %w", err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}

// assign returns the cluster of each article: the position of its founder. One that has nothing to
// compare is a cluster of its own.
func assign(method *minhash.Method, articles []article) ([]int, error) {
	index, err := method.NewIndex(method.Threshold())
	if err != nil {
		return nil, err
	}
	fingerprint, clusters := method.NewFingerprinter(), make([]int, len(articles))
	for i, a := range articles {
		clusters[i] = i
		f, ok := fingerprint(a.Title, a.Content)
		if !ok {
			continue
		}
		if c, _, ok := index.Nearest(f, nil); ok {
			clusters[i] = int(c.Seq)
		} else {
			index.Insert(singlepass.Centre{Fingerprint: f, Seq: uint64(i)})
		}
	}
	return clusters, nil
}

func readArticles(path string) (articles []article, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	var in io.Reader = bufio.NewReader(f)
	if strings.HasSuffix(path, ".gz") {
		if in, err = gzip.NewReader(in); err != nil {
			return nil, err
		}
	}
	for decoder := json.NewDecoder(in); ; {
		var a article
		switch err := decoder.Decode(&a); err {
		case nil:
			articles = append(articles, a)
		case io.EOF:
			return articles, nil
		default:
			return nil, fmt.Errorf("article %d: %w", len(articles)+1, err)
		}
	}
}

func writeClusters(path string, articles []article, clusters []int) error {
	return writeLines(path, len(articles), func(i int) any {
		return map[string]any{"id": fmt.Sprint(articles[i].ID), "cluster": clusters[i]}
	})
}

// normalize writes the articles of one file into another, with the clean text as content.
func normalize(files []string) error {
	if len(files) != 2 {
		return fmt.Errorf("got files %q, want one to read and one to write", files)
	}
	articles, err := readArticles(files[0])
	if err != nil {
		return err
	}
	cleaner, err := text.NewCleaner(text.CleanOptions{})
	if err != nil {
		return err
	}
	return writeLines(files[1], len(articles), func(i int) any {
		clean := cleaner.AppendClean(nil, articles[i].Title, articles[i].Content)
		return article{ID: articles[i].ID, Content: string(clean)}
	})
}

// writeLines writes n values as JSON, a line each.
func writeLines(path string, n int, value func(i int) any) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(f)
	for i := range n {
		line, err := json.Marshal(value(i))
		if err != nil {
			return err
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return f.Close()
}
