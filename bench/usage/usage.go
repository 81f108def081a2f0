// Package usage reads what a process has used, and those that it has started, from /proc of
// Linux. A process id goes in; times and bytes come out.
package usage

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of /proc/PID/stat, which is the same on all of Linux's architectures.
const tick = time.Second / 100

// CPUTime returns the user and system time of a process so far, all of its threads together, and of
// the processes that its main thread has started.
func CPUTime(pid int) (sum time.Duration, err error) {
	for _, pid := range family(pid) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return 0, fmt.Errorf("the processor time of a process: %w", err)
		}
		took, err := parseStat(string(stat))
		if err != nil {
			return 0, err
		}
		sum += took
	}
	return sum, nil
}

// family returns a process, and those that its main thread has started and that have not ended.
func family(pid int) []int {
	pids := []int{pid}
	// A kernel without CONFIG_PROC_CHILDREN has no such file.
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	for _, child := range strings.Fields(string(children)) {
		if pid, err := strconv.Atoi(child); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// parseStat finds utime and stime, fields 14 and 15. Field 2 is the program's name in brackets, in
// which there may be anything. https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
func parseStat(stat string) (time.Duration, error) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/PID/stat is not as expected: %q", stat)
	}
	user, err := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * tick, errors.Join(err, err2)
}

// PeakMemory returns the most resident memory that a process has taken so far, in bytes, and the
// same of each process that its main thread has started. What they share counts for each.
func PeakMemory(pid int) (sum int64, err error) {
	for _, pid := range family(pid) {
		peak, err := peakMemory(pid)
		if err != nil {
			return 0, err
		}
		sum += peak
	}
	return sum, nil
}

func peakMemory(pid int) (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("the memory of a process: %w", err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kib int64
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		return 0, fmt.Errorf("VmHWM in /proc/%d/status: %w", pid, err)
	}
	return kib << 10, nil
}
