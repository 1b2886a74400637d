package toolproc

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ProcessLimits bound one program and each process that it starts, with setrlimit(2).
// Zero is no limit. No core file is written in any case.
type ProcessLimits struct {
	// CPU is the processor time of one process, in whole seconds.
	CPU time.Duration
	// Files is the number of descriptors that a process may have open.
	Files uint64
	// FileSize is the length in bytes of the largest file that a process may write.
	FileSize uint64
	// Processes is the number of processes and threads that the program may add to those
	// that its user has when it starts. The kernel does not apply it to root.
	Processes uint64
	// Memory is the address space of one process in bytes. Node and other runtimes
	// reserve far more than they use, and do not start under a small one.
	Memory uint64
}

// DefaultLimits returns the limits of tools for which the operator sets none: no limit
// on processor time or memory, since a tool server may run for months.
func DefaultLimits() ProcessLimits {
	return ProcessLimits{Files: 1024, FileSize: 1 << 30, Processes: 512}
}

// launcherName is the name under which this executable starts itself to set limits.
const launcherName = "trestle-tool-launcher"

// Exit codes of the launcher. The others are the program's.
const (
	exitLimits = 125 // a limit cannot be set
	exitExec   = 126 // the program cannot be executed
)

// launched is set when packages are initialised, so that the launcher does no other
// work of the executable, and tests and programs need not call it.
var _ = launchHere(os.Args)

// launchHere executes a program under limits and does not return, if this process was
// started as the launcher: its arguments are its name, the limits as JSON, and the
// program with its arguments. Otherwise it does nothing.
func launchHere(args []string) struct{} { //nolint:unparam // a variable is initialised with it
	if len(args) < 3 || args[0] != launcherName {
		return struct{}{}
	}
	var limits ProcessLimits
	if err := json.Unmarshal([]byte(args[1]), &limits); err != nil {
		leave(exitLimits, "its limits cannot be read", err)
	}
	closeOnExec()
	if err := limits.apply(); err != nil {
		leave(exitLimits, "its limits cannot be set", err)
	}
	err := syscall.Exec(args[2], args[2:], os.Environ())
	leave(exitExec, args[2]+" cannot be executed", err)
	return struct{}{}
}

func leave(code int, what string, err error) {
	fmt.Fprintf(os.Stderr, "trestle: %s: %v\n", what, err)
	os.Exit(code)
}

// launcherArgs returns the arguments of the launcher.
func launcherArgs(limits ProcessLimits, words []string) ([]string, error) {
	text, err := json.Marshal(limits)
	if err != nil {
		return nil, fmt.Errorf("toolproc: %w", err)
	}
	return append([]string{launcherName, string(text)}, words...), nil
}

// apply limits this process and those that it becomes or starts.
func (l ProcessLimits) apply() error {
	limits := []struct {
		what     string
		resource int
		value    uint64
		set      bool
	}{
		{"core files", unix.RLIMIT_CORE, 0, true},
		{"processor time", unix.RLIMIT_CPU, uint64(math.Ceil(l.CPU.Seconds())), l.CPU > 0},
		{"size of files", unix.RLIMIT_FSIZE, l.FileSize, l.FileSize > 0},
		{"processes", unix.RLIMIT_NPROC, userTasks() + l.Processes, l.Processes > 0},
		{"memory", unix.RLIMIT_AS, l.Memory, l.Memory > 0},
		{"open files", unix.RLIMIT_NOFILE, l.Files, l.Files > 0},
	}
	for _, one := range limits {
		if !one.set {
			continue
		}
		if err := lowerLimit(one.resource, one.value); err != nil {
			return fmt.Errorf("%s: %w", one.what, err)
		}
	}
	return nil
}

// lowerLimit sets the soft and the hard limit to value, or leaves them where they are
// lower.
func lowerLimit(resource int, value uint64) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(resource, &now); err != nil {
		return err
	}
	value = min(value, now.Max)
	return unix.Setrlimit(resource, &unix.Rlimit{Cur: min(value, now.Cur), Max: value})
}

// closeOnExec keeps descriptors that this process was started with, other than its
// input and outputs, from the program.
func closeOnExec() {
	names, err := os.ReadDir("/dev/fd")
	if err != nil { // no such folder: mark as many as a process usually has
		for fd := 3; fd < 1024; fd++ {
			syscall.CloseOnExec(fd)
		}
		return
	}
	for _, name := range names {
		if fd, err := strconv.Atoi(name.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}
