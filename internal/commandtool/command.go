// Package commandtool runs a program of the operator once as a tool.
//
// The program gets the arguments as one JSON object on its standard input, and answers
// on its standard output: with text, or with a JSON object {"text": "…", "files": ["…"]}
// whose files are paths below its working folder. An exit code other than 0 is a
// failure; the last lines of standard error are its reason, for the operator. How it is
// limited and isolated is described in toolproc.
package commandtool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/internal/toolproc"
)

// Bounds of an answer.
const (
	maxArguments = 1 << 20  // bytes
	maxText      = 5 << 20  // bytes of standard output
	maxFiles     = 10       // of one answer
	maxFileBytes = 20 << 20 // of all files together
	reasonLines  = 10       // of standard error
)

// CommandSettings describe a command tool.
type CommandSettings struct {
	Program toolproc.ToolProgram
	// Timeout bounds one run. Default: 30 s.
	Timeout time.Duration
	// StopGrace is how long a program that is stopped may take after SIGTERM. Default: 1 s.
	StopGrace time.Duration
}

// A CommandResult is what a program answered. All of it is data from outside.
type CommandResult struct {
	Text  string // valid UTF-8
	Files []CommandFile
	// Cut reports that a part of the answer was over a bound and was left out.
	Cut bool
	// Problem says to the operator which files of the answer could not be read; empty if
	// all could.
	Problem string
	Took    time.Duration
}

// A CommandFile is a file that the program made.
type CommandFile struct {
	Name  string // without folders
	Media string // media type by the name's ending; empty when it is unknown
	Data  []byte
}

// A FailureReason tells why a run has no result.
type FailureReason string

// The reasons of failures.
const (
	NotStarted FailureReason = "not_started" // the program cannot be started
	Exited     FailureReason = "exited"      // it ended with a failure
	TimedOut   FailureReason = "timed_out"
	Cancelled  FailureReason = "cancelled" // the caller's context ended
)

// A CommandError is a run without a result. With any reason but NotStarted the program
// may have done what was asked.
type CommandError struct {
	Reason FailureReason
	// Detail is the end of the program's standard error, at most ten lines, unredacted,
	// for the operator.
	Detail string
	Err    error
}

