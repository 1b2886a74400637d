package console

import (
	"net/http"
	"testing"
)

// SECURITY S7: a route that does not say who may call it is found here, and
// stops the program at its start.
func TestEveryRouteSaysWhoMayCallIt(t *testing.T) {
	for _, r := range (&Console{}).routes() {
		if r.allow != anyone && r.allow != holder && r.allow != owner {
			t.Errorf("%s says nothing", r.pattern)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("an undeclared route was served")
		}
	}()
	serveAll([]route{{pattern: "GET /new"}}, func(r route) http.HandlerFunc { return r.handle })
}
