package config

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/clusterd/clusterd/internal/secret/redacted"
)

// Limits of a document. The parser's time grows with the square of the number of tokens and its
// stack with the depth, so both are bounded before it runs. A configuration with every key needs
// some 200 tokens and a depth of 3.
const (
	maxBytes  = 1 << 20 // that a document may have
	maxTokens = 10_000
	maxDepth  = 32
)

// document parses data as one YAML document and returns its root, or nil where
// there is none.
func document(data []byte) (ast.Node, *Error) {
	if len(data) > maxBytes {
		return nil, &Error{Problem: fmt.Sprintf("is larger than %s, the most that a configuration may "+
			"have", formatSize(maxBytes))}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if err := checkCharacters(data); err != nil {
		return nil, err
	}
	tokens := withoutComments(lexer.Tokenize(string(data)))
	if err := checkTokens(tokens); err != nil {
		return nil, err
	}
	// Duplicate keys are left to the decoder, which reports them all.
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, syntaxError(err)
	}
	return onlyDocument(file)
}

// checkCharacters refuses what YAML does: bytes that are no UTF-8 and control
// characters other than tab and line breaks. It does not say which: they may be of a secret.
func checkCharacters(data []byte) *Error {
	line, column := 1, 1
	for rest := data; len(rest) > 0; {
		r, width := utf8.DecodeRune(rest)
		switch {
		case r == utf8.RuneError && width == 1:
			return &Error{
				Line: line, Column: column, Problem: "has a byte that is not UTF-8: save the file as UTF-8",
			}
		case r == '\n':
			line, column = line+1, 0
		case r != '\t' && r != '\r' && r <= unicode.MaxLatin1 && unicode.IsControl(r) && r != '\u0085':
			return &Error{
				Line: line, Column: column, Problem: "has a control character, which YAML does not allow",
			}
		}
		column++
		rest = rest[width:]
	}
	return nil
}

func withoutComments(tokens token.Tokens) token.Tokens {
	kept := tokens[:0]
	for _, tk := range tokens {
		if tk.Type != token.CommentType {
			kept = append(kept, tk)
		}
	}
	return kept
}

// checkTokens bounds the number of tokens and the depth of nesting. In block
// style an indicator nests below the indicators to its left.
func checkTokens(tokens token.Tokens) *Error {
	if len(tokens) > maxTokens {
		return at(tokens[maxTokens],
			fmt.Sprintf("has more than %d tokens of YAML, the most that a configuration may have",
				maxTokens))
	}
	flow := 0
	var columns []int
	for _, tk := range tokens {
		switch tk.Type {
		case token.MappingStartType, token.SequenceStartType:
			flow++
		case token.MappingEndType, token.SequenceEndType:
			flow = max(0, flow-1)
		case token.SequenceEntryType, token.MappingKeyType, token.MappingValueType:
			if flow == 0 {
				columns = nest(columns, columnOf(tk))
			}
		}
		if flow+len(columns) > maxDepth {
			return at(tk, fmt.Sprintf("is nested deeper than %d levels", maxDepth))
		}
	}
	return nil
}

func nest(columns []int, column int) []int {
	for len(columns) > 0 && columns[len(columns)-1] >= column {
		columns = columns[:len(columns)-1]
	}
	return append(columns, column)
}

// columnOf returns where the entry of an indicator begins: a colon belongs to the
// key before it.
func columnOf(tk *token.Token) int {
	if tk.Type == token.MappingValueType && tk.Prev != nil {
		return tk.Prev.Position.Column
	}
	return tk.Position.Column
}

// quoted is what the parser quotes of a file: parts of words, which may be those of a secret. What
// it quotes of its own are indicators.
var quoted = regexp.MustCompile(`"(\\.|[^"\\])*"?|'(\\.|[^'\\])*'?`)

func hidden(text string) string {
	switch text {
	case "'['", "']'", "'{'", "'}'", "','", "':'", "'\t'":
		return text
	}
	return redacted.Mask
}

func syntaxError(err error) *Error {
	var detailed yaml.Error
	if !errors.As(err, &detailed) || detailed.GetToken() == nil {
		return &Error{Problem: "is not YAML"}
	}
	tk, problem := detailed.GetToken(), "is not YAML: "+
		quoted.ReplaceAllStringFunc(detailed.GetMessage(), hidden)
	if tk.Type == token.MappingStartType && tk.Prev != nil && strings.HasSuffix(tk.Prev.Value, "$") {
		problem += ": within [ ] and { } put quotes around \"${NAME}\""
	}
	return at(tk, problem)
}

func at(tk *token.Token, problem string) *Error {
	return &Error{Line: tk.Position.Line, Column: tk.Position.Column, Problem: problem}
}

func onlyDocument(file *ast.File) (ast.Node, *Error) {
	if len(file.Docs) == 0 {
		return nil, nil
	}
	if len(file.Docs) > 1 {
		extra := file.Docs[1]
		problem := "has more than one YAML document, or a directive: leave one document"
		switch {
		case extra.Start != nil:
			return nil, at(extra.Start, problem)
		case extra.Body != nil:
			return nil, at(extra.Body.GetToken(), problem)
		}
		return nil, &Error{Problem: problem}
	}
	return file.Docs[0].Body, nil
}
