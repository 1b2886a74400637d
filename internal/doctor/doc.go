// Package doctor examines an installation, part by part, and says of each thing
// that is wrong what it is and what mends it.
//
// It promises to change nothing unless it is asked to fix, and then only what it
// names; to run every part although another fails; and to print the same words
// for the same findings, which tests hold as golden files. Codes name places in
// docs/problems.md.
//
// Platforms are examined by their adapters and the record by its store: it knows
// what they found, not how. It reads no configuration.
package doctor
