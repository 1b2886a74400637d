// Package console is what operators look at: spaces, runs, frames, and why
// something was said or not said.
//
// It declares the port through which it reads the record ([Record]) and the rows
// that port gives. It promises to change nothing. It knows nothing of platforms,
// models and SQL.
package console
