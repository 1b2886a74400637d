package testservers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// A server is a program that runs until its input ends.
type server struct {
	dir string // all it writes
	cmd *exec.Cmd
	in  io.WriteCloser
}

// The shell outlives a test process that is killed: it then reads the end of its
// input, stops the server and removes what it wrote.
const untilInputEnds = `trap '' INT TERM
up() { "$@" </dev/null & pid=$!; }
down() { kill -$SIGNAL $pid 2>/dev/null; wait $pid 2>/dev/null; }
up "$@"
while read -r word; do
	case $word in
	down) down; echo is down >"$DIR/state" ;;
	up) up "$@" ;;
	esac
done
down
cd / && rm -rf "$DIR"`

// launch runs a program with dir as its folder, as the user whom dir belongs to.
// The signal ends it at once, as a crash would.
func launch(dir string, who *syscall.Credential, signal, program string, args ...string) (*server, error) {
	s := &server{dir: dir, cmd: exec.Command("sh", append([]string{"-c", untilInputEnds, "sh", program}, args...)...)} //nolint:noctx // it ends with its input
	s.cmd.Dir = dir
	s.cmd.Env = append(os.Environ(), "DIR="+dir, "SIGNAL="+signal, "LC_ALL=C.UTF-8")
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who, Setpgid: true}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if s.in, err = s.cmd.StdinPipe(); err == nil {
		err = s.cmd.Start()
	}
	return s, errors.Join(err, log.Close())
}

// stop ends the program and waits until it is gone.
func (s *server) stop() error {
	return errors.Join(s.in.Close(), s.cmd.Wait())
}

// down ends the program as a crash would; up starts it again.
func (s *server) down(ctx context.Context) error {
	state := filepath.Join(s.dir, "state")
	if _, err := io.WriteString(s.in, "down\n"); err != nil {
		return err
	}
	for {
		if err := os.Remove(state); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (s *server) up() error {
	_, err := io.WriteString(s.in, "up\n")
	return err
}

// answers waits until the server does what it is asked.
func (s *server) answers(ctx context.Context, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the server does not answer: %w\n%s", err, s.said())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// said returns what the program wrote, for the report of a failure.
func (s *server) said() string {
	text, err := os.ReadFile(filepath.Join(s.dir, "log"))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// folder makes a folder in memory where there is such a place: what is written there is
// as durable as the machine, and syncing it takes no time. It belongs to who, and to
// the user of the test when that is nil.
func folder(who *syscall.Credential) (string, error) {
	parent := "/dev/shm"
	if info, err := os.Stat(parent); err != nil || !info.IsDir() {
		parent = ""
	}
	dir, err := os.MkdirTemp(parent, "trestle-test-")
	if err == nil && who != nil {
		err = os.Chown(dir, int(who.Uid), int(who.Gid))
	}
	return dir, err
}

// humble returns the user that a server runs as when the tests run as root, nil
// when they do not.
func humble(names ...string) (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range append(names, "nobody") {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(err1, err2)
	}
	return nil, errors.New("there is no user that a server could run as")
}

// freePort returns a port of the loopback interface without a listener.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // loopback, at once
	if err != nil {
		return 0, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}

// missing says what to install.
func missing(program, packages string) error {
	return fmt.Errorf("%s is not installed; the tests need it: apt-get install %s, as root", program, packages)
}
