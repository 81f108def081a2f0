package files

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/charset"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/document"
)

// ReadWhole returns the one article that a file is, of at most input.max_bytes: a document, an
// object by input.fields where the file is a JSON object, and else the content of an article.
func ReadWhole(c config.Input, file File) (article.Article, error) {
	encoding, err := charset.Get(c.Encoding)
	if err != nil {
		return article.Article{}, err
	}
	if page := file.Document; page != nil {
		d, err := document.Read(file.Name, page, page.Size(), c.MaxBytes, encoding)
		return article.Article{Title: d.Title, Content: d.Content}, err
	}
	value, err := io.ReadAll(io.LimitReader(file.Lines, int64(c.MaxBytes)+1))
	if err != nil {
		return article.Article{}, err
	}
	if len(value) <= c.MaxBytes {
		value = encoding.Text(value).UTF8
	}
	format := article.Text
	if trimmed := bytes.TrimSpace(value); bytes.HasPrefix(trimmed, []byte("{")) &&
		json.Valid(trimmed) {
		format = article.JSON
	}
	decoder, err := article.NewDecoder(format, article.Fields(c.Fields), c.MaxBytes, charset.Auto)
	if err != nil {
		return article.Article{}, err
	}
	a, rejection := decoder.Decode(nil, value, article.Address{Topic: file.Name})
	if rejection != nil {
		return article.Article{}, rejection
	}
	return a, nil
}
