package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A LockedError is returned by [Open] when another process serves the directory.
type LockedError struct {
	Dir string
	PID int // of the holder; 0 when it did not say
}

// Error names the directory and the process that holds it.
func (e *LockedError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("%s is in use by another process", e.Dir)
	}
	return fmt.Sprintf("%s is in use by process %d", e.Dir, e.PID)
}

// errHeld is returned by lockFile when another process holds the lock.
var errHeld = errors.New("lock is held")

// lockWait is how long the lock of a process that has ended is waited for: a program that
// it was starting holds the lock as well, until the program runs.
const lockWait = time.Second

// lockDir takes the directory for this process and writes its id into the lock
// file. The lock goes with the returned file, at the latest with the process.
func lockDir(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "trestle.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = lockFile(f)
	for began := time.Now(); errors.Is(err, errHeld) && !runs(holderOf(f)) && time.Since(began) < lockWait; err = lockFile(f) {
		<-time.After(5 * time.Millisecond)
	}
	if err != nil {
		if errors.Is(err, errHeld) {
			return nil, errors.Join(&LockedError{Dir: dir, PID: holderOf(f)}, f.Close())
		}
		return nil, errors.Join(fmt.Errorf("lock %s: %w", f.Name(), err), f.Close())
	}
	if err := writePID(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// runs reports whether there is a process with an id.
func runs(pid int) bool {
	p, err := os.FindProcess(pid)
	return err == nil && pid > 0 && !errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

func holderOf(f *os.File) int {
	text := make([]byte, 20)
	n, _ := f.ReadAt(text, 0) // an unreadable id only leaves the message without it
	pid, err := strconv.Atoi(strings.TrimSpace(string(text[:n])))
	if err != nil {
		return 0
	}
	return pid
}

func writePID(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// heldDir reports whether a process has the directory, and which. It takes
// nothing but, for a moment, a lock that others may share.
func heldDir(dir string) (held bool, pid int, err error) {
	f, err := os.OpenFile(filepath.Join(dir, "trestle.lock"), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, 0, nil
	}
	if err != nil {
		return false, 0, err
	}
	err = shareFile(f)
	if held = errors.Is(err, errHeld); held {
		pid, err = holderOf(f), nil
	}
	return held, pid, errors.Join(err, f.Close())
}
