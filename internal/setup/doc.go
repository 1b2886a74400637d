// Package setup plans a first configuration: it takes what the environment, or
// the configuration of another agent host, already says, and writes it down as
// trestle.yaml and trestle.env.
//
// It promises that what it writes is a configuration that loads, that no
// credential is in trestle.yaml, and that what it could not take over is said. It
// asks nobody, calls nobody and touches no file: whoever asks people and tries
// credentials does so around it.
package setup
