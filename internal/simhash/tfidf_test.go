package simhash

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

func readTable(t *testing.T, lines string) *IDF {
	t.Helper()
	path := filepath.Join(t.TempDir(), "idf.tsv")
	if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	table, err := ReadIDF(path)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestTFIDFWeights(t *testing.T) {
	h, err := NewTFIDF("sdbm", readTable(t, "台风\t2\n台\t4\nrain\t0.5\n全\t0\n港口\t8.03\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, count := range []int{1, 2, 63, 64, 1000} {
		for _, test := range []struct {
			word   string
			rarity float64
		}{
			{"台风", 2},
			{"台", 4},
			{"rain", .5},
			{"全", 1. / oneIDF}, // never nothing
			{"港口", 8},          // rounded
			{"harbour", 8},
			{"口", 8}, // not there: as rare as the rarest
		} {
			exact := float64(logWeight(count, isHanCharacter([]byte(test.word)))) * test.rarity
			want := max(one/2, one/2*int64(math.Round(exact/(one/2))))
			if got := h.weight([]byte(test.word), count); got != want {
				t.Errorf("weight of %q, %d times: %d, want %d", test.word, count, got, want)
			}
		}
	}
}

// What is rare decides: three frequent words do not outweigh it.
func TestRareWordsDecide(t *testing.T) {
	h, err := NewTFIDF("sdbm", readTable(t, "今天\t1\n我们\t1\n表示\t1\n"+"蒲公英\t4\n"))
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{"今天": 1, "我们": 1, "表示": 1, "蒲公英": 1}
	if got, want := fingerprint(h, counts), h.Hash("蒲公英"); got != want {
		t.Errorf("got %016x, want the hash of the rare word, %016x", got, want)
	}
}

func TestNewTFIDFRefusesUnknownHashes(t *testing.T) {
	if h, err := NewTFIDF("md5", nil); err == nil || h != nil {
		t.Errorf("%v, error %v", h, err)
	}
}
