package postgres_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/trestle-bridge/trestle/internal/store/recordtest"
)

// One text serves both engines: what the other accepts is prepared here.
func TestEveryStatementPreparesOnAFreshSchema(t *testing.T) {
	database := server.Database(t)
	open(t, options(t, database))
	c, err := pgx.Connect(t.Context(), server.URL(database))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.WithoutCancel(t.Context())) })
	found := recordtest.Statements(t, "../record")
	if len(found) < 100 {
		t.Fatalf("found %d statements, want all of them", len(found))
	}
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
