package cli

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/buildinfo"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/server"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/jobs"
	"github.com/trestle-bridge/trestle/internal/textformat"
)

type statusAnswer struct {
	Version  string              `json:"version"`
	Data     string              `json:"data"`
	Running  bool                `json:"running"`
	Health   *console.Health     `json:"health"` // null when nothing runs
	Adapters []adapterRow        `json:"adapters"`
	Minds    []mindRow           `json:"minds"`                // those first that ran last
	More     bool                `json:"more_minds,omitempty"` // than these; all with --all
	Tally    console.Totals      `json:"tally"`
	Jobs     []jobs.JobSnapshot  `json:"jobs"`     // that are not over
	Problems []problemRow        `json:"problems"` // that are open, the worst first
	Entries  []console.Component `json:"misconfigured"`

	Processes []console.Peer `json:"processes,omitempty"` // that share a database, the oldest first
}

// statusCommand answers `trestle status`.
type statusCommand struct{ installation }

func newStatusCommand(env *Environment) *cobra.Command {
	cmd := statusCommand{installation{env}}
	var check, watch, all bool
	c := &cobra.Command{
		Annotations: fromAPI(), Use: "status", Short: "say how everything stands", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case watch:
				return cmd.watchStatus(c.Context(), all)
			case check:
				return cmd.checkStatus(c.Context())
			}
			return cmd.status(c.Context(), all)
		},
	}
	c.Flags().BoolVar(&check, "check", false, "exit 1 unless it runs and nothing fails that nobody has taken on: for the health check of a container")
	c.Flags().BoolVar(&watch, "watch", false, "show it again and again, until Ctrl-C")
	c.Flags().BoolVar(&all, "all", false, "list every mind, not only the "+strconv.Itoa(mindsAtGlance)+" that ran last")
	c.MarkFlagsMutuallyExclusive("check", "watch")
	return c
}

func (cmd statusCommand) status(ctx context.Context, all bool) error {
	a, err := cmd.readStatus(ctx, all)
	if err != nil {
		return err
	}
	return cmd.answer(a, func(w io.Writer) { a.print(w, cmd.clock()) })
}

// readStatus returns the status, here or from another machine.
func (in installation) readStatus(ctx context.Context, all bool) (statusAnswer, error) {
	q := url.Values{}
	if all {
		q.Set("all", "true")
	}
	return consult[statusAnswer](ctx, in, "status", q)
}

// tellStatus answers the status from the store and from the process that serves it, if there is
// one.
func tellStatus(ctx context.Context, o readContext, q url.Values) (any, error) {
	return o.status(ctx, q.Get("all") == "true")
}

// status prints the state of everything; all lists every mind.
func (o readContext) status(ctx context.Context, all bool) (a statusAnswer, err error) {
	a = statusAnswer{Version: buildinfo.Current().Version, Data: o.conf.Data, Entries: server.ProblemComponents(o.conf.Problems)}
	if a.Health, err = o.health(ctx); err != nil {
		return a, err
	}
	a.Running = a.Health != nil
	if err := a.readMinds(ctx, o, all, time.Now()); err != nil {
		return a, err
	}
	return a, a.read(ctx, o, time.Now())
}

// read fills in what the store has.
func (a *statusAnswer) read(ctx context.Context, o readContext, now time.Time) (err error) {
	conf, r := o.conf, o.ReadModel
	if a.Tally, err = r.Tally(ctx, now); err != nil {
		return err
	}
	crew, err := r.Members(ctx)
	if err != nil {
		return err
	}
	for _, f := range server.DecodePeers(crew) {
		a.Processes = append(a.Processes, server.ConsolePeer(f))
	}
	accounts, err := r.Accounts(ctx)
	if err != nil {
		return err
	}
	a.Adapters = adapterRows(conf, a.Health, crew, accounts)
	open, err := o.troubles(ctx, now)
	if err != nil {
		return err
	}
	a.Problems = problemRows(alerts.Worst(open), now)
	found, err := r.Jobs().Jobs(ctx, 0, manyJobs)
	if err != nil {
		return err
	}
	a.Jobs = []jobs.JobSnapshot{}
	for _, j := range found {
		if j.Ended.IsZero() {
			a.Jobs = append(a.Jobs, jobs.Shown(j))
		}
	}
	return nil
}

// manyJobs is how many of the newest jobs are looked through for open ones.
const manyJobs = 100

// checkStatus prints the status and returns an error when the installation is not well.
func (cmd statusCommand) checkStatus(ctx context.Context) error {
	a, err := cmd.readStatus(ctx, false)
	if err != nil {
		return err
	}
	wrong := a.wrong()
	if err := cmd.answer(a, func(w io.Writer) { printWrong(w, wrong) }); err != nil {
		return err
	}
	if len(wrong) > 0 {
		return &reportedError{apperr.Failed}
	}
	return nil
}

// wrong returns why the installation is not well, a line for each reason.
func (a *statusAnswer) wrong() []string {
	var lines []string
	switch {
	case !a.Running:
		lines = append(lines, "nothing runs")
	case a.Health.Status == "starting":
		lines = append(lines, "the start is not over")
	case !a.Health.TrustPassed:
		lines = append(lines, "the trust gate was not passed: only the core runs")
	}
	for _, r := range a.Problems {
		if r.Severity == alerts.Fail && r.Quiet == nil {
			lines = append(lines, string(r.Code)+" "+r.What)
		}
	}
	return lines
}

