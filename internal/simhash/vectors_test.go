package simhash

import (
	"encoding/json"
	"os"
	"strconv"
	"testing"
)

// vectors are golden values that testdata/vectors.py computed; it shares no code
// with this package. There is no -update flag, so that what is wrong here cannot
// become what is expected.
type vectors struct {
	Hashes  []map[string]string `json:"hashes"`
	Weights []struct {
		Token   string           `json:"token"`
		Count   int              `json:"count"`
		Weights map[string]int64 `json:"weights"`
	} `json:"weights"`
	Fingerprints []struct {
		Name         string            `json:"name"`
		Counts       map[string]int    `json:"counts"`
		Fingerprints map[string]string `json:"fingerprints"`
	} `json:"fingerprints"`
}

func readVectors(t *testing.T) vectors {
	t.Helper()
	data, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Hashes) == 0 || len(v.Weights) == 0 || len(v.Fingerprints) == 0 {
		t.Fatal("testdata/vectors.json lacks a section")
	}
	return v
}

func TestHashVectors(t *testing.T) {
	for _, vector := range readVectors(t).Hashes {
		for _, o := range hashes() {
			token, want := vector["token"], parseHex(t, vector[o.name])
			if got := o.f(token); got != want {
				t.Errorf("%s(%q) = %016x, want %016x", o.name, token, got, want)
			}
		}
	}
}

func TestWeightVectors(t *testing.T) {
	for _, vector := range readVectors(t).Weights {
		for _, o := range weights() {
			want := vector.Weights[o.name]
			if got := o.f([]byte(vector.Token), vector.Count); got != want {
				t.Errorf("%s(%q, %d) = %d, want %d", o.name, vector.Token, vector.Count, got, want)
			}
		}
	}
}

func TestFingerprintVectors(t *testing.T) {
	for _, vector := range readVectors(t).Fingerprints {
		eachHasher(t, func(t *testing.T, hash, weight string, h *Hasher) {
			if weight == TFIDF {
				return // it needs a table, see TestTFIDFWeights
			}
			want := parseHex(t, vector.Fingerprints[hash+"/"+weight])
			if got := fingerprint(h, vector.Counts); got != want {
				t.Errorf("%s: got %016x, want %016x", vector.Name, got, want)
			}
		})
	}
}

func parseHex(t *testing.T, s string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(s, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
