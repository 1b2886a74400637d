package servertest

import (
	"fmt"
	"os"
	"testing"
)

// Main runs the tests of a package that share p, and returns what the process
// ends with. The server starts with the first test that makes a database on it.
func (p *Postgres) Main(m *testing.M) int {
	code := m.Run()
	if err := p.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}
