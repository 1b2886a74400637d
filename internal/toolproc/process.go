package toolproc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// A ToolProcess is a started program with all processes of its group. Its methods may
// be called concurrently. The caller must call Stop, also after the program has ended.
type ToolProcess struct {
	cmd      *exec.Cmd
	work     string
	input    *os.File // written by the caller, read by the program
	output   *os.File // written by the program, read by the caller
	errors   *os.File // written by the program, read into tail
	tail     lineTail
	heard    chan struct{} // closed when errors has been read to its end
	done     chan struct{}
	end      error // of the program; read after done
	stopping sync.Mutex
	running  sync.WaitGroup
}

// Start starts a program. It returns when the program has been started, or with
// [ErrNotFound], [ErrSandbox] or the system's error. A program that cannot be executed
// or limited ends at once with the reason in [ToolProcess.LastLines].
func Start(p ToolProgram) (*ToolProcess, error) {
	if err := p.checkWords(); err != nil {
		return nil, err
	}
	work, err := p.WorkFolder()
	if err != nil {
		return nil, err
	}
	words, err := p.arguments()
	if err != nil {
		return nil, err
	}
	if p.Sandbox != nil {
		if words, err = p.Sandbox.wrap(work, words); err != nil {
			return nil, err
		}
	}
	args, err := launcherArgs(p.Limits, words)
	if err != nil {
		return nil, err
	}
	path, err := executable()
	if err != nil {
		return nil, fmt.Errorf("toolproc: %w", err)
	}
	t := &ToolProcess{work: work, done: make(chan struct{}), heard: make(chan struct{})}
	t.cmd = &exec.Cmd{Path: path, Args: args, Dir: work, Env: p.environment(work), SysProcAttr: processAttributes()}
	if err := t.start(); err != nil {
		return nil, fmt.Errorf("toolproc: start %s: %w", p.Command[0], err)
	}
	return t, nil
}

// start connects the pipes and starts the program.
func (t *ToolProcess) start() error {
	var theirs, ours [3]*os.File
	for i := range theirs {
		r, w, err := os.Pipe()
		if err != nil {
			closeFiles(theirs, ours)
			return err
		}
		if theirs[i], ours[i] = w, r; i == 0 {
			theirs[i], ours[i] = r, w
		}
	}
	t.cmd.Stdin, t.cmd.Stdout, t.cmd.Stderr = theirs[0], theirs[1], theirs[2]
	t.input, t.output, t.errors = ours[0], ours[1], ours[2]
	started := make(chan error, 1)
	t.running.Go(func() { t.supervise(started) })
	err := <-started
	closeFiles(theirs)
	if err != nil {
		closeFiles(ours)
		return err
	}
	t.running.Go(func() {
		defer close(t.heard)
		_, _ = io.Copy(&t.tail, t.errors) // the tail never fails; reading fails at the end alone
	})
	return nil
}

func closeFiles(lists ...[3]*os.File) {
	for _, list := range lists {
		for _, f := range list {
			_ = f.Close() // of a nil file it is an error without effect
		}
	}
}

// supervise starts the program and collects it. It keeps its thread: the program is
// killed with the thread that started it.
func (t *ToolProcess) supervise(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(t.done)
	err := t.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	t.end = collectGroup(t.cmd)
	// A process that has left the group may hold the pipes open: what is in them is read,
	// and no more.
	rest := time.Now().Add(restTime)
	_ = t.output.SetReadDeadline(rest)
	_ = t.errors.SetReadDeadline(rest)
	<-t.heard
}

// signal sends a signal to the group. The error is ignored: the group may have ended.
func (t *ToolProcess) signal(s syscall.Signal) { _ = syscall.Kill(-t.cmd.Process.Pid, s) }

// Input returns the program's standard input. Closing it is the program's end of file.
func (t *ToolProcess) Input() io.WriteCloser { return t.input }

// Output returns the program's standard output. The program waits while it is not read.
// When the program has ended, reading ends soon, even if another process holds it.
func (t *ToolProcess) Output() io.ReadCloser { return t.output }

// WorkFolder returns the folder that the program runs in.
func (t *ToolProcess) WorkFolder() string { return t.work }