func printWrong(w io.Writer, wrong []string) {
	if len(wrong) == 0 {
		fmt.Fprintln(w, "well")
	}
	for _, line := range wrong {
		fmt.Fprintln(w, line)
	}
}

// watchEvery is how often a status that is watched is read.
const watchEvery = 2 * time.Second

// watchStatus shows the status until ctx is done: in place on a terminal, else
// one below the other.
func (cmd statusCommand) watchStatus(ctx context.Context, all bool) error {
	ctx, stop := stoppable(ctx)
	defer stop()
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for first := true; ; first = false {
		a, err := cmd.readStatus(ctx, all)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case cmd.output != "text":
		case cmd.onTerminal():
			fmt.Fprint(cmd.Out, "\x1b[H\x1b[2J")
		case !first:
			fmt.Fprintln(cmd.Out)
		}
		if err := cmd.answer(a, func(w io.Writer) { a.print(w, cmd.clock()) }); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (a *statusAnswer) print(w io.Writer, at timeFormat) {
	head := []string{"trestle " + a.Version, "not running"}
	if len(a.Processes) > 0 {
		head[1] = "not running here"
	}
	if a.Running {
		head[1] = a.Health.Status + " since " + at.past(a.Health.StartedAt)
		if at.relative {
			head[1] = a.Health.Status + "   up " + at.ago(a.Health.StartedAt)
		}
		if a.Health.Listen != "" {
			head = append(head, "console http://"+a.Health.Listen)
		}
	}
	fmt.Fprintln(w, strings.Join(append(head, "data "+folderShown(a.Data)+" "+console.Size(a.Tally.Bytes)), "   "))
	if len(a.Adapters) > 0 {
		fmt.Fprintln(w)
		printAdapters(w, a.Adapters, at)
	}
	if len(a.Processes) > 0 {
		fmt.Fprintln(w)
		printProcesses(w, a.Processes, at)
	}
	a.printParts(w)
	if len(a.Minds) > 0 {
		fmt.Fprintln(w)
		a.printMinds(w, at)
	}
	a.printTally(w, at)
	a.printProblems(w, at)
}

// folderShown writes the path of a folder with a separator at its end.
func folderShown(path string) string {
	if filepath.IsLocal(path) && !strings.HasPrefix(path, ".") {
		return "./" + path
	}
	return path
}

// printParts writes what is not well beside the adapters.
func (a *statusAnswer) printParts(w io.Writer) {
	parts := a.Entries
	if a.Running {
		parts = a.Health.Extensions
	}
	for _, x := range parts {
		switch {
		case x.Kind == "adapter":
		case x.Kind == "model" && x.State == "offline":
			fmt.Fprintf(w, "\n%s: %s\n", x.Name, x.Reason)
		case !x.Healthy:
			fmt.Fprintf(w, "\n%s is %s: %s\n", x.Name, x.State, x.Reason)
		}
	}
}

func printProcesses(w io.Writer, all []console.Peer, at timeFormat) {
	rows := [][]string{{"PROCESS", "HOST", "VERSION", "SINCE", "ROLES", "HAS"}}
	for _, r := range all {
		rows = append(rows, []string{
			fmt.Sprint(r.PID), r.Host, textout.OrDash(r.Version), at.past(r.Since), textout.OrDash(strings.Join(r.Roles, ", ")), textout.OrDash(strings.Join(r.Has, ", ")),
		})
	}
	textout.WriteTable(w, rows)
}

// tokenCount writes a number of tokens for people.
func tokenCount(n int) string {
	switch {
	case n < 10_000:
		return fmt.Sprint(n)
	case n < 10_000_000:
		return fmt.Sprintf("%d k", n/1000)
	}
	return fmt.Sprintf("%d M", n/1_000_000)
}

func (a *statusAnswer) printTally(w io.Writer, at timeFormat) {
	t := a.Tally
	outbox := fmt.Sprintf("outbox %d", t.Outbox)
	if t.Outbox > 0 {
		outbox += " (oldest " + at.ago(t.Oldest) + ")"
	}
	fmt.Fprintf(w, "\ninbox %d   open cycles %d   %s   unknown %d   failed today %d   waits %d   timers %d   jobs %d   tokens today %d\n",
		t.Inbox, t.Open, outbox, t.Unknown, t.Failed, t.Waits, t.Timers, len(a.Jobs), t.Tokens)
	for _, j := range a.Jobs {
		fmt.Fprintf(w, "  job %s\n", jobs.Text(j.Job, at.now))
	}
}

func (a *statusAnswer) printProblems(w io.Writer, at timeFormat) {
	if len(a.Problems) == 0 {
		return
	}
	rows := [][]string{}
	for i, r := range a.Problems {
		count := ""
		if i == 0 {
			count = textformat.CountNoun(len(a.Problems), "problem")
		}
		quiet := ""
		if r.Quiet != nil {
			quiet = " (quiet)"
		}
		rows = append(rows, []string{count, string(r.Code), r.What + " since " + at.ago(r.Opened) + quiet, "→ " + r.Remedy})
	}
	textout.WriteTable(w, rows)
}
