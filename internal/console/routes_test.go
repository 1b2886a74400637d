package console

import (
	"net/http"
	"testing"
)

// SECURITY S7: a route that does not declare who may call it stops the program at
// its start.
func TestUndeclaredRouteIsNotServed(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("an undeclared route was served")
		}
	}()
	newMux([]Route{{Pattern: "GET /new"}}, func(r Route) http.HandlerFunc { return r.Handle })
}
