package config

import "errors"

// A ConfigFinding is one thing that is wrong with a configuration, or should not stay
// as it is, in the form that `config check -o json` prints.
type ConfigFinding struct {
	Level  FindingLevel `json:"level"`
	Entry  string       `json:"entry,omitempty"` // its path; empty for the whole file
	Where  string       `json:"where"`           // file:line:column, or the variable or flag
	Line   int          `json:"line,omitempty"`
	Column int          `json:"column,omitempty"`
	What   string       `json:"what"`
	Do     string       `json:"do,omitempty"`
}

// FindingLevel says what a finding means for the program.
type FindingLevel string

// The levels, the worst first.
const (
	LevelFatal         FindingLevel = "fatal"         // the program cannot start
	LevelMisconfigured FindingLevel = "misconfigured" // the entry does not count; the rest runs
	LevelFail          FindingLevel = "fail"          // it runs, and must not stay so
	LevelWarn          FindingLevel = "warn"          // it runs, and should not stay so
)

// ListFindings lists everything found when a configuration was read, the worst
// first. c may be nil; err is the error of [Load].
func ListFindings(c *Config, err error) []ConfigFinding {
	var all []ConfigFinding
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

func (f Error) finding(l FindingLevel, entry string) ConfigFinding {
	return ConfigFinding{Level: l, Entry: entry, Where: f.At.String(), Line: f.At.Line, Column: f.At.Col, What: f.What, Do: f.Remedy}
}
