//go:build integration

package integration

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// The image is built as its recipe says, from a Debian of this machine's packages, and works on a
// real Kafka: as nobody, with its own health check, and with no other program in it.
func TestImage(t *testing.T) {
	if !*packages {
		t.Skip("-packages is not given")
	}
	t.Parallel()
	w := newWorld(t, 1, "")
	w.listen = fmt.Sprintf("127.0.0.1:%d", freePort(t))
	b := newBuildah(w)
	program := strings.TrimPrefix(only(t, filepath.Join(dist, "clusterd_linux_"+runtime.GOARCH+"_*",
		"clusterd")), "../")
	b.must("build", "--quiet", "--format", "docker", "--build-arg", "DEBIAN="+b.debian(),
		"--build-arg", "PROGRAM="+program, "-f",
		"../deploy/container/Containerfile", "-t", "clusterd", "..")
	config := b.must("inspect", "--format", "{{.Docker.Config.User}} "+
		"{{.Docker.Config.Healthcheck.Test}} {{.Docker.Config.Entrypoint}} {{.Docker.Config.Cmd}}",
		"clusterd")
	if want := "65532:65532 [CMD /usr/bin/clusterd health] [/usr/bin/clusterd] " +
		"[run -c /etc/clusterd/clusterd.yaml]"; config != want {
		t.Errorf("the image is %s, want %s", config, want)
	}

	if err := os.Chmod(w.config, 0o644); err != nil { // it is not the image's user who wrote it
		t.Fatal(err)
	}
	container := b.must("from", "clusterd")
	if out, err := b.command("run", container, "--", "/bin/sh").CombinedOutput(); err == nil {
		t.Errorf("there is a shell: %s", out)
	}
	running := w.begin("", b.command("run", "--volume", w.config+":/etc/clusterd/clusterd.yaml:ro",
		"--env", "CLUSTERD_TEST_LISTEN="+w.listen, "--env", "CLUSTERD_TEST_DIR=/var/lib/clusterd",
		container, "--", "/usr/bin/clusterd", "run", "-c", "/etc/clusterd/clusterd.yaml").Args...)
	w.eventually("the image's health check", func() bool {
		return b.command("run", container, "--", "/usr/bin/clusterd", "health", "--ready", "--server",
			"http://"+w.listen).Run() == nil
	})
	w.send(20)
	w.done()
	if said := running.said.String(); strings.Contains(said, `"level":"ERROR"`) {
		t.Errorf("it complains: %s", said)
	}
}

// A buildah has images and containers of its own. Without a kernel's namespaces, a chroot is what
// separates a container from the machine.
type buildah struct{ *world }

func newBuildah(w *world) buildah {
	b := buildah{w}
	w.Cleanup(func() { _ = exec.Command("buildah", b.arguments("rm", "--all")...).Run() })
	return b
}

func (b buildah) arguments(args ...string) []string {
	return append([]string{
		"--root", filepath.Join(b.dir, "images"), "--runroot", filepath.Join(b.dir, "containers"),
		"--storage-driver", "vfs",
	}, args...)
}

func (b buildah) command(args ...string) *exec.Cmd {
	if args[0] == "run" {
		args = append([]string{"run", "--isolation", "chroot"}, args[1:]...)
	}
	if args[0] == "build" {
		args = append([]string{"build", "--isolation", "chroot"}, args[1:]...)
	}
	return exec.CommandContext(b.Context(), "buildah", b.arguments(args...)...)
}

func (b buildah) must(args ...string) string {
	b.Helper()
	out, err := b.command(args...).Output()
	if err != nil {
		var errs string
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			errs = string(exit.Stderr)
		}
		b.Fatalf("buildah %q: %v: %s%s", args, err, out, errs)
	}
	return strings.TrimSpace(string(out))
}

// debian returns the name of an image that stands for Debian's own.
func (b buildah) debian() string {
	b.Helper()
	tar := filepath.Join(b.dir, "debian.tar")
	if out, err := exec.Command("mmdebstrap", "--variant=minbase", "--quiet", "bookworm", tar).
		CombinedOutput(); err != nil {
		b.Fatalf("making a Debian: %v: %s", err, out)
	}
	container := b.must("from", "scratch")
	b.must("add", "--quiet", container, tar, "/")
	name := fmt.Sprintf("localhost/debian-%d", time.Now().UnixNano())
	b.must("commit", "--quiet", "--rm", container, name)
	return name
}
