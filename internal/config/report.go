package config

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/internal/textformat"
)

// A CheckFinding is one error or warning in the form that `config check -o json`
// prints.
type CheckFinding struct {
	Level  FindingLevel `json:"level"`
	Entry  string       `json:"entry,omitempty"` // its path; empty for the whole file
	Where  string       `json:"where"`           // file:line:column, or the variable or flag
	Line   int          `json:"line,omitempty"`
	Column int          `json:"column,omitempty"`
	What   string       `json:"what"`
	Do     string       `json:"do,omitempty"`
}

// FindingLevel is the severity of a finding.
type FindingLevel string

// Finding levels, the worst first.
const (
	LevelFatal         FindingLevel = "fatal"         // the program cannot start
	LevelMisconfigured FindingLevel = "misconfigured" // the entry does not count; the rest runs
	LevelFail          FindingLevel = "fail"          // it runs, and must not stay so
	LevelWarn          FindingLevel = "warn"          // it runs, and should not stay so
)

// ListFindings returns everything found while a configuration was read, the worst
// first. c may be nil; err is the error of [Load].
func ListFindings(c *Config, err error) []CheckFinding {
	var all []CheckFinding
	if invalid, ok := errors.AsType[*InvalidError](err); ok {
		for _, f := range invalid.Errors {
			all = append(all, f.finding(LevelFatal, ""))
		}
	}
	if c == nil {
		return all
	}
	for _, p := range c.Problems {
		all = append(all, p.Err.finding(LevelMisconfigured, p.Entry))
	}
	for _, w := range c.Warnings {
		if w.Serious {
			all = append(all, w.Err.finding(LevelFail, w.Entry))
		}
	}
	for _, w := range c.Warnings {
		if !w.Serious {
			all = append(all, w.Err.finding(LevelWarn, w.Entry))
		}
	}
	return all
}

func (f Error) finding(l FindingLevel, entry string) CheckFinding {
	return CheckFinding{Level: l, Entry: entry, Where: f.At.String(), Line: f.At.Line, Column: f.At.Col, What: f.What, Do: f.Remedy}
}

// WriteFaults writes errors, each with its line of text.
func WriteFaults(w io.Writer, text string, faults []Error) {
	for _, f := range faults {
		fmt.Fprintf(w, "%s", f.Render(text))
	}
}

// WriteProblems writes the misconfigured entries, each error with its line of the
// file.
func (c *Config) WriteProblems(w io.Writer) {
	said := ""
	for _, p := range c.Problems {
		if becomes := p.describe(); becomes != said {
			fmt.Fprintln(w, becomes)
			said = becomes
		}
		fmt.Fprint(w, p.Err.Render(c.doc.text))
	}
}

// describe returns a sentence with the consequence for the entry.
func (p EntryProblem) describe() string {
	section, _, inside := strings.Cut(p.Entry, ".")
	switch {
	case inside && slices.Contains([]string{"adapters", "agents", "servers", "spaces"}, section):
		return p.Entry + " is misconfigured and will not run"
	case p.Err.key != "" && p.Err.key == p.Entry:
		return p.Entry + " is no key; it is passed over"
	case p.Entry == "admit":
		return "admit is misconfigured; only members of named chats are let in"
	case p.Entry == "model":
		return "model is misconfigured; the built-in offline model answers"
	}
	return p.Entry + " is misconfigured; what is wrong in it is passed over"
}

// WriteWarnings writes the warnings, each with its line of the file.
func (c *Config) WriteWarnings(w io.Writer) {
	for _, warning := range c.Warnings {
		fmt.Fprintf(w, "warning: %s", warning.Err.Render(c.doc.text))
	}
}

// IsSound reports whether there is no problem and no serious warning.
func (c *Config) IsSound() bool {
	return len(c.Problems) == 0 && !slices.ContainsFunc(c.Warnings, func(w EntryWarning) bool { return w.Serious })
}

// SourceName returns the path of the file, or "the environment".
func (c *Config) SourceName() string { return cmp.Or(c.Path, "the environment") }

// FullPath returns the path of the file from the root; empty without a file.
func (c *Config) FullPath() string {
	if c.Path == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(c.PromptFolder), filepath.Base(c.Path))
}

// Summary returns the number of adapters, agents and spaces in words.
func (c *Config) Summary() string {
	return textformat.CountNoun(len(c.Adapters), "adapter") + ", " + textformat.CountNoun(len(c.Agents), "agent") + ", " + textformat.CountNoun(len(c.Spaces), "space")
}
