// Package build makes what the benchmark measures: a folder of sources goes in, what can be started
// comes out.
package build

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Go builds a package of the module at root as the program target.
func Go(ctx context.Context, root, pkg, target string) error {
	build := exec.CommandContext(ctx, "go", "build", "-o", target, pkg)
	build.Dir = root
	return Run(build)
}

// Maven compiles a project to the folder classes of target, and copies the libraries that it needs
// to run to libs beside it.
func Maven(ctx context.Context, source, target string) error {
	maven := func(more ...string) error {
		return Run(exec.CommandContext(ctx, "mvn",
			append(more, "-q", "-B", "-Dstyle.color=never", "-f", source, "-Dtarget="+target,
				"compile", "dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory="+
					filepath.Join(target, "libs"))...))
	}
	if maven("-o") == nil { // all that it needs may be here
		return nil
	}
	return maven()
}

// Python makes the virtual environment target, with the packages of source's requirements.txt. One
// that is there is used, and lacks nothing thereafter.
func Python(ctx context.Context, source, target string) error {
	python := filepath.Join(target, "bin", "python")
	if _, err := os.Stat(python); err != nil {
		if err := Run(exec.CommandContext(ctx, "python3", "-m", "venv", target)); err != nil {
			return err
		}
	}
	return Run(exec.CommandContext(ctx, python, "-m", "pip", "install", "--quiet",
		"--disable-pip-version-check", "-r", filepath.Join(source, "requirements.txt")))
}

// Run runs a command to its end. Where it fails, the error has what it said.
func Run(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}
