//go:build ne

package text

import (
	"errors"
	"testing"
)

// go test -tags ne -run TestNotEmbedded
func TestNotEmbedded(t *testing.T) {
	n, err := newNormalizer()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := loadStopWords(nil, n); !errors.Is(err, errNotEmbedded) {
		t.Errorf("stop words: %v", err)
	}
	if _, err := loadDictionary(nil, n); !errors.Is(err, errNotEmbedded) {
		t.Errorf("dictionary: %v", err)
	}
}
