package main

import (
	"bytes"
	"compress/gzip"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/htmlindex"
)

func inEncoding(t *testing.T, name, text string) []byte {
	t.Helper()
	e, err := htmlindex.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	b, err := e.NewEncoder().Bytes([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Files in other encodings give what the same files in UTF-8 do.
func TestClusterEncodings(t *testing.T) {
	othersGoroutines(t, "TestClusterFiles", "TestClusterInterrupted")
	t.Parallel()
	lines := bridge + "\n" + copied + "\r\n" + market + "\n"
	exact := []string{"cluster", "--method", "exact"} // needs no dictionary
	want := clusterd(t, lines, exact...)
	if want.code != 0 {
		t.Fatal(want.errs)
	}
	gz := func(b []byte) []byte {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, _ = w.Write(b)
		_ = w.Close()
		return packed.Bytes()
	}
	mark := func(m string, b []byte) []byte { return append([]byte(m), b...) }
	for name, tt := range map[string]struct {
		file  string
		bytes []byte
		args  []string
		said  string
	}{
		"UTF-8 with a mark": {"a.jsonl", mark("\xef\xbb\xbf", []byte(lines)), nil, ""},
		"a mark in the middle": {
			"a.jsonl",
			[]byte(bridge + "\n\xef\xbb\xbf" + copied + "\n" + market), nil, "",
		},
		"GBK": {
			"a.jsonl", inEncoding(t, "gbk", lines), nil,
			"the text was taken for gb18030",
		},
		"GBK, packed": {
			"a.jsonl.gz", gz(inEncoding(t, "gbk", lines)), nil,
			"the text was taken for gb18030",
		},
		"GBK, named": {
			"a.jsonl", inEncoding(t, "gbk", lines), []string{"--encoding", "gbk"}, `"from_gb18030":3`,
		},
		"UTF-16": {
			"a.jsonl", inEncoding(t, "utf-16le", lines), nil,
			"the text was taken for utf-16le",
		},
		"UTF-16 with a mark": {
			"a.jsonl", mark("\xfe\xff", inEncoding(t, "utf-16be", lines)), nil, `"from_utf-16be":3`,
		},
		"UTF-16 with a mark, packed": {
			"a.jsonl.gz", gz(mark("\xff\xfe", inEncoding(t, "utf-16le", lines))), nil, `"from_utf-16le":3`,
		},
		"UTF-16 with a mark, misnamed": {
			"a.jsonl", mark("\xff\xfe", inEncoding(t, "utf-16le", lines)),
			[]string{"--encoding", "utf-8"},
			`"from_utf-16le":3`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := clusterd(t, "", slices.Concat(exact, []string{write(t, tt.file, tt.bytes)}, tt.args)...)
			if got.code != 0 || got.out != want.out || !strings.Contains(got.errs, tt.said) {
				t.Errorf("exit %d, results:\n%swant:\n%serrors: %s", got.code, got.out, want.out, got.errs)
			}
		})
	}
	if got := clusterd(t, lines, "cluster", "--encoding", "klingon"); got.code != exitUsage ||
		!strings.Contains(got.errs, "gb18030, big5, utf-16") {
		t.Errorf("exit %d, errors %s, want a list of encodings", got.code, got.errs)
	}
	got := clusterd(t, "{\"content\":\"tide \xff tables\"}\n", exact...)
	if got.code != 0 || !strings.Contains(got.errs, `"invalid_encoding":1`) ||
		!strings.Contains(got.errs, "U+FFFD stands for them") {
		t.Errorf("exit %d, errors %s, want the invalid bytes counted and said", got.code, got.errs)
	}
}

// What a wrong configuration makes of the input is said, and is an error where nothing could be
// read.
func TestClusterSaysWhatSeemsWrong(t *testing.T) {
	othersGoroutines(t, "TestClusterFiles", "TestClusterInterrupted")
	t.Parallel()
	for name, tt := range map[string]struct {
		stdin string
		args  []string
		code  int
		want  string
	}{
		"content elsewhere": {
			bridge + "\n" + market,
			[]string{"-c", "../../configs/comments.yaml"},
			0,
			`none of 2 articles has a field \"comment.text\", so titles alone are compared; the first has \"id\", \"title\", \"content\"`,
		},
		"nothing there": {
			`{"name":"x","verdict":"y"}`, nil, exitFailed,
			`clusterd: none of 1 records is an article; the first is empty: there is no field "title" and no field "content" with a value; there is "name", "verdict". input.fields says`,
		},
		"nothing there, and empty titles": {
			`{"title":"","verdict":"The ferry leaves."}` + "\n" + `{"title":" ","verdict":"y"}`, nil, exitFailed,
			`clusterd: no article could be compared: 2 articles have no word in the fields "content" and "title"; the first has "title", "verdict". If the text is elsewhere, set input.fields.content to its path`,
		},
		"no words": {
			`{"content":"!!!"}`, nil, exitFailed,
			`clusterd: no article could be compared: 1 articles have no word in the fields "content" and "title". If`,
		},
		"no words in texts": {
			"!!!\n...",
			[]string{"--format", "text"},
			exitFailed,
			"clusterd: no article could be compared: 2 texts have no word",
		},
		"text": {
			"The ferry leaves.\nThe ferry returns.\n", nil, exitFailed,
			"set input.format to text",
		},
		"JSON": {bridge, []string{"--format", "text"}, 0, "set input.format to json"},
		"blank lines": {
			"\n\n", nil, exitFailed,
			"none of 2 records is an article; the first is empty",
		},
		"no line": {"", nil, 0, `"lines":0`},
		"optional fields": {
			`{"id":{},"content":"The ferry leaves.","published_at":"soon","source":7}`, nil, 0,
			`"without_id":1,"without_published_at":1,"without_source":1`,
		},
		"an unused flag": {
			bridge,
			[]string{"--method", "minhash", "--distance", "3"},
			exitUsage,
			"--distance is for simhash and has no effect on minhash, which takes cluster.similarity",
		},
		"another": {
			bridge,
			[]string{"--similarity", ".8"},
			exitUsage,
			"--similarity is for simhash+verify, minhash, shingle, pinyin and has no effect on simhash, " +
				"which takes cluster.distance",
		},
		"of an unused key": {
			bridge,
			[]string{"-c", write(t, "c.yaml",
				[]byte("fingerprint: {method: exact}\ncluster: {distance: 2}\n"))},
			0,
			"c.yaml:2:11: cluster.distance: warning: is for simhash and has no effect on exact",
		},
		"keys for terminals": {
			"{\"a\\u001b[2Jb\":1,\"\\u202e\":2}", nil, exitFailed, `there is "a\x1b[2Jb", "\u202e"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.args == nil || tt.args[0] == "--format" {
				tt.args = append(tt.args, "--method", "exact") // which needs no dictionary
			}
			got := clusterd(t, tt.stdin, append([]string{"cluster"}, tt.args...)...)
			if got.code != tt.code || !strings.Contains(got.errs, tt.want) {
				t.Errorf("exit %d, errors %s\nwant %d, %s", got.code, got.errs, tt.code, tt.want)
			}
		})
	}
	file := write(t, "c.yaml", []byte("fingerprint: {method: minhash}\ncluster:\n  distance: 3\n"))
	if got := clusterd(t, "", "lint", file); got.code != 0 || got.out != file+": ok\n" ||
		got.errs != file+":3:3: cluster.distance: warning: is for simhash and has no effect on "+
			"minhash, which takes cluster.similarity\n" {
		t.Errorf("lint: exit %d, %s%s", got.code, got.out, got.errs)
	}
	// A method that takes all of them measures all.
	if got := clusterd(t, "", "compare", "-c", file, write(t, "a.txt", []byte("tide tables")),
		write(t, "b.txt", inEncoding(t, "utf-16le",
			"\ufefftide tables"))); got.code != 0 || !strings.Contains(got.out, "both: 11") {
		t.Errorf("compare: exit %d, %s%s", got.code, got.out, got.errs)
	}
}
