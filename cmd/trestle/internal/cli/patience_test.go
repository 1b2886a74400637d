package cli

import (
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/testservers"
)

// ECOSYSTEM 7: the service manager is told how far an older record is.
func TestManagerIsToldOfAMigration(t *testing.T) {
	socket, heard := testservers.ServiceManager(t)
	_, url := onTelegram(t, "7001:yesterday")
	s := yesterday(t, url)
	s.env += "\nNOTIFY_SOCKET=" + socket
	t.Run("up", func(t *testing.T) { s.serve(t) })
	first := strings.Join(heard(), "\n")
	if !strings.HasPrefix(first, "EXTEND_TIMEOUT_USEC=60000000\nSTATUS=the record comes up to date, schema 1 to ") {
		t.Errorf("heard:\n%s", first)
	}
}