// Done returns a channel that is closed when the program has ended.
func (t *ToolProcess) Done() <-chan struct{} { return t.done }

// LastLines returns the end of what the program wrote to its standard error: at most n
// lines, as valid UTF-8 without control characters. It is for the operator, unredacted.
func (t *ToolProcess) LastLines(n int) string { return t.tail.lines(n) }

// Wait returns when the program has ended, or with the error of ctx. The error of a
// program that failed is an [*ExitError].
func (t *ToolProcess) Wait(ctx context.Context) error {
	select {
	case <-t.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	return t.exitError()
}

// Failure returns the [*ExitError] of a program that has failed; nil while it runs and
// after code 0.
func (t *ToolProcess) Failure() error {
	select {
	case <-t.done:
		return t.exitError()
	default:
		return nil
	}
}

// ErrStuck is returned by [ToolProcess.Stop] when the kernel does not end the program.
var ErrStuck = errors.New("toolproc: the program does not end")

// Stop ends the program and all processes of its group: it closes the input, waits for
// grace, sends SIGTERM, waits again, and sends SIGKILL. It returns nil when the program
// has ended, however that came, and is idempotent. Then the output is closed.
func (t *ToolProcess) Stop(grace time.Duration) error {
	t.stopping.Lock()
	defer t.stopping.Unlock()
	_ = t.input.Close()
	if !closesWithin(t.done, grace) {
		if err := t.terminate(grace); err != nil {
			_ = t.output.Close()
			return err
		}
	}
	_ = t.output.Close()
	t.running.Wait()
	_ = t.errors.Close()
	return nil
}

// Terminate ends the program and all processes of its group: it sends SIGTERM, waits for
// grace, and sends SIGKILL. Input and output stay open, and Stop must still be called.
func (t *ToolProcess) Terminate(grace time.Duration) error {
	t.stopping.Lock()
	defer t.stopping.Unlock()
	return t.terminate(grace)
}

func (t *ToolProcess) terminate(grace time.Duration) error {
	if closesWithin(t.done, 0) {
		return nil
	}
	t.signal(syscall.SIGTERM)
	if closesWithin(t.done, grace) {
		return nil
	}
	t.signal(syscall.SIGKILL)
	if closesWithin(t.done, killTime) {
		return nil
	}
	return ErrStuck
}

// Kill ends the program and its group at once. Like Stop, it closes the output.
func (t *ToolProcess) Kill() error {
	t.stopping.Lock()
	if !closesWithin(t.done, 0) {
		t.signal(syscall.SIGKILL)
	}
	t.stopping.Unlock()
	return t.Stop(killTime)
}

// restTime is how long what a program has written can be read after its end, where
// another process keeps its pipes open.
const restTime = time.Second

// killTime is how long the system may take to end a process after SIGKILL.
const killTime = 5 * time.Second

// closesWithin reports whether a channel is closed within d.
func closesWithin(ended <-chan struct{}, d time.Duration) bool {
	select { // one that is closed wins over a time that is over
	case <-ended:
		return true
	default:
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ended:
		return true
	case <-timer.C:
		return false
	}
}

// An ExitError tells how a program ended that failed.
type ExitError struct {
	// Code is the exit code; -1 after a signal.
	Code int
	// Signal is the signal that ended the program; 0 if none did.
	Signal syscall.Signal
}

// Error returns the code or the signal in words.
func (e *ExitError) Error() string {
	switch e.Signal {
	case 0:
		return fmt.Sprintf("the program ended with code %d", e.Code)
	case syscall.SIGXCPU:
		return "the program used more processor time than its limit"
	case syscall.SIGXFSZ:
		return "the program wrote a larger file than its limit"
	default:
		return "the program was ended by the signal: " + e.Signal.String()
	}
}

// exitError returns how the program ended; nil after code 0.
func (t *ToolProcess) exitError() error {
	failed, ok := errors.AsType[*exec.ExitError](t.end)
	if !ok {
		return t.end
	}
	e := &ExitError{Code: failed.ExitCode()}
	if status, ok := failed.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		e.Signal = status.Signal()
	}
	return e
}
