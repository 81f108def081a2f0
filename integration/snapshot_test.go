//go:build integration

package integration

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/clusterd/clusterd/internal/testutil/wait"
)

// runs runs a verb with the configuration, for the disk in dir, and returns its exit code and what
// it writes to both outputs.
func (w *world) runs(dir, verb string, args ...string) (code int, out, said string) {
	w.Helper()
	cmd := exec.CommandContext(w.Context(), binary,
		append(append(strings.Fields(verb), "-c", w.config), args...)...)
	cmd.Env = append(append(os.Environ(), "CLUSTERD_TEST_DIR="+cmp.Or(dir, "unused")), w.env...)
	var errs wait.Buffer
	cmd.Stderr = &errs
	text, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		w.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(text), errs.String()
}

// runsWell is runs of what must exit with 0.
func (w *world) runsWell(dir, verb string, args ...string) (out, said string) {
	w.Helper()
	code, out, said := w.runs(dir, verb, args...)
	if code != 0 {
		w.Fatalf("clusterd %s: exit code %d\n%s%s", verb, code, out, said)
	}
	return out, said
}

// refuses is runs of what must exit with 1 and say why.
func (w *world) refuses(dir, why, verb string, args ...string) {
	w.Helper()
	if code, out, said := w.runs(dir, verb, args...); code != 1 || !strings.Contains(said, why) {
		w.Errorf("clusterd %s: exit code %d, without %q\n%s%s", verb, code, why, out, said)
	}
}

var readBackOf = regexp.MustCompile(`msg="recovered the clusters".* from=(\S+) read_back=(\d+)`)

// readBack returns how many records the recoveries that a text tells of have read, and whether one
// of them read all.
func (w *world) readBack(text string) (records int, whole bool) {
	w.Helper()
	all := readBackOf.FindAllStringSubmatch(text, -1)
	if all == nil {
		w.Fatalf("it has recovered nothing:\n%s", text)
	}
	for _, found := range all {
		n, err := strconv.Atoi(found[2])
		if err != nil {
			w.Fatal(err)
		}
		records += n
		whole = whole || found[1] == "topic"
	}
	return records, whole
}

// A snapshot that was made beside a clusterd at work: a machine that has lost its disk goes on from
// there, and reads only what was written since. All is as if nothing had happened.
func TestSnapshot(t *testing.T) {
	t.Parallel()
	for _, scope := range []string{"topic", "partition"} {
		t.Run(scope, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 3, "cluster: {scope: "+scope+"}\n")
			w.snapshot(filepath.Join(w.dir, "backup"))
		})
	}
}

// snapshot goes through all that is done with snapshots, in a target that has none.
func (w *world) snapshot(target string) {
	w.Helper()
	running := w.start()
	w.send(3000)
	w.done()
	stream := w.stream(perSecond)
	work := filepath.Join(w.dir, "work")
	w.runsWell("", "state export", target, "--work", work)
	w.progress(w.consumed())
	second, said := w.runsWell("", "state export", target, "--work", work)
	if n, whole := w.readBack(said); whole {
		w.Errorf("the second export has read all, %d records:\n%s", n, said)
	}
	third, said := w.runsWell("", "state export", target, "--keep", "2")
	if _, whole := w.readBack(said); !whole {
		w.Errorf("without --work, it has not read all:\n%s", said)
	}
	w.progress(w.consumed())
	w.listed(target, strings.TrimSpace(second), strings.TrimSpace(third))
	w.refuses(running.dir, "belongs to another clusterd that runs", "state import", target,
		"--replace")

	stream.stop()
	w.done()
	running.kill()
	w.refuses(running.dir, "it has clusters already", "state import", target)
	_, said = w.runsWell(running.dir, "state import", target, "--if-missing")
	if !strings.Contains(said, "nothing was imported") {
		w.Errorf("with clusters on disk, --if-missing says:\n%s", said)
	}
	w.refuses(running.dir, "is no name of a snapshot", "state import", target, "--snapshot", "../x")
	if err := os.RemoveAll(running.dir); err != nil {
		w.Fatal(err)
	}
	for i, args := range [][]string{
		{target, "--if-missing"}, {target, "--replace", "--snapshot", strings.TrimSpace(second)},
	} {
		w.runsWell(running.dir, "state import", args...)
		again := w.startIn(running.dir)
		w.send(500)
		w.done()
		again.stop()
		n, whole := w.readBack(again.said())
		all := 0
		for _, end := range w.ends(w.clusters) {
			all += int(end)
		}
		if whole || n == 0 || n > all/2 || strings.Contains(again.said(), "cannot be used") {
			w.Errorf("import %d: %d of %d records were read back, all of them: %v\n%s", i, n, all, whole,
				again.said())
		}
		w.Logf("%d of %d records of the clusters topic were read back", n, all)
	}
	w.audit()
}

