package engine

import (
	"testing"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

func TestARowIsRepeatedInItsStatement(t *testing.T) {
	insert := NewRowBatch("insert into t (a, b, c) values ($1, (select max(n) + $2 from u), 'x') on conflict (a) do update set b = excluded.b", 0, 1)
	testutil.Same(t, "one row inserted", string(insert.text), insert.Statement(1))
	testutil.Same(t, "two rows inserted",
		"insert into t (a, b, c) values ($1, (select max(n) + $2 from u), 'x'), ($3, (select max(n) + $4 from u), 'x') on conflict (a) do update set b = excluded.b",
		insert.Statement(2))
	update := NewRowBatch("update t set b = r.b from (select cast($1 as text) as a, $2 as b) r where t.a = r.a", 0, 1)
	testutil.Same(t, "one row updated", string(update.text), update.Statement(1))
	testutil.Same(t, "two rows updated",
		"update t set b = r.b from (select cast($1 as text) as a, $2 as b union all select cast($3 as text) as a, $4 as b) r where t.a = r.a",
		update.Statement(2))
}
