package client

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/serve/http/strict"
)

// maxLine is the longest line of a file of labels, in bytes.
const maxLine = api.MaxBody

// A line of an export has who labelled and when, too. Whoever imports it labels, and now.
type line struct {
	api.LabelRequest
	By *string    `json:"by,omitzero"`
	At *time.Time `json:"at,omitzero"`
	// The server finds these by the id of the article.
	Source         *string  `json:"source,omitzero"`
	MemberPosition *float64 `json:"member_position,omitzero"`
	Fingerprint    *string  `json:"fingerprint,omitzero"`
}

// ReadLabels reads a file of labels: a request for one in each line, as JSON; or CSV, whose first
// line names the fields. An error names the line.
func ReadLabels(r io.Reader) ([]api.LabelRequest, error) {
	in := bufio.NewReader(r)
	for {
		first, err := in.Peek(1)
		switch {
		case errors.Is(err, io.EOF):
			return nil, nil
		case err != nil:
			return nil, err
		case strings.ContainsAny(string(first), " \t\r\n"):
			_, _ = in.Discard(1) // it was peeked at
			continue
		case first[0] == '{':
			return readLines(in)
		}
		return readCSV(in)
	}
}

func readLines(r io.Reader) (all []api.LabelRequest, err error) {
	in := bufio.NewScanner(r)
	in.Buffer(nil, maxLine)
	n := 1
	for ; in.Scan(); n++ {
		if len(bytes.TrimSpace(in.Bytes())) == 0 {
			continue
		}
		var l line
		if err := strict.JSON(in.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		all = append(all, l.LabelRequest)
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", n, err)
	}
	return all, nil
}

// columns are the fields of a label in CSV, and those of an export that do not count.
func columns() []string {
	return []string{
		"target", "cluster_id", "article_id", "contact", "space", "partition", "text", "title", "content",
		"label", "action", "note", "trial", "by", "at",
	}
}

func readCSV(r io.Reader) (all []api.LabelRequest, err error) {
	in := csv.NewReader(r)
	names, err := in.Read()
	if err != nil {
		return nil, err
	}
	names[0] = strings.TrimPrefix(names[0], "\uFEFF") // as spreadsheets begin a file
	for _, name := range names {
		if !slices.Contains(columns(), name) {
			return nil, fmt.Errorf("line 1: there is no field %q; there are %s", name,
				strings.Join(columns(), ", "))
		}
	}
	if !slices.Contains(names, "label") {
		return nil, errors.New("line 1: there is no field label")
	}
	for {
		fields, err := in.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err // it names the line
		}
		row := make(map[string]string)
		for i, name := range names {
			row[name] = fields[i]
		}
		l, err := ofRow(row)
		if err != nil {
			n, _ := in.FieldPos(0)
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		all = append(all, l)
	}
}

// ofRow returns the request of a row of CSV, in which what is empty is not there.
func ofRow(row map[string]string) (l api.LabelRequest, err error) {
	given := func(name string) *string {
		if text := row[name]; text != "" {
			return &text
		}
		return nil
	}
	l = api.LabelRequest{
		ClusterID: api.ID(row["cluster_id"]), ArticleID: api.ID(row["article_id"]), Label: row["label"],
		Note: row["note"],
		TextRequest: api.TextRequest{
			Text: given("text"), Title: given("title"), Content: given("content"),
		},
		ContactRef: api.ContactRef{Contact: row["contact"], Space: given("space")},
	}
	if row["target"] != "" {
		if err := l.Target.UnmarshalText([]byte(row["target"])); err != nil {
			return l, fmt.Errorf("target %q: %w", row["target"], err)
		}
	}
	if row["partition"] != "" {
		partition, err := strconv.Atoi(row["partition"])
		if err != nil {
			return l, fmt.Errorf("partition %q: must be a number", row["partition"])
		}
		l.Partition = &partition
	}
	if row["action"] != "" {
		if err := l.Action.UnmarshalText([]byte(row["action"])); err != nil {
			return l, fmt.Errorf("action %q: %w", row["action"], err)
		}
	}
	if row["trial"] != "" {
		if l.Trial, err = strconv.ParseBool(row["trial"]); err != nil {
			return l, fmt.Errorf("trial %q: must be true or false", row["trial"])
		}
	}
	return l, nil
}
