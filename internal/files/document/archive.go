package document

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"golang.org/x/net/html"
)

// An archive is the zip file that a document is, of which only so much may be unpacked: a bomb is a
// few kilobytes that unpack to gigabytes.
type archive struct {
	parts      map[string]*zip.File
	left       int64 // bytes that may still be unpacked
	full       error // of the archive from which more is to be unpacked
	maxToken   int   // bytes of a tag, or of the text between two
	maxChapter int   // bytes of a page, which is read whole
}

const (
	// markupPerText is how much larger the markup of a document may be than its text. Of long Word
	// documents it is some ten times as large.
	markupPerText = 16
	// markupPerChapter is how much larger one page of an e-book may be than the text of all.
	markupPerChapter = 2
	// maxRatio is how much larger the parts of a document may be than its file. Markup of office
	// programs compresses to a tenth, at best to a fiftieth; Apache POI has the same limit. Without it
	// the time that a file takes would go with what is allowed of a large one.
	maxRatio = 100
	// minUnpacked may be unpacked of any document, however small it is and however little text is
	// allowed.
	minUnpacked = 1 << 20
	// maxID is more than the id of a part has, in bytes.
	maxID = 255
	// openCost is what opening a part takes from what may be unpacked: some documents name a part any
	// number of times.
	openCost = 1 << 10
	// minToken is allowed of any document: the first tag of most names many namespaces.
	minToken = 64 << 10
	// maxDirectory is how many bytes may list what is in an archive. Of an e-book with ten thousand
	// images it is a quarter.
	maxDirectory = 4 << 20
)

func zipped(read func(*archive, *limited) error) reader {
	return func(file io.ReaderAt, size int64, out *limited) error {
		directory := &limitedReaderAt{ReaderAt: file, left: maxDirectory}
		z, err := zip.NewReader(directory, size)
		switch {
		case errors.Is(err, errDirectory):
			return err
		case err != nil:
			return fmt.Errorf("it is not the zip archive that it should be, or is encrypted: %w", err)
		}
		directory.left = math.MaxInt64 // what is unpacked has a limit of its own
		a := &archive{
			parts: make(map[string]*zip.File, len(z.File)),
			left:  minUnpacked + markupPerText*int64(out.max), full: ErrTooLarge,
			maxToken: max(minToken, out.max), maxChapter: minUnpacked + markupPerChapter*out.max,
		}
		if left := minUnpacked + maxRatio*size; left < a.left {
			a.left, a.full = left, errRatio
		}
		for _, f := range z.File {
			a.parts[f.Name] = f
		}
		return read(a, out)
	}
}

// A limitedReaderAt gives errDirectory where more than left bytes are read.
type limitedReaderAt struct {
	io.ReaderAt
	left int64
}

var errDirectory = fmt.Errorf(
	"its list of parts has more than %d bytes, and no document has that many", maxDirectory)

func (r *limitedReaderAt) ReadAt(b []byte, at int64) (int, error) {
	if r.left -= int64(len(b)); r.left < 0 {
		return 0, errDirectory
	}
	return r.ReaderAt.ReadAt(b, at)
}

// errRatio is the error of a file from which too much is to be unpacked for its size.
var errRatio = fmt.Errorf(
	"it unpacks to more than %d times its size, and no document does", maxRatio)

// errMissing is the error of a part that is not in the archive.
var errMissing = errors.New("is missing")

// open opens a part by its path in the archive. Reading it gives the error full where there is
// more in it than may be unpacked.
func (a *archive) open(name string) (io.ReadCloser, error) {
	f := a.parts[name]
	if f == nil {
		return nil, fmt.Errorf("part %q %w", name, errMissing)
	}
	if a.left -= openCost; a.left < 0 {
		return nil, a.full
	}
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("part %q: %w", name, err)
	}
	return &part{r, a, name}, nil
}

type part struct {
	io.ReadCloser
	archive *archive
	name    string
}

func (p *part) Read(b []byte) (int, error) {
	n, err := p.ReadCloser.Read(b)
	if p.archive.left -= int64(n); p.archive.left < 0 {
		return 0, p.archive.full
	}
	if err != nil && err != io.EOF {
		err = fmt.Errorf("part %q: %w", p.name, err)
	}
	return n, err
}

// A tag is one of an XML document, or what stands between two.
type tag struct {
	kind html.TokenType // start, end, self-closing or text
	name string         // without the prefix of its namespace, in lower case
	attr func(name string) string
	text []byte // of a text
}

// A list names parts that are to be opened one after the other, by their ids.
type list struct {
	ids   []string
	paths map[string]string // by id; empty until it is known
}

// add adds an id. It gives an error where this many parts cannot be opened, or the id is too long.
func (l *list) add(a *archive, id string) error {
	switch {
	case int64(len(l.ids)+1)*openCost > a.left:
		return a.full
	case len(id) > maxID:
		return ErrTooLarge
	}
	if l.paths == nil {
		l.paths = make(map[string]string)
	}
	l.ids = append(l.ids, id)
	l.paths[id] = ""
	return nil
}

// locate notes where the part with an id is, if that is in the list.
func (l *list) locate(id, path string) {
	if _, listed := l.paths[id]; listed {
		l.paths[id] = path
	}
}

// each calls visit with the tags and the text of a part in XML. HTML's tokenizer reads it because
// it holds one tag at a time, of bounded size, while encoding/xml holds all open elements.
func (a *archive) each(name string, visit func(tag) error) error {
	r, err := a.open(name)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // only read from
	decoded, err := decodeXML(r)
	if err != nil {
		return fmt.Errorf("part %q: %w", name, err)
	}
	z := html.NewTokenizer(decoded)
	z.SetMaxBuf(a.maxToken)
	z.AllowCDATA(true)
	for {
		t := tag{kind: z.Next()}
		switch t.kind {
		case html.ErrorToken:
			switch {
			case errors.Is(z.Err(), io.EOF):
				return nil
			case errors.Is(z.Err(), html.ErrBufferExceeded):
				return ErrTooLarge
			}
			return z.Err()
		case html.TextToken:
			t.text = z.Text()
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			z.NextIsNotRawText() // only in HTML is <title> special
			name, more := z.TagName()
			if _, local, prefixed := bytes.Cut(name, []byte(":")); prefixed {
				name = local
			}
			t.name, t.attr = string(name), attributes(z, more)
		default:
			continue
		}
		if err := visit(t); err != nil {
			return err
		}
	}
}

// attributes returns what looks up attributes of the tag that z is at by their names, in lower
// case, of those that are used at all. It can be called until z moves on.
func attributes(z *html.Tokenizer, more bool) func(name string) string {
	var found [len(attributeNames)]string
	return func(name string) string {
		for more {
			var key, value []byte
			key, value, more = z.TagAttr()
			if i := slices.Index(attributeNames[:], string(key)); i >= 0 {
				found[i] = string(value)
			}
		}
		return found[slices.Index(attributeNames[:], name)]
	}
}

var attributeNames = [...]string{"id", "r:id", "type", "target", "full-path", "href", "idref"}
