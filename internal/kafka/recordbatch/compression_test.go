package recordbatch

import (
	"bytes"
	"io"
	"slices"
	"testing"

	"github.com/klauspost/compress/snappy"

	"github.com/clusterd/clusterd/internal/testutil/kafkatest"
)

// What snappy-java writes has a head and blocks; what others write is a single block.
func TestSnappy(t *testing.T) {
	plain := bytes.Repeat([]byte("a text that is said again, and again. "), 10_000)
	for name, encoded := range map[string][]byte{
		"one block": snappy.Encode(nil, plain),
		"framed":    kafkatest.SnappyJava(plain),
		"one stream after another": slices.Concat(kafkatest.SnappyJava(plain[:100_001]),
			kafkatest.SnappyJava(nil), kafkatest.SnappyJava(plain[100_001:])),
	} {
		if got, err := io.ReadAll(newSnappyReader(encoded)); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%s: %d bytes of %d, %v", name, len(got), len(plain), err)
		}
		for _, n := range []int{1, 17, 19, len(encoded) / 2, len(encoded) - 1} {
			if got, err := io.ReadAll(newSnappyReader(encoded[:n])); err == nil && bytes.Equal(got, plain) {
				t.Errorf("%s: whole after %d bytes of %d", name, n, len(encoded))
			}
		}
	}
	if got, err := io.ReadAll(newSnappyReader(nil)); err != nil || len(got) != 0 {
		t.Errorf("nothing: %d bytes, %v", len(got), err)
	}
}
