// Package archtest holds the shape of the tree as tests: who may import whom
// and why, which dependency belongs where, how a package, a file and a name must
// look. Each rule is a table that reads as documentation and a check that is
// itself tested on a small tree that breaks it.
//
// It promises that an arrow, a package or a dependency without a row fails the
// build, with the file, the line and the table to change. It reads source text
// only: it builds and runs nothing.
package archtest
