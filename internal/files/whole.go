package files

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/files/document"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/text/charset"
)

// ReadWhole returns the one article that a file is, of at most input.max_bytes: a document, an
// object where the file is a JSON object, and else the content of an article. Of an object it reads
// input.fields, or, where there is no text in them, fields of usual names, and says so.
func ReadWhole(c config.Input, file File) (a article.Article, said string, err error) {
	encoding, err := charset.Get(c.Encoding)
	if err != nil {
		return article.Article{}, "", err
	}
	if page := file.Document; page != nil {
		d, err := document.Read(file.Name, page, page.Size(), c.MaxBytes, encoding)
		return article.Article{Title: d.Title, Content: d.Content}, "", err
	}
	value, err := io.ReadAll(io.LimitReader(file.Lines, int64(c.MaxBytes)+1))
	if err != nil {
		return article.Article{}, "", err
	}
	if len(value) <= c.MaxBytes {
		value = encoding.Text(value).UTF8
	}
	format := article.Text
	if trimmed := bytes.TrimSpace(value); bytes.HasPrefix(trimmed, []byte("{")) &&
		json.Valid(trimmed) {
		format = article.JSON
	}
	a, rejection, err := decode(c, format, value, file.Name)
	if err == nil && format == article.JSON && Useless(a, rejection) {
		l := look{config: c, seen: NewSightings(article.Fields(c.Fields))}
		l.seen.Add(value)
		if c.Fields, said = l.usual(); said != "" {
			a, rejection, err = decode(c, format, value, file.Name)
		}
	}
	if err == nil && rejection != nil {
		err = rejection
	}
	return a, said, err
}

// decode returns the article that a value is, or why it is none.
func decode(
	c config.Input, format string, value []byte, name string,
) (article.Article, *article.Rejection, error) {
	decoder, err := article.NewDecoder(format, article.Fields(c.Fields), c.MaxBytes, charset.Auto)
	if err != nil {
		return article.Article{}, nil, err
	}
	a, rejection := decoder.Decode(nil, value, article.Address{Topic: name})
	return a, rejection, nil
}
