package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
)

// exitCode is what the process tells its caller.
type exitCode int

// The exit codes (ECOSYSTEM 3.1).
const (
	exitDone        exitCode = 0
	exitFailed      exitCode = 1 // failed, or findings
	exitUsage       exitCode = 2
	exitTryAgain    exitCode = 75 // somebody else holds what is needed
	exitConfig      exitCode = 78
	exitInterrupted exitCode = 130
)

// String returns the number.
func (c exitCode) String() string { return strconv.Itoa(int(c)) }

// cliError is an error for people: what went wrong, where, and what to do.
type cliError struct {
	what   string
	where  string
	remedy string
	code   exitCode
}

// Error returns what went wrong and where, in one line.
func (f *cliError) Error() string {
	if f.where == "" {
		return f.what
	}
	return f.what + ": " + f.where
}

// Refusal implements [console.Refused].
func (f *cliError) Refusal() console.ErrorAnswer {
	return console.ErrorAnswer{Error: f.what, Do: f.remedy}
}

// report writes err for people and returns the exit code it asks for.
func report(w io.Writer, err error) exitCode {
	if err == nil {
		return exitDone
	}
	if f, ok := errors.AsType[*cliError](err); ok {
		fmt.Fprintf(w, "trestle: %s\n", f.what)
		if f.where != "" {
			fmt.Fprintf(w, "  where: %s\n", f.where)
		}
		if f.remedy != "" {
			fmt.Fprintf(w, "  do:    %s\n", f.remedy)
		}
		return f.code
	}
	if errors.Is(err, context.Canceled) { // nothing but a signal ends the context of a command
		fmt.Fprintln(w, "trestle: interrupted before it was done")
		return exitInterrupted
	}
	if invalid, ok := errors.AsType[*config.InvalidError](err); ok {
		config.WriteFaults(w, invalid.Text, invalid.Faults)
		return exitConfig
	}
	fmt.Fprintf(w, "trestle: %v\n", err)
	return exitFailed
}
