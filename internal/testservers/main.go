package testservers

import (
	"fmt"
	"os"
	"testing"
)

// Main runs the tests of a package that share p, and returns what the process
// ends with. The server starts with the first test that makes a database on it.
func (p *PostgresServer) Main(m *testing.M) int { return ended(m.Run(), p.Stop) }

// Main runs the tests of a package that share r, and returns what the process
// ends with. The server starts with the first test that asks for its address.
func (r *RedisServer) Main(m *testing.M) int { return ended(m.Run(), r.Stop) }

func ended(code int, stop func() error) int {
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}
