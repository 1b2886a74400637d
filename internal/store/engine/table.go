package engine

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A CopyTable describes a table that is copied from one engine to another.
type CopyTable struct {
	Name    string
	Columns []string
	Key     []string // columns of the primary key, in order
}

// A TablePager reads the rows of tables in the order of their keys.
type TablePager interface {
	// Page returns up to limit rows after a key, each with a value for each of the
	// table's columns: int64, float64, string, []byte or nil. A nil key is before the
	// first row.
	Page(ctx context.Context, t CopyTable, after []any, limit int) ([][]any, error)
}

// PageStatement returns the query of a page up to the value of its limit, which the
// caller appends. Its parameters are the key after which the page begins, if behind is
// set.
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
