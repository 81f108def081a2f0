package config

import (
	"io/fs"
)

// testFile lies in a directory that differs from the tests', so that what is
// relative to it shows.
const testFile = "/etc/clusterd/news.yaml"

func testEnv(name string) (string, bool) {
	text, ok := map[string]string{
		"EMPTY":     "",
		"BROKER":    "kafka-1:9092",
		"DISTANCE":  "4",
		"YAML":      "x\ninput: {topic: evil}",
		"REFERENCE": "${BROKER}",
		"FILE":      "file:password.txt",
		"LATIN1":    "caf\xe9",
		"PASSWORD":  "env-hunter2",
		"中":         "unreachable",
	}[name]
	return text, ok
}

func testReadFile(path string) ([]byte, error) {
	text, ok := map[string]string{
		"/etc/clusterd/password.txt":    "file-hunter2\n",
		"/etc/clusterd/secret.txt":      "file-hunter2-hunter2\n",
		"/etc/clusterd/windows.txt":     "file-hunter2\r\n",
		"/etc/clusterd/two-lines.txt":   "a\n\n",
		"/etc/clusterd/empty.txt":       "\n",
		"/etc/clusterd/words/names.txt": "名字 10 n\n",
		"/srv/stop.txt":                 "的\n",
		"/etc/clusterd/ca.pem":          "",
		"/etc/clusterd/cert.pem":        "",
		"/etc/clusterd/key.pem":         "",
	}[path]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	return []byte(text), nil
}

func parse(yaml string) (Config, error) {
	return Parse(testFile, []byte(yaml), testEnv, testReadFile)
}
