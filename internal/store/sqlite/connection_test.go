package sqlite

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/spaces"
)

func TestParametersAreBoundByTheirNumbers(t *testing.T) {
	for text, want := range map[string]struct {
		text   string
		places []int
	}{
		"select 1":                       {"select 1", nil},
		"select $1":                      {"select ?", []int{0}},
		"select $2, $1, $2 || $10":       {"select ?, ?, ? || ?", []int{1, 0, 1, 9}},
		"values ($1, $2 + 1), ($1, 'x')": {"values (?, ? + 1), (?, 'x')", []int{0, 1, 0}},
		"select 'a $ b', $1":             {"select 'a $ b', ?", []int{0}},
	} {
		got, places := positional(text)
		if got != want.text || !slices.Equal(places, want.places) {
			t.Errorf("%s becomes %s with %v, want %s with %v", text, got, places, want.text, want.places)
		}
	}
}

// openConnection returns a connection to an empty file.
func openConnection(t *testing.T) *connection {
	t.Helper()
	c, err := connect(source(filepath.Join(t.TempDir(), FileName), "rwc", writing))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func TestWhatIsBoundComesBackAsItWas(t *testing.T) {
	c := openConnection(t)
	type row struct {
		ID    spaces.EventID
		Role  spaces.AuthorityLevel
		Text  string
		Bytes []byte
		N     int
		Long  int64
		Rate  float64
		Yes   bool
		None  []byte
		Any   any
		Maybe *int64
		Never *int64
	}
	want := row{"e1", spaces.OfOwner, "words \x00 and more", []byte{0, 1}, -7, 1 << 40, 0.5, true, nil, "any", new(int64(7)), nil}
	for range 2 { // prepared, and again
		found, err := c.Query(t.Context(), "select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 7, null union all select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 7, null",
			string(want.ID), int(want.Role), want.Text, want.Bytes, want.N, want.Long, want.Rate, want.Yes, want.None, want.Any)
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		for found.Next() {
			var got row
			if err := found.Scan(&got.ID, &got.Role, &got.Text, &got.Bytes, &got.N, &got.Long, &got.Rate, &got.Yes, &got.None, &got.Any, &got.Maybe, &got.Never); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			rows++
		}
		if err := found.Err(); err != nil || rows != 2 {
			t.Errorf("%d rows, %v", rows, err)
		}
		for range 2 {
			if err := found.Close(); err != nil || found.Next() {
				t.Errorf("an answer goes on after it is closed (%v)", err)
			}
		}
	}
}

// A place that holds an argument from the last time is given it anew whenever it is
// another one, be it in its type alone.
func TestAPlaceHoldsWhatItWasGivenLast(t *testing.T) {
	c := openConnection(t)
	long := strings.Repeat("x", maxHeld+1)
	for _, arg := range []any{"a", "a", "b", "", nil, "", long, long + "y", "b", []byte("b"), "b", 1, int64(1), 2, int64(2), "2", 0.5, true, 1, false, 0} {
		found, err := c.Query(t.Context(), "select $1, typeof($1)", arg)
		if err != nil {
			t.Fatal(err)
		}
		var got any
		var kind string
		if found.Next(); found.Scan(&got, &kind) != nil {
			t.Fatalf("%v: %v", arg, found.Scan(&got, &kind))
		}
		want, wantKind := arg, "integer"
		switch x := arg.(type) {
		case nil:
			wantKind = "null"
		case string:
			wantKind = "text"
		case []byte:
			wantKind = "blob"
		case float64:
			wantKind = "real"
		case int:
			want = int64(x)
		case bool:
			want = map[bool]int64{true: 1}[x]
		}
		if diff := cmp.Diff(want, got); diff != "" || kind != wantKind {
			t.Errorf("%T %v is a %s in its place (-want +got):\n%s", arg, arg, kind, diff)
		}
		if err := found.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestWhatDoesNotFitIsAnError(t *testing.T) {
	c := openConnection(t)
	if _, err := c.Query(t.Context(), "select $1, $2", 1); err == nil {
		t.Error("a missing argument was taken for something")
	}
	if _, err := c.Exec(t.Context(), "select $1", struct{}{}); err == nil {
		t.Error("a value the engine has no form for was bound")
	}
	for name, dest := range map[string]any{
		"null": new(string), "'words'": new(int), "7": new(bool), "0.5": new(int64), "1": new(string), "300": new(int8), "2": new([]byte),
	} {
		found, err := c.Query(t.Context(), "select "+name)
		if err != nil {
			t.Fatal(err)
		}
		if found.Next(); found.Scan(dest) == nil {
			t.Errorf("%s was put into a %T", name, dest)
		}
		if found.Scan() == nil {
			t.Error("a column was left out")
		}
		if err := found.Close(); err != nil {
			t.Error(err)
		}
	}
}
