// Package config turns a YAML file and the environment into a checked Config.
//
// In: the bytes of one YAML document, a way to look up environment variables
// and a way to read the files that it names. Out: a Config in which every value
// is within its limits, or Errors, which holds every mistake at once with line
// and column. Nothing else in the program reads a configuration or a default:
// each field of [Config] declares its key in its comment and its tag. Which methods there are, and
// which keys each of them uses, is said by [method.Specs].
//
// A scalar may hold ${NAME} or ${NAME:default}, taken from the environment
// after the YAML is parsed, so that no value can add YAML; $${ stands for a
// literal ${. Paths are taken relative to the directory of the configuration file,
// and without a file to the working directory.
package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/singlepass"
)

// MethodSettings returns what a method is made by.
func (c Config) MethodSettings() method.Settings {
	return method.Settings{
		Text: c.Text, Fingerprint: c.Fingerprint, Threshold: c.Cluster.ThresholdSettings,
		Guard: c.Cluster.GuardSettings, Contacts: c.Contacts,
	}
}

// Owners returns the partitions of each space, or with role fingerprint of each partition, by the
// transactional id with which instances own it.
func (c Config) Owners(partitions []int) map[string][]int {
	id := c.Input.Group + "-" + c.Input.Topic
	owners := make(map[string][]int)
	switch {
	case len(partitions) == 0:
	case c.Role != FingerprintOnly && c.Cluster.Scope == ByTopic:
		owners[id] = partitions
	default:
		if c.Role == FingerprintOnly {
			id += "-fingerprint"
		}
		for _, partition := range partitions {
			owners[id+"-"+strconv.Itoa(partition)] = []int{partition}
		}
	}
	return owners
}

// Rule returns the rule by which articles join clusters, beside how near they must be.
func (c Config) Rule() singlepass.Rule {
	return singlepass.Rule{
		Window: c.Cluster.Window, Divided: c.Cluster.Scope == ByField,
	}
}

// Contains reports whether articles are also the same because one contains the other.
func (c Config) Contains() bool {
	return c.Cluster.Containment > 0 && Unused("cluster.containment", c.Fingerprint.Method) == ""
}

// Explains reports whether results say how an article matched its cluster: there is more than one
// way.
func (c Config) Explains() bool { return c.Contains() || c.Contacts.Join }

// Source is a topic that is read, and the group whose offsets say how far.
type Source struct{ Topic, Group string }

// Source returns what an instance of this role reads to work on it.
func (c *Config) Source() Source {
	if c.Role == AssignOnly {
		return Source{c.Fingerprints.Topic, c.AssignGroup()}
	}
	return Source{c.Input.Topic, c.Input.Group}
}

// Assigns reports whether an instance of this role assigns articles to clusters.
func (c *Config) Assigns() bool { return c.Role == All || c.Role == AssignOnly }

// Divided reports whether instances fingerprint for others to assign.
func (c *Config) Divided() bool { return c.Role == FingerprintOnly || c.Role == AssignOnly }

// AssignGroup returns the group of instances with role assign, which is not that of those that read
// the input.
func (c *Config) AssignGroup() string { return c.Input.Group + "-assign" }

// Default returns the configuration of an empty file.
func Default() Config {
	var c Config
	for _, k := range c.keys() {
		k.reset()
	}
	return c
}

// ErrSecret is the error of a secret on a command line, which every user of the machine can read.
var ErrSecret = errors.New("a secret is taken from the configuration alone, better by file:PATH " +
	"or ${NAME}")

// Load reads the configuration file at path, with the environment and the file
// system of this process. An empty path gives Default. Every error is an
// Errors.
func Load(path string) (Config, error) {
	c, _, err := LoadSet(path, nil)
	return c, err
}

// LoadSet does what Load does, and overrides keys of the file by assignments KEY=VALUE, which
// errors name --set KEY. A secret cannot be overridden. It also returns which keys are given.
func LoadSet(path string, set []string) (Config, Given, error) {
	if path == "" && len(set) == 0 {
		return Default(), Given{}, nil
	}
	var data []byte
	if path != "" {
		var err error
		if data, err = readBounded(path); err != nil {
			problem := fmt.Sprintf("cannot be read: %v", err)
			return Config{}, Given{}, Errors{{File: path, Problem: problem}}
		}
	}
	return parseGiven(path, data, set, os.LookupEnv, os.ReadFile)
}

// readBounded reads one byte more than a configuration may have, so that a huge
// file is refused without being read.
func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written that closing could lose
	return io.ReadAll(io.LimitReader(f, maxBytes+1))
}

// Parse reads a configuration from data, the content of the file named file.
// The name appears in errors, and relative paths within are relative to its
// directory. env looks up an environment variable; readFile reads a secret, and
// shows that the other files named exist. Every error is an Errors, sorted by
// line.
func Parse(
	file string,
	data []byte,
	env func(string) (string, bool),
	readFile func(string) ([]byte, error),
) (Config, error) {
	c, _, err := parseGiven(file, data, nil, env, readFile)
	return c, err
}

func parseGiven(
	file string,
	data []byte,
	set []string,
	env func(string) (string, bool),
	readFile func(string) ([]byte, error),
) (Config, Given, error) {
	c := Default()
	d, err := newDecoder(c.keys(), file)
	if err != nil {
		return Config{}, Given{}, err
	}
	d.env, d.readFile = env, readFile
	root, syntax := document(data)
	if syntax != nil {
		syntax.File = file
		return Config{}, Given{}, Errors{*syntax}
	}
	d.document(root)
	d.override("--set", set)
	c.State.Dir = d.absolute(c.State.Dir) // its default, too, lies beside the file
	d.check(&c)
	if err := d.err(); err != nil {
		return Config{}, Given{}, err
	}
	return c, d.givenKeys(), nil
}
