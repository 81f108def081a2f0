//go:build integration

package integration

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
)

const dist = "../dist" // where make package leaves what it makes

var packages = flag.Bool("packages", false,
	"test what make package has left in dist/, as root on Debian")

// A Debian with nothing but systemd, as a container that shares the network of this machine.
type debian struct {
	*world
	root   string
	leader string // process id of its systemd
}

// The package comes onto a bare Debian, works as a hardened service on a real Kafka, is upgraded
// while it runs, and goes without a trace but what is the user's.
func TestDebian(t *testing.T) {
	if !*packages {
		t.Skip("-packages is not given")
	}
	t.Parallel()
	d := bootDebian(newWorld(t, 2, ""))
	d.put(only(t, filepath.Join(dist, "*_linux_"+runtime.GOARCH+".deb")), "/root/clusterd.deb")
	d.fromEarlier()
	d.must("apt-get install -y /root/clusterd.deb")
	d.must("grep 'method: minhash' /etc/clusterd/clusterd.yaml")
	if said := d.must("clusterd demo --for 4s"); !strings.Contains(said, "joins") {
		t.Errorf("the demo shows no cluster: %s", said)
	}
	d.must("gzip -t /usr/share/man/man1/clusterd-run.1.gz")
	d.must("test -s /usr/share/bash-completion/completions/clusterd")
	d.must("clusterd lint /usr/share/doc/clusterd/examples/*.yaml")

	d.configureService()
	d.must("systemctl enable --now clusterd")
	d.send(50)
	d.done()
	d.must("systemctl reload clusterd")
	d.ready()
	if said := d.must("systemd-analyze security --no-pager clusterd"); exposure(t, said) > 2 {
		t.Errorf("systemd finds too much exposed: %s", said)
	}
	if said := d.must("journalctl --no-pager -u clusterd"); strings.Contains(said, `"level":"WARN"`) ||
		strings.Contains(said, `"level":"ERROR"`) {
		t.Errorf("the service complains: %s", said)
	}

	before := d.must("systemctl show -P MainPID clusterd")
	d.later("/root/clusterd.deb", "/root/later.deb")
	d.must("apt-get install -y /root/later.deb")
	if after := d.must("systemctl show -P MainPID clusterd"); after == before || after == "0" {
		t.Errorf("process %s runs after the upgrade, %s before", after, before)
	}
	d.ready()
	d.send(50)
	d.done()
	if n := len(d.read(d.output, kgo.ReadCommitted())); n != 100 {
		t.Errorf("%d results, want 100", n)
	}
	if config := d.must("cat /etc/clusterd/clusterd.yaml"); !strings.Contains(config, d.input) {
		t.Errorf("the upgrade took the user's configuration away: %s", config)
	}

	d.must("apt-get remove -y clusterd")
	d.must("test ! -e /usr/bin/clusterd -a -d /var/lib/clusterd -a -s /etc/clusterd/clusterd.yaml")
	d.must("! systemctl is-active clusterd")
	d.must("apt-get purge -y clusterd")
	d.leavesNothing()
	d.audit()
}

// leavesNothing checks that nothing of the package is there after it was purged.
func (d *debian) leavesNothing() {
	d.Helper()
	if left := d.must("find /etc /usr /var/lib/clusterd* /var/lib/systemd /run -xdev " +
		"-name '*clusterd*'; true"); left != "" {
		d.Errorf("the package leaves %s", left)
	}
}

// fromEarlier upgrades a package whose configuration named no method and was a file of the package.
// It stays as it is, edited or not, and dpkg asks nothing.
func (d *debian) fromEarlier() {
	d.Helper()
	d.must("rm -rf /root/earlier && dpkg-deb -R /root/clusterd.deb /root/earlier && " +
		"cd /root/earlier && sed '/^fingerprint:/,/^$/d' usr/share/clusterd/clusterd.yaml " +
		">etc/clusterd/clusterd.yaml && " +
		"rm -r usr/share/clusterd && echo /etc/clusterd/clusterd.yaml >>DEBIAN/conffiles && " +
		"sed -i 's/^Version: .*/Version: 0.0.0/' DEBIAN/control && " +
		"dpkg-deb -Znone -b /root/earlier /root/earlier.deb")
	for _, edit := range []string{"true", "sed -i 's/9092/9999/' /etc/clusterd/clusterd.yaml"} {
		d.must("apt-get install -y /root/earlier.deb && " + edit)
		const config = "cat /etc/clusterd/clusterd.yaml"
		before := d.must(config)
		if strings.Contains(before, "method:") {
			d.Fatalf("the earlier package names a method: %s", before)
		}
		d.must("apt-get install -y /root/clusterd.deb </dev/null")
		if after := d.must(config); after != before {
			d.Errorf("after %q the upgrade changes\n%s\nto\n%s", edit, before, after)
		}
		d.must("apt-get purge -y clusterd")
		d.leavesNothing()
	}
}

