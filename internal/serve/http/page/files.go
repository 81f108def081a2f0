package page

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"

	"github.com/clusterd/clusterd/internal/serve/http/access"
	"github.com/clusterd/clusterd/internal/serve/http/api"
)

//go:embed templates files
var content embed.FS

// file returns a file that a page consists of.
func file(name string) ([]byte, error) { return fs.ReadFile(content, path.Join("files", name)) }

// address returns where a file lies. It changes with the file, so that browsers may keep it.
func address(name string) (string, error) {
	text, err := file(name)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return access.PageFiles + name + "?v=" + hex.EncodeToString(sum[:6]), nil
}

// files serves the files that a page consists of.
func files() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := path.Base(r.URL.Path)
		text, err := file(name)
		if err != nil {
			api.WriteProblem(w, http.StatusNotFound, "", "there is no such file")
			return
		}
		h := w.Header()
		h.Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
		_, _ = w.Write(text) // whoever asked may have gone
	})
}
