package postgres

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// DELIVERY K25: a move goes on behind the very row that it had reached, however large
// the numbers in its key are.
func TestMoveRemembersWholeNumbers(t *testing.T) {
	key := []any{"telegram:42", int64(1)<<53 + 1, int64(math.MaxInt64), int64(-7)}
	text, err := json.Marshal(key)
	if err != nil {
		t.Fatal(err)
	}
	got, err := storedKey(string(text))
	if diff := cmp.Diff(key, got); err != nil || diff != "" {
		t.Errorf("%v, (-stored +read):\n%s", err, diff)
	}
}
