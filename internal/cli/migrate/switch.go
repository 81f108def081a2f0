package migrate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/clusterd/clusterd/internal/cli/migrate/beside"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/kafka/topics"
)

// maxBehind is how many articles the new space may be behind the old one where it is switched to.
const maxBehind = 10_000

// Switch lets the new space write what readers read: the topics of the old one. In this order:
//
//  1. While both work, look up what of the new space's results is already there from the old one.
//  2. Wait until the old group is empty, fence it, and mark its offsets: instances that start with
//     its configuration end with an error.
//  3. Append the new space's results of the articles from those offsets on, as they come.
//  4. Wait until the new group is empty, and append the rest.
//  5. Write the configuration with which the new instances go on, which write to the old topics.
//
// It may be killed at any moment, and run again. say tells a person what to do next.
func Switch(ctx context.Context, t beside.Two, file string, anyway bool, say func(string)) error {
	text, switched, finished, err := switched(t, file)
	if err != nil {
		return err
	}
	routes := newRoutes(t)
	if err := prepare(ctx, t, routes, anyway); err != nil {
		return err
	}
	inputs, err := t.New.Partitions(ctx, t.New.Input.Topic)
	if err != nil {
		return err
	}
	err = topics.CheckPlacement(&switched, len(inputs), len(routes[0].partitions))
	if err != nil {
		return err
	}
	err = waitEmpty(ctx, &t.Old, func(n int) {
		say(fmt.Sprintf("Ready. Stop the %d instances that run with %s now.", n, t.Old.File))
	})
	if err != nil {
		return err
	}
	from, err := handOver(ctx, &t.Old, t.New.Input.Group)
	if err != nil {
		return err
	}
	c := &copier{Two: t, from: from, routes: routes, finished: finished}
	if err := c.begin(ctx); err != nil {
		return err
	}
	// Whoever had this before has written nothing since.
	if err := seek(ctx, t, routes, from); err != nil {
		return err
	}
	err = c.run(ctx, func() {
		if finished {
			return
		}
		say(fmt.Sprintf("%s has the results of %s now. Stop the instances that run with the latter.",
			t.Old.Output.Topic, t.New.File))
	})
	if err != nil {
		return err
	}
	if err := replace(file, text, t.New.File); err != nil {
		return err
	}
	say(fmt.Sprintf("Done: %d records were appended. Start the instances with %s, which write to "+
		"%s.\nClusters are in topic %s now. The way back is: clusterd migrate back %s -o FILE",
		c.copied, file, switched.Output.Topic, switched.Output.ClustersTopic, t.Old.File))
	return nil
}

// prepare looks whether the new space is far enough, and seeks while the old one still works.
func prepare(ctx context.Context, t beside.Two, routes []*route, anyway bool) error {
	o, err := t.Old.Commits(ctx, t.Old.Input.Topic)
	if err != nil {
		return err
	}
	n, err := t.New.Commits(ctx, t.New.Input.Topic)
	if err != nil {
		return err
	}
	reached := make(map[int]int64)
	for p, c := range o {
		reached[p] = c.Offset
	}
	switch late := behind(n, reached); {
	case len(o) == 0:
		return fmt.Errorf("group %s has no offsets: has it never run, or did they expire?",
			t.Old.Input.Group)
	case len(n) == 0:
		return fmt.Errorf("group %s has no offsets: run clusterd with %s first", t.New.Input.Group,
			t.New.File)
	case late > maxBehind && !anyway:
		return fmt.Errorf("%s is %d articles behind %s: readers would wait for these. Switch when it "+
			"has caught up, or with --anyway", t.New.File, late, t.Old.File)
	}
	return seek(ctx, t, routes, reached)
}

// switched returns the configuration of the new space after the switch, for a file of that name.
// It also reports whether that is there already.
func switched(
	t beside.Two, file string,
) (text []byte, c config.Config, finished bool, err error) {
	set := []string{
		"output.topic=" + t.Old.Output.Topic,
		"output.dead_letter_topic=" + t.Old.Output.DeadLetterTopic,
	}
	if t.New.Labels.Corrections != "" && t.Old.Labels.Corrections != "" {
		set = append(set, "labels.corrections="+t.Old.Labels.Corrections)
	}
	if text, c, err = edit(t.New.File, file, set); err == nil {
		_, missing := os.Stat(file)
		finished = missing == nil
	}
	return text, c, finished, err
}

// edit returns a configuration file with other settings, which is to be written to another file.
func edit(from, to string, set []string) ([]byte, config.Config, error) {
	text, c, err := config.Edit(from, set)
	if err != nil {
		return nil, c, err
	}
	a, err1 := filepath.Abs(filepath.Dir(from))
	b, err2 := filepath.Abs(filepath.Dir(to))
	if err := errors.Join(err1, err2); err != nil || a != b {
		return nil, c, fmt.Errorf("-o %s: write it into the folder of %s, since names of files in it "+
			"are relative to that", to, from)
	}
	before, err := os.ReadFile(to)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return text, c, nil
	case err != nil:
		return nil, c, err
	case !bytes.Equal(before, text):
		return nil, c, fmt.Errorf("-o %s: the file is there, and says something else", to)
	}
	return text, c, nil
}

// replace writes a file as a whole, with the rights of another one: both may hold secrets.
func replace(file string, text []byte, like string) error {
	rights, err := os.Stat(like)
	if err != nil {
		return err
	}
	next := file + ".new"
	if err := os.WriteFile(next, text, 0o600); err != nil {
		return err
	}
	if err := os.Chmod(next, rights.Mode().Perm()); err != nil {
		return err
	}
	return os.Rename(next, file)
}
