package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/testutil/golden"
	"github.com/clusterd/clusterd/internal/testutil/wait"
	"github.com/clusterd/clusterd/internal/text/printable"
)

func TestHelp(t *testing.T) {
	for _, verb := range []string{
		"", "run", "demo", "cluster", "compare", "eval", "eval paper",
		"eval spam", "eval tune", "idf", "audit", "doctor", "check", "label",
		"label add", "label remove", "label resume", "label list", "label import", "label export",
		"erase", "tap", "health", "migrate", "migrate plan",
		"migrate status", "migrate compare", "migrate map", "migrate labels", "migrate switch",
		"migrate back", "migrate broker", "state", "state accept", "state export", "state import",
		"state list", "lint",
		"config", "version",
	} {
		t.Run("clusterd "+verb, func(t *testing.T) {
			args := append(strings.Fields(verb), "--help")
			got := clusterd(t, "", args...)
			if got.code != 0 || got.errs != "" {
				t.Errorf("exit %d, errors %q", got.code, got.errs)
			}
			golden.Check(t, filepath.Join("testdata", "help",
				strings.Join(append([]string{"clusterd"}, strings.Fields(verb)...),
					"-")+".txt"), []byte(got.out))
		})
	}
}

func TestWithoutAVerbItHelps(t *testing.T) {
	if got, want := clusterd(t, ""), clusterd(t, "", "--help"); got != want {
		t.Errorf("exit %d, %q", got.code, got.out)
	}
}

func TestUsageErrors(t *testing.T) {
	for args, want := range map[string]string{
		"clster":                     `unknown command or argument "clster": did you mean cluster?`,
		"runn":                       `unknown command or argument "runn": did you mean run?`,
		"Version":                    `unknown command or argument "Version": did you mean version?`,
		"evaluate":                   `unknown command or argument "evaluate"`,
		"con":                        `unknown command or argument "con": did you mean config?`,
		"completion basch":           `completion: unknown command or argument "basch": did you mean bash?`,
		"run --confg x":              "unknown flag: --confg: did you mean --config?",
		"cluster --distnace 3 x":     "unknown flag: --distnace: did you mean --distance?",
		"eval --treshold x":          "unknown flag: --treshold: did you mean --thresholds?",
		"eval tune --smaple 3 x":     "unknown flag: --smaple: did you mean --sample?",
		"eval spam --postive x":      "unknown flag: --postive: did you mean --positive?",
		"run -x":                     "unknown shorthand flag: 'x' in -x",
		"--versoin":                  "unknown flag: --versoin: did you mean --version?",
		"\x1b[31m\u202e":             `unknown command or argument "\x1b[31m\u202e"`,
		"--\x1b[31m\u202e":           `unknown flag: --\x1b[31m\u202e`,
		"--verbose":                  "unknown flag: --verbose",
		"run --verbose":              "unknown flag: --verbose",
		"run articles.jsonl":         `run: unknown command or argument "articles.jsonl"`,
		"run -c":                     "flag needs an argument: 'c' in -c",
		"run --embedded":             "flag needs an argument: --embedded",
		"version now":                `version: unknown command or argument "now"`,
		"config show":                `config: unknown command or argument "show"`,
		"lint":                       "lint: name at least one configuration file",
		"demo --rate 0":              "--rate 0: must be above 0 and at most 10000",
		"demo --rate -1":             "--rate -1: must be above 0 and at most 10000",
		"demo --rate 10001":          "--rate 10001: must be above 0 and at most 10000",
		"demo --rate NaN":            "--rate NaN: must be above 0 and at most 10000",
		"demo --rate fast":           `invalid argument "fast" for "--rate" flag`,
		"demo --for -1s":             "--for -1s: must not be negative",
		"demo --for 3":               `invalid argument "3" for "--for" flag`,
		"demo fast":                  `demo: unknown command or argument "fast"`,
		"cluster --distance 7 x":     "--distance: must be between 0 and 6",
		"cluster --distance three x": "--distance: must ",
		"cluster --distance= x":      "--distance: must ",
		"cluster --window -1h x":     "--window: must be 0s or more",
		"cluster --format xml x":     "--format: must be one of json, text",
		"cluster --method md5 x":     "--method: must be one of simhash, simhash+verify, minhash",
		"check --runners-up 11 x":    "--runners-up: must be 0 to 10",
		"check --server x y":         `--server: "x" is no URL such as http://127.0.0.1:8080`,
		"label ad":                   `label: unknown command or argument "ad": did you mean add?`,
		"label add":                  "label add: name the label",
		"label add x":                "label add: name a cluster, or give --article, --text or --contact",
		"label resume":               "label resume: name one label",
		"erase":                      "erase: name a cluster, or give --article",
		"tap now":                    `tap: unknown command or argument "now"`,
		"tap --count -1":             "--count -1: must not be negative",
		"label list all":             `label list: unknown command or argument "all"`,
		"migrate copy":               `migrate: unknown command or argument "copy"`,
		"migrate plan -c x":          "migrate plan: name the old file with -c and the new one with -o",
		"migrate plan -c x -o y --from z": `--from: "z": must be beginning, a time as ` +
			"2026-01-02T15:04:05Z or for how long, as 168h",
		"migrate status x": "migrate status: name two configuration files, the old one first",
		"migrate labels x": "migrate labels: name two configuration files, the old one first",
		"migrate back":     "migrate back: name the configuration file of the old space",
		"migrate broker -c x": "migrate broker: name the folder with --embedded and the " +
			"configuration with -c",
		"completion tcsh":     `completion: unknown command or argument "tcsh"`,
		"completion bash now": `completion bash: unknown command or argument "now"`,
	} {
		t.Run(args, func(t *testing.T) {
			got := clusterd(t, "", strings.Fields(args)...)
			if got.code != exitUsage || got.out != "" {
				t.Errorf("exit %d, output %q; want 2 and none", got.code, got.out)
			}
			if !strings.HasPrefix(got.errs, "clusterd: "+want) ||
				!strings.HasSuffix(got.errs, "\nTry '"+verb(args)+" --help'.\n") {
				t.Errorf("errors %q, want %q in it", got.errs, want)
			}
		})
	}
}

