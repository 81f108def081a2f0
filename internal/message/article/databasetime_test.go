package article

import (
	"math/rand/v2"
	"testing"
)

// What databaseTime reads, the patterns read as the same time, and each time of the form is read.
func TestDatabaseTimeAsByPatterns(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	read := 0
	for range 20_000 {
		s := []byte("2024-05-01 12:34:56")
		if random.IntN(2) == 0 {
			s[10] = 'T'
		}
		for range random.IntN(4) {
			s[random.IntN(len(s))] = "0123456789 -:TtZ."[random.IntN(17)]
		}
		got, ok := databaseTime(string(s))
		if !ok {
			continue
		}
		read++
		if compactPattern.Match(s) {
			t.Errorf("%s is compact", s)
		}
		if _, unix := unixTime(string(s)); unix {
			t.Errorf("%s is a Unix time", s)
		}
		want, ok := writtenTime(string(s))
		if !ok || !got.Equal(want) || got.Location() != want.Location() {
			t.Errorf("%s is %v, want %v, %v", s, got, want, ok)
		}
	}
	if read < 5_000 {
		t.Errorf("%d of 20,000 are times", read)
	}
}
