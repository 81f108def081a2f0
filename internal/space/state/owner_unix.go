//go:build unix

package state

import (
	"io/fs"
	"os"
	"syscall"
)

// stranger tells whether a file belongs to somebody else than the user that clusterd runs as, and
// root, who may do everything anyway.
func stranger(info fs.FileInfo) (owner int, ok bool) {
	stat, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return 0, false
	}
	owner = int(stat.Uid)
	return owner, owner != os.Geteuid() && owner != 0
}
