package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/message/article"
)

// maxHeld is how many bytes are held of files that can be read only once.
const maxHeld = 64 << 20

// Look finds out in which fields the articles of files have their text. If no article has text
// where input.fields says, and they have it in fields of usual names, it returns the configuration
// with these fields, and a sentence for the log. Otherwise it returns the configuration as it is.
//
// It reads up to the first article with text where input.fields says. After that the files can be
// read from their beginning: it holds what it reads of a pipe. If it would have to hold more than
// 64 MiB, it leaves the configuration as it is.
func Look(ctx context.Context, c config.Input, inputs []File) (config.Input, string) {
	return lookHolding(ctx, c, inputs, maxHeld)
}

// lookHolding is Look with another limit of bytes that are held.
func lookHolding(
	ctx context.Context, c config.Input, inputs []File, most int64,
) (config.Input, string) {
	l := look{config: c, seen: NewSightings(article.Fields(c.Fields)), left: most}
	for i := range inputs {
		if inputs[i].hasFields(c.Format) && !l.through(ctx, &inputs[i]) {
			return c, ""
		}
	}
	fields, said := l.usual()
	c.Fields = fields
	return c, said
}

// hasFields reports whether articles are read from the file by input.fields.
func (f *File) hasFields(format string) bool {
	switch {
	case f.Document != nil:
		return false
	case f.Kind == CSV || f.Kind == TSV:
		return true
	}
	return f.Kind == Lines && format == article.JSON
}

type look struct {
	config config.Input
	seen   *Sightings
	left   int64 // bytes that may still be held
}

// through looks through a file, and reports whether it was read to its end and no article in it has
// text. Then the file can be read from its beginning.
func (l *look) through(ctx context.Context, file *File) bool {
	if file.again != nil {
		lines, closeLines := file.again()
		defer closeLines()
		return l.isUseless(ctx, File{Name: file.Name, Lines: lines, Kind: file.Kind})
	}
	var held bytes.Buffer
	rest := file.Lines
	useless := l.isUseless(ctx, File{
		Name: file.Name, Kind: file.Kind,
		Lines: io.TeeReader(io.LimitReader(rest, l.left), &held),
	})
	l.left -= int64(held.Len())
	file.Lines = io.MultiReader(&held, rest)
	return useless && l.left > 0
}

// isUseless reads a file up to the first article with text, and reports whether it met the end. It
// reports no error: whoever reads the file next has the same one.
func (l *look) isUseless(ctx context.Context, file File) bool {
	r, err := NewReader(l.config, []File{file})
	if err != nil {
		return false
	}
	for ctx.Err() == nil {
		e, err := r.Next()
		if err != nil {
			return errors.Is(err, io.EOF)
		}
		a, rejection := r.Article(e)
		if Useless(a, rejection) {
			l.seen.Add(e.Value)
		} else if rejection == nil {
			return false
		}
	}
	return false
}

// usual returns the fields that the articles seem to have, and says so.
func (l *look) usual() (config.Fields, string) {
	fields, taken := l.seen.Fields()
	if taken == "" {
		return l.config.Fields, ""
	}
	return config.Fields(fields), fmt.Sprintf("input.fields does not fit: no article has text in "+
		"%q or %q. These fields are taken instead: %s. To choose others, set input.fields",
		l.config.Fields.Content, l.config.Fields.Title, taken)
}
