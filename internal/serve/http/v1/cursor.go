package v1

import (
	"encoding/base64"
	"hash/fnv"
	"net/http"
	"strconv"
	"strings"
)

// maxCursor is how long a cursor may be, in bytes.
const maxCursor = 1024

// CursorOf makes of where the next page of a question begins what clients are to hand back as it
// is. It holds for that question alone. An empty place is no cursor.
func CursorOf(place, question string) string {
	if place == "" {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString([]byte(sum(question) + " " + place))
}

// PlaceOf returns the place of a cursor that was made for this question.
func PlaceOf(cursor, question string) (place string, err error) {
	if cursor == "" {
		return "", nil
	}
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	made, place, found := strings.Cut(string(text), " ")
	if err != nil || !found || place == "" || made != sum(question) {
		return "", &refusal{
			http.StatusNotFound, `cursor: must be "next" of an answer to the same question, as it is`,
		}
	}
	return place, nil
}

func sum(question string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(question)) // a hash takes all
	return strconv.FormatUint(uint64(h.Sum32()), 36)
}