// Both kinds of package hold the same files, but for the licence and what only one kind has.
func TestPackagesHoldTheSame(t *testing.T) {
	if !*packages {
		t.Skip("-packages is not given")
	}
	t.Parallel()
	list := func(file string, command ...string) (files []string) {
		out, err := exec.Command(command[0], append(command[1:], file)...).Output()
		if err != nil {
			t.Fatalf("%v: %v", command, err)
		}
		for line := range strings.Lines(string(out)) {
			line = strings.TrimSpace(line)
			name := strings.TrimPrefix(line[strings.LastIndex(line, " ")+1:], ".") // none has a space
			if !strings.HasSuffix(name, "/") && !regexp.MustCompile(
				`/(lintian|licenses)/|/copyright$|^/etc/clusterd`).MatchString(name) {
				files = append(files, name)
			}
		}
		slices.Sort(files)
		return files
	}
	debs, err := filepath.Glob(filepath.Join(dist, "*_linux_*.deb"))
	if err != nil || len(debs) == 0 {
		t.Fatalf("debs: %q, %v", debs, err)
	}
	for _, file := range debs {
		deb := list(file, "dpkg-deb", "--contents")
		rpm := list(strings.TrimSuffix(file, ".deb")+".rpm", "rpm", "-qp", "--list")
		if difference := cmp.Diff(deb, rpm); difference != "" || len(deb) < 40 {
			t.Errorf("%s has %d files, and not those of the rpm: %s", file, len(deb), difference)
		}
	}
}

// only returns the one file that fits a pattern.
func only(t *testing.T, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) != 1 {
		t.Fatalf("%s: %q, %v", pattern, files, err)
	}
	return files[0]
}

func exposure(t *testing.T, said string) float64 {
	t.Helper()
	found := regexp.MustCompile(`Overall exposure level for clusterd.service: ([\d.]+)`).
		FindStringSubmatch(said)
	if found == nil {
		t.Fatalf("no exposure level: %s", said)
	}
	level, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return level
}

// bootDebian makes a Debian of the packages that this machine's come from, and boots it.
func bootDebian(w *world) *debian {
	w.Helper()
	w.listen = fmt.Sprintf("127.0.0.1:%d", freePort(w.T))
	d := &debian{world: w, root: filepath.Join(w.TempDir(), "debian")}
	if out, err := exec.Command("mmdebstrap", "--variant=minbase", "--quiet",
		"--include=systemd,systemd-sysv,dbus", "bookworm", d.root).CombinedOutput(); err != nil {
		w.Fatalf("making a Debian: %v: %s", err, out)
	}
	p := w.begin("", "systemd-nspawn", "--quiet", "--directory="+d.root, "--boot", "--register=no",
		"--keep-unit", "--console=pipe", "--machine=clusterd-"+strconv.Itoa(os.Getpid()))
	nspawn := strconv.Itoa(p.cmd.Process.Pid)
	d.eventually("Debian to boot", func() bool {
		children, _ := os.ReadFile(filepath.Join("/proc", nspawn, "task", nspawn, "children"))
		d.leader = strings.TrimSpace(string(children))
		out, _ := d.command("systemctl is-system-running").Output()
		return d.leader != "" && bytes.HasPrefix(out, []byte("running"))
	})
	// Killed, nspawn leaves the container's processes; its systemd takes them along.
	w.Cleanup(func() {
		if pid, err := strconv.Atoi(d.leader); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			p.exited <- <-p.exited // that it was killed is no news
		}
	})
	return d
}

// command returns a command line of the shell in the container.
func (d *debian) command(line string) *exec.Cmd {
	return exec.CommandContext(d.Context(), "nsenter", "--target", d.leader, "--all", "sh", "-c",
		"export LC_ALL=C DEBIAN_FRONTEND=noninteractive CLUSTERD_TOKEN=; "+line)
}

// must returns what a command line writes to standard output.
func (d *debian) must(line string) string {
	d.Helper()
	cmd := d.command(line)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		d.Fatalf("%s: %v: %s%s", line, err, out, errs.Bytes())
	}
	return strings.TrimSpace(string(out))
}

// put copies a file into the container.
func (d *debian) put(from, to string) {
	d.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		d.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.root, to), data, 0o600); err != nil {
		d.Fatal(err)
	}
}

// configureService makes the package's configuration that of this test, as a user would do with an
// editor.
func (d *debian) configureService() {
	d.Helper()
	path := filepath.Join(d.root, "etc/clusterd/clusterd.yaml")
	data, err := os.ReadFile(path)
	if err != nil {
		d.Fatal(err)
	}
	for old, new := range map[string]string{
		"127.0.0.1:9092": d.addresses[0], "create_topics: false": "create_topics: true",
		"topic: articles\n": "topic: " + d.input + "\n", "group: clusterd\n": "group: " + d.group + "\n",
		"topic: article-clusters\n":  "topic: " + d.output + "\n",
		"clusters_topic: clusters\n": "clusters_topic: " + d.clusters + "\n",
		"_topic: articles-dead\n":    "_topic: " + d.dead + "\n",
		"listen: 127.0.0.1:8080\n":   "listen: " + d.listen + "\n",
	} {
		if !bytes.Contains(data, []byte(old)) {
			d.Fatalf("the package's configuration has no %q", old)
		}
		data = bytes.ReplaceAll(data, []byte(old), []byte(new))
	}
	for _, path := range []string{path, d.config} {
		if err := os.WriteFile(path, data, 0o600); err != nil { // the package's keeps its owner and mode
			d.Fatal(err)
		}
	}
}

// ready waits until the service works.
func (d *debian) ready() {
	d.Helper()
	d.eventually("the service to be ready", func() bool {
		return d.command("clusterd health --ready --server http://"+d.listen).Run() == nil
	})
}

// later makes a package of a later version.
func (d *debian) later(from, to string) {
	d.Helper()
	d.must("rm -rf /root/later && dpkg-deb -R " + from + " /root/later && sed -i " +
		"'s/^Version: .*/Version: 99.0.0/' /root/later/DEBIAN/control && dpkg-deb -Znone -b " +
		"/root/later " + to)
}
