package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
)

// statusAnswer is the answer of `trestle status`.
type statusAnswer struct {
	Version string        `json:"version"`
	Data    string        `json:"data"`
	Running bool          `json:"running"`
	Health  *health       `json:"health"` // null when nothing runs
	Tally   console.Tally `json:"tally"`
	Minds   []mindRow     `json:"minds"`
	Entries []extension   `json:"misconfigured"`
}

func statusCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "say how everything stands", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return p.status(c.Context()) },
	}
}

func (p *program) status(ctx context.Context) error {
	return p.look(ctx, func(conf *config.Config, r console.Record) error {
		a := statusAnswer{Version: ownVersion().Version, Data: conf.Data, Entries: problemExtensions(conf.Problems)}
		if c, running := dial(ctx, filepath.Join(conf.Data, socketName)); running {
			a.Running = true
			err := c.get(ctx, "/health", func(body io.Reader) error { return json.NewDecoder(body).Decode(&a.Health) })
			if err != nil {
				return err
			}
		}
		var err error
		if a.Tally, err = r.Tally(ctx, time.Now()); err != nil {
			return err
		}
		minds, err := r.Minds(ctx, time.Now())
		if err != nil {
			return err
		}
		a.Minds = mindRows(minds)
		return p.answer(a, a.print)
	})
}

// mindRow is one mind as a list shows it.
type mindRow struct {
	Mind   string  `json:"mind"`
	Cycles int64   `json:"cycles"`
	Tokens int     `json:"tokens_today"`
	Last   *runRow `json:"last"` // null before the first
}

func mindRows(minds []console.Mind) []mindRow {
	rows := make([]mindRow, 0, len(minds))
	for _, m := range minds {
		r := mindRow{Mind: m.Mind.String(), Cycles: m.Cycles, Tokens: m.Tokens}
		if m.Last != nil {
			r.Last = new(console.RowOf(*m.Last))
		}
		rows = append(rows, r)
	}
	return rows
}

func (a statusAnswer) print(w io.Writer) {
	state := "not running"
	if a.Running {
		state = a.Health.Status + " since " + when(a.Health.StartedAt)
	}
	fmt.Fprintf(w, "trestle %s   %s   data %s %s\n", a.Version, state, a.Data, byteSize(a.Tally.Bytes))
	if a.Running {
		rows := [][]string{{"PART", "STATE", "SINCE", "HEARD", "REASON"}}
		for _, x := range a.Health.Extensions {
			rows = append(rows, []string{x.Name, x.State, moment(x.Since), moment(x.Heard), plain(x.Reason)})
		}
		fmt.Fprintf(w, "\n")
		table(w, rows)
	} else {
		for _, x := range a.Entries {
			fmt.Fprintf(w, "%s is misconfigured: %s\n", x.Name, x.Reason)
		}
	}
	if len(a.Minds) > 0 {
		rows := [][]string{{"MIND", "CYCLES", "LAST CYCLE", "STOP", "TOKENS TODAY"}}
		for _, m := range a.Minds {
			last := runRow{}
			if m.Last != nil {
				last = *m.Last
			}
			rows = append(rows, []string{m.Mind, strconv.FormatInt(m.Cycles, 10), when(last.Started), dash(string(last.Stop)), strconv.Itoa(m.Tokens)})
		}
		fmt.Fprintf(w, "\n")
		table(w, rows)
	}
	t := a.Tally
	fmt.Fprintf(w, "\ninbox %d   open cycles %d   outbox %d   unknown %d   failed today %d   timers %d   tokens today %d\n",
		t.Inbox, t.Open, t.Outbox, t.Unknown, t.Failed, t.Timers, t.Tokens)
}

func moment(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return when(*t)
}
