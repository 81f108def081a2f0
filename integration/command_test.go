//go:build integration

package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// proposed finds commands in what clusterd says.
var proposed = regexp.MustCompile(`(?:kafka-[a-z-]+ --|clusterd state )(?:[^();",]|,\S)+`)

// tools are the classes of Kafka's tools that clusterd proposes.
var tools = map[string]string{
	"kafka-configs":         "kafka.admin.ConfigCommand",
	"kafka-consumer-groups": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
	"kafka-topics":          "org.apache.kafka.tools.TopicCommand",
}

// carryOut runs commands that clusterd has proposed, word for word but for the name of the file.
func (w *world) carryOut(commands ...string) {
	w.Helper()
	libs, err := exec.Command("./kafka", "libs").Output()
	if err != nil {
		w.Fatal(err)
	}
	dir := w.TempDir()
	script := func(name, command string) {
		if err := os.WriteFile(filepath.Join(dir, name),
			[]byte("#!/bin/sh\nexec "+command+" \"$@\"\n"), 0o700); err != nil {
			w.Fatal(err)
		}
	}
	script("clusterd", binary)
	for name, class := range tools {
		script(name, fmt.Sprintf("java -XX:TieredStopAtLevel=1 -cp '%s/*' %s",
			strings.TrimSpace(string(libs)), class))
	}
	for _, command := range commands {
		command = strings.ReplaceAll(strings.TrimSpace(command), " FILE", " "+w.config)
		cmd := exec.Command("sh", "-c", command)
		cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"),
			"CLUSTERD_TEST_DIR="+w.otherDir())
		out, err := cmd.CombinedOutput()
		w.Logf("%s: %v", command, err)
		if err != nil || strings.Contains(string(out), "Error:") {
			w.Errorf("%s: %v\n%s", command, err, out)
		}
	}
}
