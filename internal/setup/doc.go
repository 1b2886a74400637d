// Package setup plans a first configuration: it takes what the environment, or
// the configuration of another agent host, already says, and writes it down as
// trestle.yaml and trestle.env.
//
// It promises that what it writes is a configuration that loads, that no credential is
// in trestle.yaml, and that it reports every value it could not convert. It prompts no
// one, makes no calls and touches no file: its callers ask people and try credentials.
package setup
