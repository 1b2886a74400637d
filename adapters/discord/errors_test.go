package discord

import (
	"net/http"
	"testing"

	"github.com/trestle-bridge/trestle/adapters"
)

// DELIVERY 2.4, PLATFORMS 3.3: what Discord's codes mean where its status says too much,
// or too little.
func TestCodesMeanMoreThanTheStatus(t *testing.T) {
	for name, c := range map[string]struct {
		status, code int
		want         adapters.FailureKind
	}{
		"too many edits of old messages": {http.StatusTooManyRequests, 30046, adapters.Invalid},
		"sending is switched off":        {http.StatusForbidden, 40004, adapters.NotSent},
		"overloaded":                     {http.StatusBadRequest, 130000, adapters.NotSent},
		"cloudflare shuts us out":        {http.StatusForbidden, 40333, adapters.NotSent},
		"slow mode":                      {http.StatusBadRequest, 20016, adapters.NotSent},
		"slow mode, as a limit":          {http.StatusTooManyRequests, 20016, adapters.Limited},
		"a forum that asks for a tag":    {http.StatusBadRequest, 40067, adapters.Invalid},
		"no right":                       {http.StatusForbidden, missingPermissions, adapters.Forbidden},
		"no message there":               {http.StatusNotFound, unknownMessage, adapters.NoTarget},
	} {
		kind := adapters.Invalid
		if c.status == http.StatusTooManyRequests {
			kind = adapters.Limited
		}
		if got := refusedAs(kind, c.status, c.code); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
