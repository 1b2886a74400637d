// Package console is what operators look at and talk to: the pages, the JSON
// API and the live events at `listen`, and the same API on the control socket.
//
// It declares the ports through which it reads the record ([Store]), keeps what
// opens it ([Keys]) and asks the running program ([Process]). It promises that
// nobody is served who may not be (SECURITY S7, S8), that every route says who
// that is, that nothing anybody wrote runs in a browser (S18), that each answer
// has the form openapi.json tells, and that no page counts over a log. It knows
// nothing of platforms, models and SQL.
package console
