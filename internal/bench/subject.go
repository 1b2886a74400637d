package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A subject is a program under test that runs.
type subject struct {
	name  string
	cmd   *exec.Cmd
	start func() error // starts the same again, with the same data
	log   string
}

// build finds this program, and makes the one to measure unless one was named.
func (b *bench) build(ctx context.Context) (err error) {
	if b.self, err = os.Executable(); err != nil || b.binary != "" {
		return err
	}
	b.binary = filepath.Join(b.dir, "trestle")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", b.binary, "github.com/trestle-bridge/trestle/cmd/trestle")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build trestle: %w", err)
	}
	return nil
}

// The names of the subjects.
const (
	trestle   = "trestle"
	bareEcho  = "echo"
	bareModel = "echo+model"
)

// consoleToken opens the console.
const consoleToken = "0123456789abcdef0123456789abcdef"

// prepare makes a subject of that name for a world, with more lines in its
// configuration; it does not run yet.
func (b *bench) prepare(w *world, name string, more ...string) (*subject, error) {
	dir, err := os.MkdirTemp(b.dir, "run-")
	if err != nil {
		return nil, err
	}
	args := []string{b.self, name}
	if name == trestle {
		config := filepath.Join(dir, "trestle.yaml")
		text := fmt.Sprintf(`
listen: %q
webhook_listen: %q
token: %q
model: {base_url: %q, api_key: none, name: responder}
adapters:
%sadmit: open
limits: {outgoing: off}
budget: {agent_per_day: 0, space_per_day: 0, per_day: 0}
agents:
  ada: {name: Ada, persona: "You are Ada, who keeps the family's plans together."}
%s
`, w.console, w.hooks, consoleToken, w.base, w.adapters(), strings.Join(more, "\n"))
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			return nil, err
		}
		args = []string{b.binary, "run", "--quiet", "--config", config, "--data", filepath.Join(dir, "data")}
	}
	s := &subject{name: name, log: filepath.Join(dir, "log")}
	s.start = func() error {
		log, err := os.OpenFile(s.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		defer func() { _ = log.Close() }()         // the child has its own
		s.cmd = exec.Command(args[0], args[1:]...) //nolint:noctx // it is killed by end, also when ctx is done
		s.cmd.Dir = dir
		s.cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "BENCH_API=" + w.platforms[0].url, "BENCH_BASE=" + w.base}
		s.cmd.Stdout, s.cmd.Stderr = log, log
		return s.cmd.Start()
	}
	return s, nil
}

// with runs do in a world with a running subject that has answered every room
// once, unless they are unasked.
func (b *bench) with(ctx context.Context, o worldOptions, name string, do func(*world, *subject) error) (err error) {
	w, err := newWorld(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.stop()) }()
	s, err := b.prepare(w, name, o.config)
	if err != nil {
		return err
	}
	if err := s.start(); err != nil {
		return err
	}
	defer func() { err = s.explain(errors.Join(err, s.end())) }()
	for _, p := range w.platforms {
		if p.ready == nil {
			continue
		}
		if err := p.ready(ctx); err != nil {
			return fmt.Errorf("%s does not connect: %w", name, err)
		}
	}
	if !o.unasked {
		for _, r := range w.rooms {
			r.say()
		}
		for _, r := range w.rooms {
			if _, err := r.next(ctx); err != nil {
				return fmt.Errorf("%s does not answer: %w", name, err)
			}
		}
	}
	return do(w, s)
}

// end kills the subject.
func (s *subject) end() error {
	if err := s.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	err := s.cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signal() == syscall.SIGKILL {
			return nil
		}
	}
	return fmt.Errorf("the subject ended by itself: %w", err)
}

// explain adds the end of the subject's log to an error.
func (s *subject) explain(err error) error {
	if err == nil {
		return nil
	}
	text, readErr := os.ReadFile(s.log)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return errors.Join(err, readErr, errors.New(strings.Join(lines[max(0, len(lines)-10):], "\n")))
}

// tick is the unit of CPU times in /proc on Linux.
const tick = 10 * time.Millisecond

// cpu returns the CPU time the subject has used, in user and kernel mode.
func (s *subject) cpu() (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	// The second field is a name in parentheses and may hold anything.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	return time.Duration(user+system) * tick, errors.Join(err1, err2)
}

// The resources that a subject has used since its start.
type resources struct {
	cpu                          time.Duration
	statements, commits, written float64 // bytes to the disk; of trestle alone
}

// used returns what the subject has used, by /proc and the figures at the address of its
// console.
func (s *subject) used(ctx context.Context, console string) (r resources, err error) {
	if r.cpu, err = s.cpu(); err != nil || s.name != trestle {
		return r, err
	}
	disk, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", s.cmd.Process.Pid))
	if err != nil {
		return r, err
	}
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+console+"/metrics", http.NoBody)
	if err != nil {
		return r, err
	}
	ask.Header.Set("Authorization", "Bearer "+consoleToken)
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		return r, err
	}
	defer func() { _ = answer.Body.Close() }()
	figures, err := io.ReadAll(answer.Body)
	for _, f := range []struct {
		text []byte
		name string
		to   *float64
	}{
		{disk, "write_bytes: ", &r.written},
		{figures, "trestle_database_statements_total ", &r.statements},
		{figures, "trestle_database_commits_total ", &r.commits},
	} {
		for line := range strings.Lines(string(f.text)) {
			if n, ok := strings.CutPrefix(line, f.name); ok {
				var bad error
				*f.to, bad = strconv.ParseFloat(strings.TrimSpace(n), 64)
				err = errors.Join(err, bad)
			}
		}
	}
	return r, err
}

// resident returns the memory of the subject that is in RAM, in megabytes.
func (s *subject) resident() (float64, error) { return s.memory("VmRSS:") }

// memory returns what the kernel tells of the subject's memory in a line that begins so,
// in megabytes.
func (s *subject) memory(line string) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for field := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(field, line); ok {
			kb, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")))
			return float64(kb) / 1024, err
		}
	}
	return 0, errors.New("the kernel does not tell " + line)
}