// verb returns the command that a command line names.
func verb(args string) string {
	path := "clusterd"
	for word := range strings.FieldsSeq(args) {
		if !slices.Contains([]string{
			"run", "demo", "cluster", "eval", "spam", "tune", "lint", "config",
			"version", "completion", "bash", "check", "label", "add", "resume", "list", "erase", "tap",
			"migrate", "plan", "status", "labels", "back", "broker",
		}, word) {
			break
		}
		path += " " + word
	}
	return path
}

func TestVersionFlag(t *testing.T) {
	flag, command := clusterd(t, "", "--version"), clusterd(t, "", "version")
	if flag != command || flag.code != 0 || !strings.HasPrefix(flag.out, "clusterd ") ||
		strings.Count(flag.out, "\n") != 1 {
		t.Errorf("--version: %+v, version: %+v", flag, command)
	}
}

// A log for people and one for programs are the same to a terminal.
func TestLogsArePrintable(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		var b strings.Builder
		newLogger(config.Log{Level: "info", Format: format}, &b).Info("m\u202e\x1b", "k",
			"台风\u009b2J\u202e\u2066\U000E0041\x7f\x1b[2J\nx", "e", errors.New("\u202e"))
		line := strings.TrimSuffix(b.String(), "\n")
		if line != printable.Text(line) || !strings.Contains(line, "台风") {
			t.Errorf("%s: %q", format, line)
		}
		if format == "json" {
			var back struct{ K string }
			if err := json.Unmarshal([]byte(line), &back); err != nil ||
				back.K != "台风\u009b2J\u202e\u2066\U000E0041\x7f\x1b[2J\nx" {
				t.Errorf("%v: %q", err, back.K)
			}
		}
	}
}

