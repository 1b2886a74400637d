//go:build faultinject

package crashtest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/failpoint"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// binary is the program under test, built once by TestMain.
var binary string

func TestMain(m *testing.M) {
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	if journal := os.Getenv(ledgerVariable); journal != "" {
		serveLedger(journal)
		return 0
	}
	dir, err := os.MkdirTemp("", "trestle-faults-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }() // it is below the system's own temporary folder
	binary = filepath.Join(dir, "trestle")
	build := exec.Command("go", "build", "-tags", "faultinject", "-o", binary, "../../cmd/trestle") //nolint:noctx // there is no test yet whose end could end it
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build the program:", err)
		return 1
	}
	return database.Main(m)
}

// A program is the real binary with its configuration and its data, over as many
// processes as it takes.
type program struct {
	dir      string
	config   string
	data     string
	database string   // its address; empty for the file in data
	roles    string   // empty for all
	binary   string   // empty for the one under test
	clock    *os.File // where it can be moved: see [program.sets]
	log      string
	cmd      *exec.Cmd
	ended    chan struct{} // closed once cmd has been waited for
	err      error         // of the wait; read it after ended
}

// newProgram writes a configuration for a world. more is appended to it.
func newProgram(t *testing.T, w *world, more string) *program {
	t.Helper()
	dir := t.TempDir()
	p := &program{dir: dir, config: filepath.Join(dir, "trestle.yaml"), data: filepath.Join(dir, "data"), log: filepath.Join(dir, "log")}
	text := fmt.Sprintf(`
listen: ""
model: {base_url: %q, api_key: none, name: teller}
adapters:
  telegram: {type: telegram, token: %q, api_url: %q}
admit: open
limits: {outgoing: off}
agents:
  ada: {name: Ada}
spaces:
  workshop: {name: Workshop, agents: [ada], wake: all, chats: ["telegram:%d"]}
%s`, w.base, botToken, w.api, w.forum.ID(), more)
	testutil.OK(t, os.WriteFile(p.config, []byte(text), 0o600))
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("the program's last words:\n%s", p.lastWords())
		}
	})
	return p
}

// start runs the program under a plan.
func (p *program) start(t *testing.T, plan failpoint.FaultPlan) {
	t.Helper()
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	testutil.OK(t, err)
	defer func() { _ = log.Close() }() // the child has its own
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), cmp.Or(p.binary, binary), "run", "--config", p.config, "--data", p.data, "--roles", p.roles)
	cmd.Dir = p.dir
	cmd.Env = []string{"HOME=" + p.dir, "PATH=" + os.Getenv("PATH"), failpoint.Variable + "=" + plan.String()}
	if p.clock != nil {
		cmd.ExtraFiles = []*os.File{p.clock}
	}
	cmd.Stdout, cmd.Stderr = log, log
	testutil.OK(t, cmd.Start())
	ended := make(chan struct{})
	p.cmd, p.ended = cmd, ended
	go func() { // ends with the process, which every test waits for or kills
		p.err = cmd.Wait()
		close(ended)
	}()
}

// signal tells the process something.
func (p *program) signal(t *testing.T, s os.Signal) {
	t.Helper()
	testutil.OK(t, p.cmd.Process.Signal(s))
}

// over reports whether the process has ended.
func (p *program) over() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// killed waits until the process has ended and fails unless SIGKILL ended it.
func (p *program) killed(ctx context.Context) error {
	select {
	case <-p.ended:
	case <-ctx.Done():
		return errors.New("the program never reached the point")
	}
	exit, ok := errors.AsType[*exec.ExitError](p.err)
	if !ok {
		return fmt.Errorf("the program ended without a kill: %w", p.err)
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); !ok || !status.Signaled() || status.Signal() != syscall.SIGKILL {
		return fmt.Errorf("the program ended without a kill: %w", exit)
	}
	return nil
}

// kill ends the process, if there is one, at once.
func (p *program) kill() {
	if p.cmd == nil {
		return
	}
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		panic("faults: kill the program: " + err.Error())
	}
	<-p.ended
}

// stop asks the program to end and waits until it has, with exit code 0.
func (p *program) stop(ctx context.Context) error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("stop the program: %w", err)
	}
	limited, cancel := context.WithTimeout(ctx, 40*time.Second)
	defer cancel()
	select {
	case <-p.ended:
		return p.err
	case <-limited.Done():
		return errors.New("the program did not stop when it was asked to")
	}
}

// starts counts how often the program has come up.
func (p *program) starts(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile(p.log)
	testutil.OK(t, err)
	return bytes.Count(text, []byte("Bootstrap [ready] completed"))
}

// lastWords returns the end of the program's log.
func (p *program) lastWords() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(all[max(0, len(all)-40):], "\n")
}
