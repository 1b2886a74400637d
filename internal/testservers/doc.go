// Package testservers starts real servers for tests: private ones, from the
// programs that are installed, on free ports of the loopback interface.
//
// It promises that a server ends with the test process, however that ends, that
// it touches no server of the machine, and that a missing program fails the test
// and says what to install: nothing is passed over. It knows none of our types.
package testservers
