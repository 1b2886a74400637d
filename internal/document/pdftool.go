package document

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Bounds of pdftotext: memory in kilobytes and processor time in seconds, set by the
// shell's ulimit before the program begins.
const (
	toolMemory  = 512 << 10
	toolSeconds = 20
)

// toolScript runs its further arguments within a bound of memory and of processor
// time.
const toolScript = `ulimit -v "$1"; ulimit -t "$2"; shift 2; exec "$@"`

// runTextTool reads a file by poppler's pdftotext. The program gets the file on
// standard input and answers on standard output; it runs in a process group of its
// own, which is killed at the end of ctx or when the text is full.
func runTextTool(ctx context.Context, tool string, data []byte, limits ExtractLimits) (string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	//nolint:gosec // the path is the operator's
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", toolScript, "sh", strconv.Itoa(toolMemory), strconv.Itoa(toolSeconds),
		tool, "-q", "-enc", "UTF-8", "-eol", "unix", "-l", strconv.Itoa(limits.Pages), "-", "-")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8"}
	cmd.Stdin = bytes.NewReader(data)
	said := &tailWriter{}
	cmd.Stderr = said
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	text, readErr := io.ReadAll(io.LimitReader(stdout, int64(limits.Output)+1))
	full := len(text) > limits.Output
	if full {
		cancel()
	}
	err = cmd.Wait()
	switch {
	case strings.Contains(said.String(), "ncorrect password"):
		return "", ErrEncrypted
	case full:
	case err != nil:
		return "", fmt.Errorf("pdftotext: %w: %s", err, said.String())
	case readErr != nil && !errors.Is(readErr, io.EOF):
		return "", readErr
	}
	return string(text), nil
}

// writeToolPages writes pages, each of which the program ends with a form feed.
func writeToolPages(text string, out *textWriter) {
	pages := strings.Split(text, "\f")
	if n := len(pages); strings.TrimSpace(pages[n-1]) == "" {
		pages = pages[:n-1]
	}
	for i, page := range pages {
		if !out.beginPart("page " + strconv.Itoa(i+1)) {
			return
		}
		out.writeBlock(page)
	}
	if len(pages) >= out.limits.Pages {
		out.cut = true // whether there are more was not asked
	}
}

// A tailWriter keeps the last kilobyte that is written to it.
type tailWriter struct{ last []byte }

// Write implements [io.Writer].
func (w *tailWriter) Write(p []byte) (int, error) {
	w.last = append(w.last, p...)
	if n := len(w.last) - 1024; n > 0 {
		w.last = w.last[n:]
	}
	return len(p), nil
}

// String returns what was kept.
func (w *tailWriter) String() string { return strings.TrimSpace(string(w.last)) }
