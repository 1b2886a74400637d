package cli

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/server"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/config"
)

// problemsCommand answers `trestle problems`.
type problemsCommand struct{ installation }

func newProblemsCommand(env *Environment) *cobra.Command {
	cmd := problemsCommand{installation{env}}
	var since string
	c := &cobra.Command{
		Annotations: fromAPI(), Use: "problems", Short: "list what is wrong now, the worst first", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return cmd.listProblems(c.Context(), since) },
	}
	c.Flags().StringVar(&since, "since", "", "also those that were over since then: 90s, 5m, 2h, 7d")
	span := ""
	ack := &cobra.Command{
		Use: "ack ID", Short: "take a problem on: nobody is told of it for a while", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return cmd.ackProblem(c.Context(), args[0], span) },
	}
	ack.Flags().StringVar(&span, "for", "2h", "for how long: 30m, 2h, 7d")
	c.AddCommand(ack)
	return c
}

// problemRow is one problem as a list shows it.
type problemRow struct {
	ID       alerts.AlertID       `json:"id"` // for `trestle problems ack`
	Code     alerts.ProblemCode   `json:"code"`
	Severity alerts.AlertSeverity `json:"severity"` // warn, fail
	Subject  string               `json:"subject"`
	What     string               `json:"what"`
	Evidence string               `json:"evidence,omitempty"`
	Remedy   string               `json:"remedy"`
	Opened   time.Time            `json:"opened"`
	Seen     time.Time            `json:"seen"`             // last; behind by up to a minute
	Count    int                  `json:"count"`            // how often it came, or came back before it closed
	Closed   *time.Time           `json:"closed,omitempty"` // null while it is open
	Quiet    *time.Time           `json:"quiet,omitempty"`  // not told again before this
	Told     int                  `json:"told"`             // how often it was told
}

func problemRows(all []alerts.Alert, now time.Time) []problemRow {
	rows := make([]problemRow, 0, len(all))
	for _, p := range all {
		r := problemRow{
			ID: p.ID, Code: p.Code, Severity: p.Severity, Subject: p.Subject, What: p.What(), Evidence: p.Evidence, Remedy: p.Remedy(),
			Opened: p.Opened, Seen: p.Seen, Count: p.Count, Closed: server.OptionalTime(p.Closed), Told: p.Told,
		}
		if p.Quiet(now) {
			r.Quiet = server.OptionalTime(p.Acked)
		}
		rows = append(rows, r)
	}
	return rows
}

// openProblems reads the problems of an installation: the open ones, the worst first,
// and behind them those that were over since a moment.
func openProblems(ctx context.Context, o readContext, since time.Time) ([]alerts.Alert, error) {
	all, err := o.troubles(ctx, since)
	if err != nil {
		return nil, err
	}
	rows := alerts.Worst(all)
	for _, p := range all {
		if !p.Closed.IsZero() {
			rows = append(rows, p)
		}
	}
	return rows, nil
}

func (cmd problemsCommand) listProblems(ctx context.Context, since string) error {
	rows, err := consult[[]problemRow](ctx, cmd.installation, "problems", url.Values{"since": {since}})
	if err != nil {
		return err
	}
	return answerRows(cmd.Environment, rows, func(w io.Writer) { printProblems(w, rows, cmd.clock()) })
}

// tellProblems lists what is wrong.
func tellProblems(ctx context.Context, o readContext, q url.Values) (any, error) {
	now := time.Now()
	from := now
	if q.Get("since") != "" {
		var err error
		if from, err = sinceFlag(q.Get("since")); err != nil {
			return nil, err
		}
	}
	all, err := openProblems(ctx, o, from)
	return problemRows(all, now), err
}

func printProblems(w io.Writer, rows []problemRow, at timeFormat) {
	if len(rows) == 0 {
		fmt.Fprintln(w, "no problem")
		return
	}
	lines := [][]string{{"ID", "CODE", "SEVERITY", "SINCE", "WHAT"}}
	for _, r := range rows {
		what := r.What
		if r.Evidence != "" {
			what += ": " + r.Evidence
		}
		lines = append(lines, []string{strconv.FormatInt(int64(r.ID), 10), string(r.Code), string(r.Severity), at.ago(r.Opened), what})
		switch {
		case r.Closed != nil:
			lines = append(lines, []string{"", "", "", "", "over since " + at.ago(*r.Closed)})
		case r.Quiet != nil:
			lines = append(lines, []string{"", "", "", "", "→ " + r.Remedy + "   (quiet until " + textout.FormatTime(*r.Quiet) + ")"})
		default:
			lines = append(lines, []string{"", "", "", "", "→ " + r.Remedy})
		}
	}
	textout.WriteTable(w, lines)
}

// ackProblem has the running process take a problem on. Without one no one is
// told anything anyway.
func (cmd problemsCommand) ackProblem(ctx context.Context, id, span string) error {
	n, err := numbered(id, "a problem", "problems ack", "trestle problems")
	if err != nil {
		return err
	}
	length, err := config.ParseDuration(span)
	if err != nil || length <= 0 {
		return &apperr.Error{What: fmt.Sprintf("%q is no length of time", span), Where: "--for", Remedy: "write 30m, 2h or 7d", Code: apperr.Usage}
	}
	var a server.AckResult
	if err := cmd.post(ctx, "/problems/ack", server.AckRequest{ID: alerts.AlertID(n), Seconds: int64(length.Seconds())}, &a); err != nil {
		return err
	}
	return cmd.answer(a, func(w io.Writer) {
		for _, q := range a.Quiet {
			fmt.Fprintf(w, "quiet until %s: %s\n", textout.FormatTime(a.Until), q)
		}
	})
}