// Error describes the failure to the operator, with its detail.
func (e *CommandError) Error() string {
	text := "command tool " + string(e.Reason) + ": " + e.Err.Error()
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

// Unwrap returns the cause.
func (e *CommandError) Unwrap() error { return e.Err }

// Sentence returns the failure in one plain sentence for a model, without words of the
// program.
func (e *CommandError) Sentence() string {
	switch e.Reason {
	case NotStarted:
		return "The command is not available now."
	case TimedOut:
		return "The command did not end in time and was stopped."
	case Cancelled:
		return "The command was cancelled."
	case Exited:
	}
	return "The command failed."
}

// Run runs the program once with arguments, a JSON object. When ctx ends or the time is
// over, the program and all that it started are ended before Run returns. An error is a
// [*CommandError].
func Run(ctx context.Context, s CommandSettings, arguments json.RawMessage) (CommandResult, error) {
	began := time.Now()
	input, err := inputOf(arguments)
	if err != nil {
		return CommandResult{}, &CommandError{Reason: NotStarted, Err: err}
	}
	if s.Timeout <= 0 {
		s.Timeout = 30 * time.Second
	}
	if s.StopGrace <= 0 {
		s.StopGrace = time.Second
	}
	process, err := toolproc.Start(s.Program)
	if err != nil {
		return CommandResult{}, &CommandError{Reason: NotStarted, Err: err}
	}
	runCtx, cancel := context.WithTimeoutCause(ctx, s.Timeout, fmt.Errorf("the program took more than %s", s.Timeout))
	defer cancel()
	text, over, runErr := exchange(runCtx, process, input, s.StopGrace)
	if runErr != nil {
		return CommandResult{}, failureOf(ctx, runCtx, process, runErr)
	}
	result := answerOf(text, over, process.WorkFolder())
	result.Took = time.Since(began)
	return result, nil
}

// inputOf returns what the program reads: one line with the arguments.
func inputOf(arguments json.RawMessage) ([]byte, error) {
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	var members map[string]json.RawMessage
	var line bytes.Buffer
	switch {
	case len(arguments) > maxArguments:
		return nil, fmt.Errorf("the arguments have %d bytes, at most %d are passed on", len(arguments), maxArguments)
	case json.Unmarshal(arguments, &members) != nil || members == nil || json.Compact(&line, arguments) != nil:
		return nil, errors.New("the arguments are no JSON object")
	}
	line.WriteByte('\n')
	return line.Bytes(), nil
}

// exchange writes the input, reads the output to its end or bound, and waits for the
// program, which has ended when it returns. over reports that there was more output.
func exchange(ctx context.Context, process *toolproc.ToolProcess, input []byte, grace time.Duration) (text []byte, over bool, err error) {
	defer context.AfterFunc(ctx, func() { _ = process.Terminate(grace) })() // Kill below reports it
	var writing sync.WaitGroup
	writing.Go(func() {
		_, _ = process.Input().Write(input) // a program need not read its input
		_ = process.Input().Close()
	})
	text, _ = io.ReadAll(io.LimitReader(process.Output(), maxText+1)) // ends when the program does
	if len(text) > maxText {
		text, over = text[:maxText], true
		err = process.Kill()
	} else {
		err = process.Wait(ctx)
	}
	stopErr := process.Kill()
	writing.Wait()
	switch {
	case ctx.Err() != nil:
		return nil, false, context.Cause(ctx)
	case stopErr != nil:
		return nil, false, stopErr
	}
	return text, over, err
}

// failureOf describes the end of a run without a result.
func failureOf(ctx, runCtx context.Context, process *toolproc.ToolProcess, err error) *CommandError {
	f := &CommandError{Reason: Exited, Err: err, Detail: process.LastLines(reasonLines)}
	switch {
	case ctx.Err() != nil:
		f.Reason = Cancelled
	case runCtx.Err() != nil:
		f.Reason = TimedOut
	}
	return f
}

// An answerForm is the JSON form of an answer.
type answerForm struct {
	Text  string   `json:"text"`
	Files []string `json:"files"`
}

// answerOf reads an answer: one JSON object with text or files and nothing else, or text.
func answerOf(output []byte, over bool, folder string) CommandResult {
	result := CommandResult{Cut: over, Text: textOf(output)}
	if over {
		return result
	}
	var form answerForm
	d := json.NewDecoder(bytes.NewReader(output))
	d.DisallowUnknownFields()
	var members map[string]json.RawMessage
	if json.Unmarshal(output, &members) != nil || len(members) == 0 || d.Decode(&form) != nil {
		return result
	}
	result.Text = textOf([]byte(form.Text))
	result.readFiles(folder, form.Files)
	return result
}

func textOf(output []byte) string {
	text := strings.ToValidUTF8(string(output), "\uFFFD")
	return strings.TrimSpace(strings.ReplaceAll(text, "\x00", ""))
}

// readFiles reads files below the working folder; none outside it, whatever links say.
func (r *CommandResult) readFiles(folder string, paths []string) {
	if len(paths) == 0 {
		return
	}
	var problems []string
	if len(paths) > maxFiles {
		paths, r.Cut = paths[:maxFiles], true
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		r.Problem = err.Error()
		return
	}
	defer func() { _ = root.Close() }()
	left := int64(maxFileBytes)
	for _, path := range paths {
		if filepath.IsAbs(path) {
			if below, err := filepath.Rel(folder, path); err == nil {
				path = below
			}
		}
		data, err := readFile(root, path, left)
		switch {
		case errors.Is(err, errTooLarge):
			r.Cut = true
		case err != nil:
			problems = append(problems, err.Error())
		default:
			left -= int64(len(data))
			name := filepath.Base(path)
			r.Files = append(r.Files, CommandFile{Name: name, Media: mime.TypeByExtension(filepath.Ext(name)), Data: data})
		}
	}
	r.Problem = strings.Join(problems, "; ")
}

var errTooLarge = errors.New("the file is too large")

// readFile reads a file of at most limit bytes.
func readFile(root *os.Root, path string, limit int64) ([]byte, error) {
	info, err := root.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the answer names %s: %w", path, err)
	case !info.Mode().IsRegular(): // opening a pipe would wait for its writer
		return nil, fmt.Errorf("the answer names %s, which is no file", path)
	case info.Size() > limit:
		return nil, errTooLarge
	}
	f, err := root.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		return nil, errTooLarge
	}
	return data, err
}
