package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clusterd/clusterd/bench/build"
	"github.com/clusterd/clusterd/bench/process"
	"github.com/clusterd/clusterd/internal/config"
)

// contenders returns what is measured, in this order; clusterd is the first.
func contenders() []contender {
	return []contender{
		{name: "clusterd", command: roleCommand(config.All), writes: true},
		{name: "ceiling", command: ceilingCommand, writes: true},
		{name: "streams", command: streamsCommand, writes: true, source: "streams", build: build.Maven},
		{
			name: "streams-simhash", command: simhashCommand("viterbi"), writes: true,
			source: "streams-simhash", build: build.Maven,
		},
		{
			name: "streams-longest", command: simhashCommand("longest"), writes: true,
			source: "streams-simhash", build: build.Maven,
		},
		{
			name: "python-datasketch", command: pythonCommand, writes: true, slow: true,
			source: "python-datasketch", build: build.Python,
		},
		{name: "fingerprint", command: fingerprintCommand},
		{name: roleFingerprint, command: roleCommand(config.FingerprintOnly), writes: true},
		{name: roleAssign, command: roleCommand(config.AssignOnly), writes: true, assigns: true},
	}
}

// contender is one of them.
type contender struct {
	name    string
	command func(context.Context, *bench, job) (*exec.Cmd, error)
	writes  bool // results, and offsets of its group; else it counts on standard output
	assigns bool // it reads what another one has fingerprinted
	slow    bool // it gets the first records of the input alone: a quarter of them
	// source is the folder, in bench, of what build makes for it; "" for nothing.
	source string
	build  func(ctx context.Context, source, target string) error
}

// The contenders that are clusterd in one of its roles.
const (
	roleFingerprint = "role-fingerprint"
	roleAssign      = "role-assign"
)

func roleNames() (names []string) {
	for _, c := range contenders() {
		names = append(names, c.name)
	}
	return names
}

// wanted returns the contenders that the settings name.
func (s settings) wanted() []contender {
	var wanted []contender
	for _, c := range contenders() {
		if slices.Contains(s.roles, c.name) {
			wanted = append(wanted, c)
		}
	}
	return wanted
}

// job is what one process does. Its topics, its group and its directory are its own, but for the
// input.
type job struct {
	id     string // begins the names of all that it makes
	input  string // topic
	read   string // topic that is read: the input, or its fingerprinted articles
	group  string // that commits its offsets
	output string // topic
	dir    string
	env    []string
}

// newJob makes the topics and the directory of a job.
func (b *bench) newJob(ctx context.Context, id, input string, partitions int) (job, error) {
	j := job{id: b.prefix + id, input: input, dir: filepath.Join(b.dir, id)}
	j.read, j.group, j.output = input, j.id, j.id+".results"
	if err := os.MkdirAll(j.dir, 0o755); err != nil {
		return j, err
	}
	if err := b.kafka.createTopic(ctx, j.output, partitions); err != nil {
		return j, err
	}
	return j, b.kafka.createTopic(ctx, j.id+".clusters", partitions, "cleanup.policy", "compact")
}

// start starts a contender on a job.
func (b *bench) start(ctx context.Context, c contender, j job) (*process.Process, error) {
	cmd, err := c.command(ctx, b, j)
	if err != nil {
		return nil, err
	}
	cmd.Env = append(os.Environ(), j.env...)
	return process.Launch(cmd, c.name, filepath.Join(b.dir, strings.TrimPrefix(j.id, b.prefix)+".log"),
		!c.writes)
}

// finish deletes what a job has made, but for its log.
func (b *bench) finish(ctx context.Context, j job) error {
	if err := os.RemoveAll(j.dir); err != nil {
		return err
	}
	return b.kafka.dropTopics(ctx, j.id)
}

