package server

import (
	"os"
	"testing"
	"time"
)

// TestMain has times told by one clock, whatever that of the machine.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}
