package toolproc

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// executable returns the path of this executable. The link leads to the file that runs,
// even after an upgrade has replaced it.
func executable() (string, error) { return "/proc/self/exe", nil }

// processAttributes give a program a session of its own. It is killed when the thread
// that started it ends, that is with this process.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// collectGroup waits for the first process of a group, kills the rest of the group and
// then collects the first: its number, which is the group's, is not given to another
// process before that.
func collectGroup(cmd *exec.Cmd) error {
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // fails when the group has ended
	return cmd.Wait()
}

// userTasks returns the number of processes and threads of this process's user.
func userTasks() uint64 {
	folders, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	uid := strconv.Itoa(os.Getuid())
	n := uint64(0)
	for _, folder := range folders {
		if _, err := strconv.Atoi(folder.Name()); err != nil {
			continue
		}
		status, err := os.ReadFile("/proc/" + folder.Name() + "/status")
		if err == nil && statusField(status, "Uid") == uid {
			threads, _ := strconv.ParseUint(statusField(status, "Threads"), 10, 32)
			n += threads
		}
	}
	return n
}

// statusField returns the first value of a field of /proc/PID/status; see proc(5).
func statusField(status []byte, name string) string {
	_, rest, found := bytes.Cut(status, []byte("\n"+name+":"))
	fields := bytes.Fields(rest[:min(len(rest), 64)])
	if !found || len(fields) == 0 {
		return ""
	}
	return string(fields[0])
}
