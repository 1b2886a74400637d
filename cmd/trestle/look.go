package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
)

// look opens the record for reading, beside a running process or without one,
// and hands it to see.
func (p *CLI) look(ctx context.Context, see func(c *config.Config, r sqlstore.ReadModel) error) (err error) {
	conf, err := p.load()
	if err != nil {
		return err
	}
	if err := shutOut(conf); err != nil {
		return err
	}
	if noRecord(conf) {
		return noRecordYet(conf)
	}
	store, err := lookAtRecord(ctx, conf)
	switch {
	case errors.Is(err, engine.ErrOlder):
		return &cliError{what: err.Error(), where: placeOf(conf), remedy: comeUpFirst(conf), code: exitFailed}
	case errors.Is(err, engine.ErrNewer):
		return &cliError{what: err.Error(), where: placeOf(conf), remedy: useNewer, code: exitFailed}
	}
	if err != nil {
		return unseen(err, conf)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return see(conf, store)
}

// comeUpFirst says how a record of an older schema becomes one that can be read.
func comeUpFirst(c *config.Config) string {
	if c.Database != "" {
		return "start trestle run once, with no older process beside it: it brings the record up to date. No copy of a database is made by itself: make one with pg_dump first"
	}
	return "start trestle run once: it brings the record up to date and sets a copy of it aside"
}

// oneLine shows what would break a cell: none makes rows or columns of its own (SECURITY S18).
var oneLine = strings.NewReplacer("\n", `\n`, "\t", `\t`)

// table writes rows in aligned columns.
func table(w io.Writer, rows [][]string) {
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	for _, r := range rows {
		cells := make([]string, len(r))
		for i, cell := range r {
			cells[i] = oneLine.Replace(cell)
		}
		fmt.Fprintln(t, plain(strings.TrimRight(strings.Join(cells, "\t"), "\t")))
	}
	_ = t.Flush() // w is the text of an answer
}

// when writes a moment as ISO time; a dash for none.
func when(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02T15:04:05Z")
}

// dash stands for an empty cell.
func dash(text string) string { return cmp.Or(text, "-") }

// sinceFlag reads how far back a list goes; nothing is for ever.
func sinceFlag(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	d, err := config.ParseSpan(text)
	if err != nil || d < 0 {
		return time.Time{}, &cliError{what: fmt.Sprintf("%q is no length of time", text), where: "--since", remedy: "write 90s, 5m, 2h or 7d", code: exitUsage}
	}
	return time.Now().Add(-d), nil
}
