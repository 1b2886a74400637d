package postgres_test

import (
	"flag"
	"os"
	"testing"

	"github.com/trestle-bridge/trestle/internal/testservers"
)

// server is what all tests of the package share.
var server testservers.PostgresServer

// Every check of a property empties a database, so there are fewer of them than
// usual, unless the command line says how many.
func TestMain(m *testing.M) {
	checks := flag.Lookup("rapid.checks")
	if err := checks.Value.Set("8"); err != nil {
		panic(err)
	}
	os.Exit(server.Main(m))
}
