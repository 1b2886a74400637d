package postgres_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/trestle-bridge/trestle/internal/servertest"
)

// server is what all tests of the package share.
var server *servertest.Postgres

// Every check of a property empties a database, so there are fewer of them than
// usual, unless the command line says how many.
func TestMain(m *testing.M) {
	checks := flag.Lookup("rapid.checks")
	if err := checks.Value.Set("8"); err != nil {
		panic(err)
	}
	var err error
	if server, err = servertest.StartPostgres(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := server.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
