package engine

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A RowBatch is a statement for one row that is run for many at once: an insert with the
// row after "values", or an update from the row that "(select" begins. Rows are kept until
// the transaction reads their table, or runs another statement, or the writes of a group
// are done.
type RowBatch struct {
	text  QueryText
	table string
	keys  int
	rank  int
	texts [maxRowsAtOnce + 1]string // by number of rows
	row   string
	width int // parameters of a row
}

// NewRowBatch returns the batch of a statement. The first keys values of a row name what
// it changes, if it may change a row of the table: of rows with equal ones, the second is
// stored behind the first. Batches of lower ranks are stored first.
func NewRowBatch(q QueryText, rank, keys int) *RowBatch {
	b := &RowBatch{text: q, keys: keys, rank: rank, table: strings.Fields(strings.TrimPrefix(string(q), "insert "))[1]}
	b.row = string(q)[b.begin():b.end()]
	for _, p := range parameters.FindAllString(b.row, -1) {
		n, _ := strconv.Atoi(p[1:]) // digits
		b.width = max(b.width, n)
	}
	return b
}

// maxRowsAtOnce bounds the rows of one statement.
const maxRowsAtOnce = 16

var parameters = regexp.MustCompile(`\$\d+`)

const (
	insertedRow = "values ("
	updatedRow  = "(select "
)

// begin returns where the row begins in the text.
func (b *RowBatch) begin() int {
	if i := strings.Index(string(b.text), insertedRow); i >= 0 {
		return i + len(insertedRow) - 1
	}
	return strings.Index(string(b.text), updatedRow) + 1
}

// end returns where the row ends in the text.
func (b *RowBatch) end() int {
	text, open := string(b.text), 0
	for i := b.begin(); i < len(text); i++ {
		switch text[i] {
		case '(':
			open++
		case ')':
			if open--; open == 0 && text[b.begin()] == '(' {
				return i + 1
			} else if open < 0 {
				return i
			}
		}
	}
	return len(text)
}

// Statement returns the statement for up to 16 rows.
func (b *RowBatch) Statement(n int) string {
	if b.texts[n] != "" {
		return b.texts[n]
	}
	rows := make([]string, n)
	for i := range rows {
		rows[i] = parameters.ReplaceAllStringFunc(b.row, func(p string) string {
			k, _ := strconv.Atoi(p[1:]) // digits
			return "$" + strconv.Itoa(k+i*b.width)
		})
	}
	between := ", "
	if b.row[0] != '(' {
		between = " union all "
	}
	text := string(b.text)
	b.texts[n] = text[:b.begin()] + strings.Join(rows, between) + text[b.end():]
	return b.texts[n]
}

// A rowList holds the rows of a batch that are not stored yet.
type rowList struct {
	batch *RowBatch
	rows  [][]any
}

// Add stores a row of a batch before the next statement that is not one.
func (t *WriteTx) Add(ctx context.Context, b *RowBatch, values ...any) error {
	i := slices.IndexFunc(t.rows, func(l rowList) bool { return l.batch == b })
	if i >= 0 && b.keys > 0 && slices.ContainsFunc(t.rows[i].rows, func(r []any) bool { return slices.Equal(r[:b.keys], values[:b.keys]) }) {
		if err := t.storeRows(ctx); err != nil {
			return err
		}
		i = -1
	}
	if i < 0 {
		i = len(t.rows)
		t.rows = append(t.rows, rowList{batch: b})
	}
	t.rows[i].rows = append(t.rows[i].rows, values)
	return nil
}

// storeRows stores the rows that were added.
func (t *WriteTx) storeRows(ctx context.Context) error {
	if len(t.rows) == 0 {
		return nil
	}
	lists := t.rows
	t.rows = nil
	slices.SortStableFunc(lists, func(a, b rowList) int { return a.batch.rank - b.batch.rank })
	for _, l := range lists {
		for len(l.rows) > 0 {
			n := len(l.rows)
			switch { // few numbers, so that few statements are prepared
			case n >= maxRowsAtOnce:
				n = maxRowsAtOnce
			case n >= maxRowsAtOnce/2:
				n = maxRowsAtOnce / 2
			case n > maxRowsAtOnce/4:
				n = maxRowsAtOnce / 4
			}
			statements.Add(1)
			if err := t.session.Run(ctx, l.batch.Statement(n), slices.Concat(l.rows[:n]...)...); err != nil {
				return err
			}
			l.rows = l.rows[n:]
		}
	}
	return nil
}