func TestVersion(t *testing.T) {
	got := clusterd(t, "", "version")
	if fields := strings.Fields(got.out); got.code != 0 || len(fields) != 4 ||
		fields[0] != "clusterd" || !strings.HasPrefix(fields[2], "go1.") {
		t.Errorf("exit %d, output %q", got.code, got.out)
	}
}

func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		got := clusterd(t, "", "completion", shell)
		if got.code != 0 || !strings.Contains(got.out, shell+" completion") ||
			!strings.Contains(got.out, "clusterd") {
			t.Errorf("%s: exit %d, %d bytes", shell, got.code, len(got.out))
		}
		if path, err := exec.LookPath(shell); err == nil && shell != "powershell" {
			check := exec.Command(path, "-n")
			check.Stdin = strings.NewReader(got.out)
			if out, err := check.CombinedOutput(); err != nil {
				t.Errorf("%s does not take its script: %v: %s", shell, err, out)
			}
		}
	}
}

// The exit codes of the process are those of run.
func TestProcess(t *testing.T) {
	othersGoroutines(t, "TestClusterFiles", "TestRunEmbedded")
	for args, want := range map[string]int{
		"version": 0, "cluster no-such-file.jsonl": 1,
		"run --verbose": 2, "lint testdata/bad.yaml": 78,
	} {
		p := start(t, strings.Fields(args)...)
		<-p.done
		if got := p.cmd.ProcessState.ExitCode(); got != want {
			t.Errorf("%s: exit %d, want %d; %s", args, got, want, &p.errs)
		}
	}
}

func TestClusterInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs wait.Buffer
	code := run(ctx, []string{"cluster"}, strings.NewReader(bridge), &out, &errs)
	if code != exitFailed || errs.String() != "clusterd: interrupted: the results are not complete\n" {
		t.Errorf("exit %d, errors %q", code, &errs)
	}
}

func TestRunWaitsForTheBroker(t *testing.T) {
	othersGoroutines(t, "TestRunEmbedded")
	t.Parallel()
	path := filepath.Join(t.TempDir(), "c.yaml")
	// nobody listens there
	if err := os.WriteFile(path, []byte("kafka: {brokers: [\"127.0.0.1:1\"]}\nhttp: {listen: \"\"}\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, "run", "-c", path)
	p.errs.WaitFor(t, "trying again", 1)
	if code := p.signal(os.Interrupt); code != 0 {
		t.Errorf("exit %d, want 0", code)
	}
	log := p.errs.String()
	if n := strings.Count(log, `"level":"WARN"`); n != 1 ||
		!strings.Contains(log, "no broker listens there: check kafka.brokers and that the broker runs") {
		t.Errorf("%d warnings, want one clear one:\n%s", n, log)
	}
	if p.out.String() != "" || !strings.Contains(log, `"msg":"stopped"`) ||
		strings.Contains(log, "clusterd: ") {
		t.Errorf("output %q, log:\n%s", &p.out, log)
	}
}

func TestRunInATakenFolder(t *testing.T) {
	othersGoroutines(t, "TestRunEmbedded")
	t.Parallel()
	dir, path := t.TempDir(), freeAddress(t)
	first := start(t, "run", "-c", path, "--embedded", filepath.Join(dir, "broker"))
	first.errs.WaitFor(t, `"msg":"embedded broker`, 1)
	got := clusterd(t, "", "run", "-c", path, "--embedded", filepath.Join(dir, "broker"))
	if got.code != exitFailed || !strings.Contains(got.errs,
		"clusterd.lock is locked: another clusterd keeps its broker there") {
		t.Errorf("exit %d, errors %q", got.code, got.errs)
	}
	if code := first.signal(syscall.SIGTERM); code != 0 {
		t.Errorf("exit %d, want 0", code)
	}
}
