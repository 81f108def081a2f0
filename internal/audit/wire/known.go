package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
)

// decodeKnown reads a JSON value, and returns a field of it that what it is read into does not
// have, empty if there is no such field. Such a field is no reason not to read the others.
func decodeKnown(value []byte, into any) (unknown string, err error) {
	d := json.NewDecoder(bytes.NewReader(value))
	d.DisallowUnknownFields()
	if err = d.Decode(into); err == nil {
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			return "", errors.New("more than one JSON value")
		}
		return "", nil
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return strings.Trim(name, `"`), json.Unmarshal(value, into)
	}
	return "", err
}

// CheckpointFields are all fields of a checkpoint, and LabelFields those of its labels. The audit
// needs some of them alone.
func CheckpointFields() []string {
	return []string{
		"accepted", "begins", "fingerprints", "group", "ids", "input", "labels", "next_position",
		"offsets", "output", "pipeline", "placements", "scope", "scope_field", "space", "stories_since",
		"stream_time", "threshold", "version", "window",
	}
}

// LabelFields are those of the labels of a checkpoint.
func LabelFields() []string {
	return []string{"adopt", "corrections", "due", "flood", "offsets", "since", "topic"}
}

// unknownOf returns a field of a JSON object that is not among those that are known, empty if there
// is no such field.
func unknownOf(object []byte, known []string) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(object, &fields) != nil {
		return "" // whoever reads it says so
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(known, name) {
			return name
		}
	}
	return ""
}

// unknownOfCheckpoint returns a field of a checkpoint that no checkpoint has.
func unknownOfCheckpoint(value []byte) string {
	if name := unknownOf(value, CheckpointFields()); name != "" {
		return name
	}
	var v struct{ Labels json.RawMessage }
	if json.Unmarshal(value, &v) == nil && len(v.Labels) > 0 {
		if name := unknownOf(v.Labels, LabelFields()); name != "" {
			return "labels." + name
		}
	}
	return ""
}
