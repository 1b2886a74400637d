package config

import "errors"

// A Finding is one thing that is wrong with a configuration, or should not stay
// as it is, in the form that `config check -o json` prints.
type Finding struct {
	Level  Level  `json:"level"`
	Entry  string `json:"entry,omitempty"` // its path; empty for the whole file
	Where  string `json:"where"`           // file:line:column, or the variable or flag
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	What   string `json:"what"`
	Do     string `json:"do,omitempty"`
}

// Level says what a finding means for the program.
type Level string

// The levels, the worst first.
const (
	Fatal         Level = "fatal"         // the program cannot start
	Misconfigured Level = "misconfigured" // the entry does not count; the rest runs
	Grave         Level = "fail"          // it runs, and must not stay so
	Slight        Level = "warn"          // it runs, and should not stay so
)

// Findings lists everything found when a configuration was read, the worst
// first. c may be nil; err is the error of [Load].
func Findings(c *Config, err error) []Finding {
	var all []Finding
	if invalid, ok := errors.AsType[*InvalidError](err); ok {
		for _, f := range invalid.Faults {
			all = append(all, f.finding(Fatal, ""))
		}
	}
	if c == nil {
		return all
	}
	for _, p := range c.Problems {
		all = append(all, p.Fault.finding(Misconfigured, p.Entry))
	}
	for _, w := range c.Warnings {
		if w.Grave {
			all = append(all, w.Fault.finding(Grave, w.Entry))
		}
	}
	for _, w := range c.Warnings {
		if !w.Grave {
			all = append(all, w.Fault.finding(Slight, w.Entry))
		}
	}
	return all
}

func (f Error) finding(l Level, entry string) Finding {
	return Finding{Level: l, Entry: entry, Where: f.At.String(), Line: f.At.Line, Column: f.At.Col, What: f.What, Do: f.Remedy}
}