// roleCommand runs clusterd in a role with its defaults, but for method, index, compression and what
// -set says. The output of role fingerprint is fingerprinted articles.
func roleCommand(role string) func(context.Context, *bench, job) (*exec.Cmd, error) {
	return func(ctx context.Context, b *bench, j job) (*exec.Cmd, error) {
		c, err := b.settings.config()
		if err != nil {
			return nil, err
		}
		c.Role, c.Kafka.Brokers, c.Kafka.CreateTopics = role, strings.Split(b.kafka.address, ","), true
		c.Input.Topic, c.Input.Group, c.Output.Topic = j.input, j.id, j.output
		c.Output.ClustersTopic, c.Output.DeadLetterTopic = j.id+".clusters", j.id+".dead"
		switch role {
		case config.FingerprintOnly:
			c.Fingerprints.Topic, c.Output.Topic = j.output, j.id+".unused"
		case config.AssignOnly:
			c.Fingerprints.Topic = j.read
		}
		c.State.Dir, c.HTTP.Listen = "state", ""
		path := filepath.Join(j.dir, "clusterd.yaml")
		return exec.CommandContext(ctx, filepath.Join(b.dir, "clusterd"), "run", "-c", path),
			os.WriteFile(path, c.YAML(), 0o644)
	}
}

func ceilingCommand(ctx context.Context, b *bench, j job) (*exec.Cmd, error) {
	return exec.CommandContext(
		ctx, b.self, "-role", "ceiling", "-brokers", b.kafka.address, j.input, j.output, j.id,
	), nil
}

func fingerprintCommand(ctx context.Context, b *bench, j job) (*exec.Cmd, error) {
	return exec.CommandContext(
		ctx, b.self, "-role", "fingerprint", "-method", b.settings.method, "-brokers", b.kafka.address,
		j.input,
	), nil
}

// streamsCommand runs streams/Streams.java, which says what its settings are.
func streamsCommand(ctx context.Context, b *bench, j job) (*exec.Cmd, error) {
	return javaCommand(ctx, b, "streams", "-Xmx1g", "Streams", b.kafka.address, j.id, j.input, j.output,
		filepath.Join(j.dir, "streams")), nil
}

// simhashCommand runs streams-simhash/StreamsSimhash.java with a segmenter that Simhash.java knows.
func simhashCommand(segmenter string) func(context.Context, *bench, job) (*exec.Cmd, error) {
	return func(ctx context.Context, b *bench, j job) (*exec.Cmd, error) {
		return javaCommand(ctx, b, "streams-simhash", "-Xmx2g", "StreamsSimhash", b.kafka.address, j.id,
			j.input, j.output, filepath.Join(j.dir, "streams"), segmenter), nil
	}
}

// javaCommand runs what was built of a folder, with settings of Java, the class and its arguments.
func javaCommand(ctx context.Context, b *bench, source string, args ...string) *exec.Cmd {
	built := filepath.Join(b.dir, source)
	return exec.CommandContext(ctx, "java", append([]string{
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
		"-cp", filepath.Join(built, "classes") + ":" + filepath.Join(built, "libs", "*"),
	}, args...)...)
}

func pythonCommand(ctx context.Context, b *bench, j job) (*exec.Cmd, error) {
	const source = "python-datasketch"
	return exec.CommandContext(ctx, filepath.Join(b.dir, source, "bin", "python"),
		filepath.Join(b.root, "bench", source, "cluster.py"),
		b.kafka.address, j.id, j.input, j.output), nil
}

// build builds clusterd and what the wanted contenders need, and finds the program itself.
func (b *bench) build(ctx context.Context) (err error) {
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	mod, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return fmt.Errorf("go env GOMOD: %w", err)
	}
	b.root = filepath.Dir(strings.TrimSpace(string(mod)))
	sources := filepath.Join(b.root, "bench")
	if _, err := os.Stat(sources); err != nil {
		return fmt.Errorf("start it in a folder of clusterd's module: %w", err)
	}
	say("building clusterd")
	if err := build.Go(ctx, b.root, "./cmd/clusterd", filepath.Join(b.dir, "clusterd")); err != nil {
		return err
	}
	built := make(map[string]bool)
	for _, c := range b.settings.wanted() {
		if c.source == "" || built[c.source] {
			continue
		}
		say("building %s", c.source)
		built[c.source] = true
		if err := c.build(ctx, filepath.Join(sources, c.source),
			filepath.Join(b.dir, c.source)); err != nil {
			return err
		}
	}
	return nil
}
