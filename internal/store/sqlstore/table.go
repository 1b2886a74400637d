package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A CopyTable is how a record looks to whoever moves it from one engine to another:
// names without a meaning.
type CopyTable struct {
	Name    string
	Columns []string
	Key     []string // the columns that tell its rows apart, in their order
}

// A Pager reads the rows of tables in the order of their keys.
type Pager interface {
	// Page returns the rows behind a key, at most limit of them, with a value for
	// each of the table's columns: int64, float64, string, []byte or nil. A nil key
	// is before the first.
	Page(ctx context.Context, t CopyTable, after []any, limit int) ([][]any, error)
}

// PageStatement returns the statement of a page up to its limit, which follows.
// Its parameters are the key behind which the page begins, if there is one.
func (t CopyTable) PageStatement(behind bool) string {
	key := quoted(t.Key)
	var text strings.Builder
	fmt.Fprintf(&text, "select %s from %q", quoted(t.Columns), t.Name)
	if behind {
		marks := make([]string, len(t.Key))
		for i := range marks {
			marks[i] = fmt.Sprintf("$%d", i+1)
		}
		fmt.Fprintf(&text, " where (%s) > (%s)", key, strings.Join(marks, ", "))
	}
	fmt.Fprintf(&text, " order by %s limit ", key)
	return text.String()
}

// KeyOf returns the key of a row that has a value for each column.
func (t CopyTable) KeyOf(row []any) []any {
	key := make([]any, len(t.Key))
	for i, column := range t.Key {
		key[i] = row[slices.Index(t.Columns, column)]
	}
	return key
}

func quoted(names []string) string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = strconv.Quote(name)
	}
	return strings.Join(out, ", ")
}
