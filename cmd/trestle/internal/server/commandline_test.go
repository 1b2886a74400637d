package server_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/cli"
)

// screen collects what a command writes; it may be read meanwhile.
type screen struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// stage is a folder in which commands run, with an environment.
type stage struct {
	folder string
	env    string
}

// do runs a command line to its end with in at stdin.
func (s stage) do(t *testing.T, in string, args ...string) (out, errs string, code apperr.ExitCode) {
	t.Helper()
	var stdout, stderr screen
	code = s.program(strings.NewReader(in), &stdout, &stderr).Run(t.Context(), args)
	return stdout.String(), stderr.String(), code
}

func (s stage) program(in io.Reader, out, errs io.Writer) *cli.Environment {
	lookup, environ := environment(s.env + "\nTRESTLE_LISTEN=127.0.0.1:0")
	return &cli.Environment{In: in, Out: out, Err: errs, Folder: s.folder, Lookup: lookup, Environ: environ}
}

// serve runs `trestle run` with an open stdin until the test ends, and returns
// once it is ready.
func (s stage) serve(t *testing.T) {
	t.Helper()
	reader, writer := io.Pipe()
	ready, errs := &watch{want: "Bootstrap [ready]", seen: make(chan struct{})}, &screen{}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan apperr.ExitCode, 1)
	go func() { ended <- s.program(reader, io.Discard, io.MultiWriter(ready, errs)).Run(ctx, []string{"run"}) }()
	t.Cleanup(func() {
		_ = writer.Close()
		stop()
		if code := <-ended; code != apperr.Done {
			t.Errorf("run ended with %s:\n%s", code, errs)
		}
	})
	select {
	case <-ready.seen:
	case code := <-ended:
		t.Fatalf("run ended with %s:\n%s", code, errs)
	}
}

// watch closes seen when the text it waits for was written.
type watch struct {
	want string
	seen chan struct{}
	once sync.Once
}

func (w *watch) Write(p []byte) (int, error) {
	if strings.Contains(string(p), w.want) {
		w.once.Do(func() { close(w.seen) })
	}
	return len(p), nil
}

// environment reads "NAME=value" lines.
func environment(text string) (lookup func(string) (string, bool), environ []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			environ = append(environ, line)
		}
	}
	return func(name string) (string, bool) {
		for _, v := range environ {
			if k, value, _ := strings.Cut(v, "="); k == name {
				return value, true
			}
		}
		return "", false
	}, environ
}
