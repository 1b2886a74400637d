// Package apperr has errors that tell people what to do, and the exit codes of the
// program.
package apperr

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
)

// ExitCode is what the process tells its caller.
type ExitCode int

// The exit codes, as scripts and service managers read them.
const (
	Done        ExitCode = 0
	Failed      ExitCode = 1 // failed, or findings
	Usage       ExitCode = 2
	TryAgain    ExitCode = 75 // another process holds what is needed
	BadConfig   ExitCode = 78
	Interrupted ExitCode = 130
)

// String returns the number.
func (c ExitCode) String() string { return strconv.Itoa(int(c)) }

// Error is an error for people: what went wrong, where, and what to do.
type Error struct {
	What   string
	Where  string
	Remedy string
	Code   ExitCode
}

// Error returns what went wrong and where, in one line.
func (f *Error) Error() string {
	if f.Where == "" {
		return f.What
	}
	return f.What + ": " + f.Where
}

// Refusal implements [console.UserError].
func (f *Error) Refusal() console.ErrorAnswer {
	return console.ErrorAnswer{Error: f.What, Do: f.Remedy}
}

// Report writes err for people and returns the exit code it asks for.
func Report(w io.Writer, err error) ExitCode {
	if err == nil {
		return Done
	}
	if f, ok := errors.AsType[*Error](err); ok {
		fmt.Fprintf(w, "trestle: %s\n", f.What)
		if f.Where != "" {
			fmt.Fprintf(w, "  where: %s\n", f.Where)
		}
		if f.Remedy != "" {
			fmt.Fprintf(w, "  do:    %s\n", f.Remedy)
		}
		return f.Code
	}
	if errors.Is(err, context.Canceled) { // nothing but a signal ends the context of a command
		fmt.Fprintln(w, "trestle: interrupted before it was done")
		return Interrupted
	}
	if invalid, ok := errors.AsType[*config.InvalidError](err); ok {
		config.WriteFaults(w, invalid.Text, invalid.Errors)
		return BadConfig
	}
	fmt.Fprintf(w, "trestle: %v\n", err)
	return Failed
}
