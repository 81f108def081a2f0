package main

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const bridgeText = "历时三年的港口大桥工程今天建成通车，居民沿着河岸庆祝，市长剪彩。"

// packed returns a zip archive of one part.
func packed(t *testing.T, name, content string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, content); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Documents are one article each, among files of one article a line. What is broken, empty or too
// large is reported by name, and passed over.
func TestClusterDocuments(t *testing.T) {
	othersGoroutines(t, "TestClusterFiles", "TestClusterInterrupted")
	t.Parallel()
	dir := t.TempDir()
	save := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	config := save("config.yaml",
		[]byte("kafka:\n  brokers: [localhost:9092]\ninput:\n  topic: articles\n  max_bytes: 10KiB\n"))
	lines := save("a.jsonl", []byte(bridge+"\n"+market+"\n"))
	odt := save("a.odt", packed(t, "content.xml",
		"<text:h>港口大桥今天通车</text:h><text:p>"+bridgeText+"</text:p>"))
	page := save(
		"b.HTML", []byte("<html><body><h1>港口大桥今天通车</h1>\n<p>"+bridgeText+"</p></body></html>"))
	feed := save("c.xml",
		[]byte(`<?xml version="1.0"?><news><headline>港口大桥今天通车</headline><text><![CDATA[<p>`+bridgeText+
			`</p>]]></text></news>`))
	broken := save("d.docx", []byte("PK"))
	empty := save("e.odt", packed(t, "content.xml", "<text:p/>"))
	large := save("f.odt", packed(t, "content.xml",
		"<text:p>"+strings.Repeat("x", 11<<10)+"</text:p>"))
	dead := filepath.Join(dir, "dead.jsonl")

	got := clusterd(t, "", "cluster", "--config", config, "--dead-letters", dead, broken, odt, lines,
		empty, page, large, feed)
	if got.code != 0 {
		t.Fatalf("exit %d, errors %s", got.code, got.errs)
	}
	want := odt + " new articles/0/1\nbridge joined articles/0/1\nmarket new articles/0/3\n" +
		page + " joined articles/0/1\n" + feed + " joined articles/0/1\n"
	if s := summary(t, got.out); s != want {
		t.Errorf("results:\n%swant:\n%s", s, want)
	}
	if !strings.Contains(got.out, `"title":"港口大桥今天通车"`) {
		t.Errorf("the title of %s is not that of the cluster:\n%s", odt, got.out)
	}
	letters, err := os.ReadFile(dead)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"file":"` + broken +
			`","line":1,"error":"bad_document","reason":"it is not the zip archive that it should be, or is encrypted: `,
		`{"file":"` + empty + `","line":1,"error":"empty","reason":"there is no text in it","value":""}`,
		`{"file":"` + large +
			`","line":1,"error":"too_large","reason":"there is too much text in it: input.max_bytes is 10240","value":""}`,
	} {
		if !strings.Contains(string(letters), want) {
			t.Errorf("dead letters:\n%s\nwant %s in them", letters, want)
		}
	}
}
