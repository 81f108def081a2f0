package layout

import (
	"os/exec"
	"strings"
	"testing"

	modules "golang.org/x/mod/module"
)

// The Go command refuses a module with a file that some system cannot have, such as nul: nobody
// could install clusterd by 'go install'.
func TestEachFileCanBeInAModule(t *testing.T) {
	list := exec.Command("git", "ls-files", "-z")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Skip("this is no checkout of Git: ", err)
	}
	files := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if len(files) < 500 {
		t.Fatalf("only %d files found", len(files))
	}
	for _, file := range files {
		if err := modules.CheckFilePath(file); err != nil {
			t.Error(err)
		}
	}
}
