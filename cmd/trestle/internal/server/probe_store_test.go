package server

import (
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/redact"
)

// ECOSYSTEM 8, SECURITY S16: a credential on its way into the log is a problem for a
// while, also when it came over a logger with attributes.
func TestACredentialInTheLogIsAProblem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		known := new(redact.SecretRegistry)
		known.AddSecrets("a-very-secret-token")
		lg := slog.New(known.Handler(slog.NewTextHandler(t.Output(), nil)))
		look := NewServer(&config.Config{}, lg, io.Discard, false).probeLog()
		seen := func() int {
			t.Helper()
			found, err := look.See(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return len(found)
		}
		lg.Info("all is well", "adapter", "telegram")
		if seen() != 0 {
			t.Error("a harmless line is a problem")
		}
		lg.With("adapter", "telegram").Warn("refused", "url", "https://example.org/a-very-secret-token/getMe")
		if seen() != 1 {
			t.Error("a credential in the log is no problem")
		}
		pass(11 * time.Minute)
		if seen() != 0 {
			t.Error("it is a problem for ever")
		}
	})
}
