// Package config holds everything an operator decides: it finds the file,
// expands references, lays the environment over it, checks every key and says
// where each value was written.
//
// It promises that a configuration it returns is whole and typed, that each
// fault names its place and what to do, that one bad entry leaves the others
// running, and that no credential is in anything it writes. It opens no
// connection, keeps no state and knows nothing of the parts it configures.
package config
