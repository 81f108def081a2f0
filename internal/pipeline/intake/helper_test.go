package intake

import (
	"testing"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

func TestMain(m *testing.M) { wait.Main(m) }

func testFingerprinter(t testing.TB, c config.Config) *fingerprint.Fingerprinter {
	t.Helper()
	f, err := fingerprint.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
