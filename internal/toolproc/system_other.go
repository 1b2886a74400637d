//go:build unix && !linux

package toolproc

import (
	"os"
	"os/exec"
	"syscall"
)

// executable returns the path of this executable.
func executable() (string, error) { return os.Executable() }

// processAttributes give a program a session of its own.
func processAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// collectGroup waits for the first process of a group and kills the rest of the group.
func collectGroup(cmd *exec.Cmd) error {
	err := cmd.Wait()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // fails when the group has ended
	return err
}

// userTasks returns an assumed number of processes of a desktop's user, which only
// Linux counts here.
func userTasks() uint64 { return 1000 }