// listed holds what state list says to being these snapshots.
func (w *world) listed(target string, names ...string) {
	w.Helper()
	out, _ := w.runsWell("", "state list", target, "--json")
	var found struct {
		Snapshots []struct {
			Name, Error string
			Clusters    int
			Bytes       int64
		}
	}
	if err := json.Unmarshal([]byte(out), &found); err != nil {
		w.Fatal(err)
	}
	text, _ := w.runsWell("", "state list", target)
	if len(found.Snapshots) != len(names) {
		w.Fatalf("%v are listed, not %v", found, names)
	}
	for i, s := range found.Snapshots {
		if s.Name != names[i] || s.Error != "" || s.Clusters < 100 || s.Bytes < 1000 ||
			!strings.Contains(text, s.Name) {
			w.Errorf("%+v is listed, not %s; and as text\n%s", s, names[i], text)
		}
	}
}

// Without the whole of what is said of S3 in the configuration, the environment has it.
func TestSnapshotS3(t *testing.T) {
	t.Parallel()
	program := os.Getenv("CLUSTERD_MINIO")
	if program == "" {
		t.Skip("CLUSTERD_MINIO names the program of a MinIO server")
	}
	const user, canary = "snapshots", "canary-5b1f0a77c2e94d"
	w := newWorld(t, 2, "")
	endpoint := w.minio(program, user, canary)
	write(t, filepath.Join(w.dir, "secret"), []byte(canary+"\n"))
	text, err := os.ReadFile(w.config)
	if err != nil {
		t.Fatal(err)
	}
	s3 := func(settings string) {
		write(t, w.config, []byte(string(text)+"s3: {"+settings+"}\n"))
	}
	good := fmt.Sprintf("endpoint: %q, access_key: %s, secret_key: \"file:secret\"", endpoint, user)
	s3(good)
	w.snapshot("s3://backup/group-a")

	for name, bad := range map[string]struct{ settings, target, want string }{
		"no bucket":    {good, "s3://nowhere/x", "make the bucket"},
		"another user": {strings.Replace(good, user, "nobody", 1), "s3://backup", "check s3.access_key"},
		"no credential": {
			fmt.Sprintf("endpoint: %q", endpoint), "s3://backup", "there are no credentials",
		},
	} {
		s3(bad.settings)
		for _, verb := range []string{"state list", "state export", "state import"} {
			if verb == "state export" && name == "no bucket" {
				continue // it would read all before it finds out
			}
			code, out, said := w.runs(filepath.Join(w.dir, "none"), verb, bad.target)
			if code != 1 || !strings.Contains(said, bad.want) || strings.Contains(out+said, canary) {
				t.Errorf("%s, %s: exit code %d\n%s%s", name, verb, code, out, said)
			}
		}
	}
	s3(fmt.Sprintf("endpoint: %q", endpoint))
	w.env = append(w.env, "AWS_ACCESS_KEY_ID="+user, "AWS_SECRET_ACCESS_KEY="+canary)
	out, said := w.runsWell("", "state list", "s3://backup/group-a")
	if !strings.Contains(out, "Z ") ||
		strings.Contains(out+said, canary) {
		t.Errorf("with credentials of the environment: %s%s", out, said)
	}
	s3(good)
	for _, verb := range []string{"config", "state list", "state export"} {
		args := []string{"s3://backup/group-b", "--set", "log.level=debug"}
		if verb == "config" {
			args = args[1:]
		}
		if out, said := w.runsWell("", verb, args...); strings.Contains(out+said, canary) {
			t.Errorf("%s shows the secret:\n%s%s", verb, out, said)
		}
	}
}

// minio starts a MinIO server with a bucket of the name backup, and returns its URL.
func (w *world) minio(program, user, password string) (endpoint string) {
	w.Helper()
	address := fmt.Sprintf("127.0.0.1:%d", freePort(w.T))
	w.begin(w.dir, "env", "MINIO_ROOT_USER="+user, "MINIO_ROOT_PASSWORD="+password, program, "server",
		"--quiet", "--address", address, filepath.Join(w.dir, "minio"))
	w.eventually("an answer of MinIO", func() bool {
		answer, err := http.Get("http://" + address + "/minio/health/ready")
		if err == nil {
			_ = answer.Body.Close()
		}
		return err == nil && answer.StatusCode == http.StatusOK
	})
	client, err := minio.New(address, &minio.Options{
		Creds: credentials.NewStaticV4(user, password, ""),
	})
	if err != nil {
		w.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
	defer cancel()
	if err := client.MakeBucket(ctx, "backup", minio.MakeBucketOptions{}); err != nil {
		w.Fatal(err)
	}
	return "http://" + address
}
