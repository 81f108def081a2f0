// version.go says which clusterd this is: what the build knows goes in, a version comes out.

package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// What a release is, set by the linker: its flag is
// -X github.com/clusterd/clusterd/internal/cli.release=1.2.3. Without them, [Version] is what the
// Go command knows of the module and the checkout.
var release, commit, committed string

// Version is what 'clusterd version --json' writes.
type Version struct {
	Version   string `json:"version"`             // of a release, else the commit
	Commit    string `json:"commit,omitempty"`    // a Git hash
	Committed string `json:"committed,omitempty"` // RFC 3339
	Modified  bool   `json:"modified,omitempty"`  // since that commit
	Go        string `json:"go"`
	OS        string `json:"os"`
	Arch      string `json:"arch"`
}

// GetVersion returns which clusterd this is.
func GetVersion() Version {
	i := Version{
		Version: release, Commit: commit, Committed: committed,
		Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
	}
	if build, ok := debug.ReadBuildInfo(); ok {
		i.fill(build)
	}
	if i.Version == "" {
		i.Version = "development"
	}
	return i
}

// fill adds what the linker was not told: the module's version where it was installed as one, else
// the commit that it was built from.
func (i *Version) fill(build *debug.BuildInfo) {
	if v := build.Main.Version; i.Version == "" && v != "(devel)" {
		i.Version = v
	}
	if i.Commit != "" {
		return
	}
	for _, s := range build.Settings {
		switch s.Key {
		case "vcs.revision":
			i.Commit = s.Value
		case "vcs.time":
			i.Committed = s.Value
		case "vcs.modified":
			i.Modified = s.Value == "true"
		}
	}
	if i.Version == "" {
		i.Version = i.Commit[:min(12, len(i.Commit))]
	}
}

// String returns what 'clusterd version' says.
func (i Version) String() string {
	return fmt.Sprintf("%s %s %s/%s", i.Version, i.Go, i.OS, i.Arch)
}
