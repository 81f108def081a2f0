package doctor

import "golang.org/x/sys/unix"

// fileSystem returns how much of a disk is free, in bytes, and why it is no place for a store;
// empty where it is one.
func fileSystem(path string) (free int64, why string, err error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(path, &stat); err != nil {
		return 0, "", err
	}
	switch stat.Type {
	case unix.TMPFS_MAGIC:
		why = "tmpfs, which a restart of the machine empties"
	case unix.OVERLAYFS_SUPER_MAGIC:
		why = "an overlay, which goes with its container"
	case unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC:
		why = "a network, where locks and flushes may not hold"
	}
	return int64(stat.Bavail) * stat.Bsize, why, nil
}

// openFiles returns how many files may be open at once. Go raises the soft limit by itself.
func openFiles() (uint64, error) {
	var l unix.Rlimit
	err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l)
	return l.Max, err
}
