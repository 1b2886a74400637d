package postgres_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/trestle-bridge/trestle/internal/store/storetest"
)

// Issue 7: one text serves both engines, and what the other accepts is prepared here,
// with what this engine asks for itself. A move makes a table of its own first.
func TestEveryStatementPreparesOnAFreshSchema(t *testing.T) {
	database := server.Database(t)
	open(t, options(t, database))
	c, err := pgx.Connect(t.Context(), server.URL(database))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.WithoutCancel(t.Context())) })
	found := storetest.Statements(t)
	if len(found) < 100 {
		t.Fatalf("found %d statements, want all of them", len(found))
	}
	own := storetest.EngineStatements(t, ".")
	if len(own) < 20 {
		t.Fatalf("found %d statements of the engine's own, want all of them", len(own))
	}
	maps.DeleteFunc(own, func(_, text string) bool { return strings.Contains(text, " moving") || strings.Contains(text, "%[1]s") })
	maps.Copy(found, own)
	for name, text := range found {
		st, err := c.Prepare(t.Context(), name, text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i, oid := range st.ParamOIDs {
			limit := fmt.Sprintf("limit $%d + 0", i+1)
			if oid == pgtype.Int4OID && !strings.Contains(text, limit) {
				t.Errorf("%s: parameter %d is taken for a number of 32 bits", name, i+1)
			}
		}
	}
}
