package keyedhash

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"
)

func newKey(t testing.TB, secret string) *Key {
	t.Helper()
	k, err := New(secret)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// What a key gives is stored for years.
func TestGolden(t *testing.T) {
	k := newKey(t, "correct horse battery staple")
	got := fmt.Sprintf("%s %016x %016x %016x", k.Checksum(), k.For("token").SumString("台风"),
		k.For("token").SumString(""), k.For("shingle").SumString("台风"))
	const want = "e6a2e64e 482b57d4c3404dbb 0b4150d643cfc711 4499117850d6cb1a"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// The vectors of the paper, appendix A, and of its reference implementation.
func TestSipHash(t *testing.T) {
	h := &Hash{0x0706050403020100, 0x0f0e0d0c0b0a0908}
	in, _ := hex.DecodeString("000102030405060708090a0b0c0d0e")
	for n, want := range map[int]uint64{
		0: 0x726fdb47dd0e0e31, 1: 0x74f839c593dc67fd,
		8: 0x93f5f5799a932462, 15: 0xa129ca6149be45e5,
	} {
		if got := h.Sum(in[:n]); got != want {
			t.Errorf("of %d bytes: %016x, want %016x", n, got, want)
		}
		if got := h.SumString(string(in[:n])); got != want {
			t.Errorf("of a string of %d bytes: %016x, want %016x", n, got, want)
		}
	}
}

func TestNoSecretIsXXH3(t *testing.T) {
	k := newKey(t, "")
	if k != nil {
		t.Fatal("no secret gives a key")
	}
	for _, s := range []string{"", "台风", strings.Repeat("storm ", 100)} {
		if got, want := k.For("token").SumString(s), xxh3.HashString(s); got != want {
			t.Errorf("%q: %016x, want %016x", s, got, want)
		}
	}
}

// Nothing that differs gives the same.
func TestKeysAreApart(t *testing.T) {
	seen := make(map[string]string)
	note := func(what, value string) {
		if other, ok := seen[value]; ok {
			t.Errorf("%s and %s are both %s", what, other, value)
		}
		seen[value] = what
	}
	for _, secret := range []string{
		strings.Repeat("a", 16), strings.Repeat("a", 17),
		strings.Repeat("a", 15) + "b", strings.Repeat("\x00", 16), strings.Repeat("\x00", 17),
	} {
		k := newKey(t, secret)
		if again := newKey(t, secret); again.Checksum() != k.Checksum() ||
			*again.For("token") != *k.For("token") {
			t.Errorf("%q gives two keys", secret)
		}
		note(fmt.Sprintf("checksum of %q", secret), k.Checksum())
		for _, purpose := range []string{"token", "pair", "shingle", ""} {
			h := k.For(purpose)
			note(fmt.Sprintf("%q for %s", secret, purpose), fmt.Sprintf("%016x%016x", h.k0, h.k1))
			if strings.HasPrefix(fmt.Sprintf("%016x%016x", h.k0, h.k1), k.Checksum()) {
				t.Errorf("the checksum of %q is part of a hash's key", secret)
			}
		}
	}
}

func TestShortSecrets(t *testing.T) {
	for n := 1; n < LeastBytes; n++ {
		if k, err := New(strings.Repeat("q", n)); err == nil || k != nil ||
			strings.Contains(err.Error(), "q") {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

func BenchmarkSum(b *testing.B) {
	text := []byte(strings.Repeat("台风登陆", 10))
	for name, k := range map[string]*Key{"none": nil, "keyed": newKey(b, strings.Repeat("a", 16))} {
		h := k.For("token")
		for _, n := range []int{6, 15, 120} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.SetBytes(int64(n))
				for b.Loop() {
					h.Sum(text[:n])
				}
			})
		}
	}
}
