package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/server"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/internal/jobs"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
)

// jobsCommand answers `trestle jobs`.
type jobsCommand struct{ installation }

func newJobsCommand(env *Environment) *cobra.Command {
	cmd := jobsCommand{installation{env}}
	limit := 20
	c := &cobra.Command{
		Annotations: fromAPI(), Use: "jobs", Short: "list long work: imports, backfills, copies", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return cmd.listJobs(c.Context(), limit) },
	}
	c.Flags().IntVar(&limit, "limit", limit, "at most this many, the newest")
	follow := false
	show := &cobra.Command{
		Annotations: fromAPI(), Use: "show ID", Short: "show one job; with --follow, until it is over", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return cmd.showJob(c.Context(), args[0], follow) },
	}
	show.Flags().BoolVarP(&follow, "follow", "f", false, "stay until it is over or paused; Ctrl-C leaves it running")
	c.AddCommand(show)
	for _, verb := range []struct {
		name, short string
		want        jobs.JobState
	}{
		{"pause", "have a job stop after its next piece, to be resumed later", jobs.Paused},
		{"resume", "have a paused or failed job go on where it was", jobs.Ready},
		{"cancel", "have a job stop for good; what is done stays done", jobs.Cancelled},
	} {
		c.AddCommand(&cobra.Command{
			Use: verb.name + " ID", Short: verb.short, Args: cobra.ExactArgs(1),
			RunE: func(c *cobra.Command, args []string) error { return cmd.askJob(c.Context(), args[0], verb.want) },
		})
	}
	return c
}

// numbered reads the number of a thing from a list, which a command prints.
func numbered(text, of, where, list string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return 0, &apperr.Error{What: fmt.Sprintf("%q is no number of %s", text, of), Where: where, Remedy: "see " + list, Code: apperr.Usage}
	}
	return n, nil
}

func jobNumber(text string) (int64, error) { return numbered(text, "a job", "jobs", "trestle jobs") }

func (cmd jobsCommand) listJobs(ctx context.Context, limit int) error {
	all, err := consult[[]jobs.JobSnapshot](ctx, cmd.installation, "jobs", url.Values{"limit": {strconv.Itoa(limit)}})
	if err != nil {
		return err
	}
	return answerRows(cmd.Environment, all, func(w io.Writer) {
		if len(all) == 0 {
			fmt.Fprintln(w, "no job")
		}
		for _, j := range all {
			fmt.Fprintf(w, "%d  %s\n", j.ID, jobs.Text(j.Job, time.Now()))
		}
	})
}

// tellJobs lists the newest jobs, or tells of one.
func tellJobs(ctx context.Context, o readContext, q url.Values) (any, error) {
	if text := q.Get("id"); text != "" {
		id, err := jobNumber(text)
		if err != nil {
			return nil, err
		}
		j, err := o.Jobs().Job(ctx, id)
		if err != nil {
			return nil, server.JobError(err, id)
		}
		return jobs.Shown(j), nil
	}
	limit, err := strconv.Atoi(q.Get("limit"))
	if err != nil || limit < 1 {
		return nil, &apperr.Error{What: "the limit is no number of jobs", Where: "jobs --limit", Remedy: "write 1 or more", Code: apperr.Usage}
	}
	found, err := o.Jobs().Jobs(ctx, 0, limit)
	all := make([]jobs.JobSnapshot, 0, len(found))
	for _, j := range found {
		all = append(all, jobs.Shown(j))
	}
	return all, err
}

// jobTick is how often a job that is followed is looked at.
const jobTick = 200 * time.Millisecond

func (cmd jobsCommand) showJob(ctx context.Context, text string, follow bool) error {
	id, err := jobNumber(text)
	if err != nil {
		return err
	}
	ctx, stop := stoppable(ctx)
	defer stop()
	if !follow {
		j, err := cmd.readJob(ctx, id)
		if err != nil {
			return err
		}
		return cmd.answer(j, func(w io.Writer) { printJob(w, j.Job) })
	}
	ended, err := cmd.followJob(ctx, id, cmd.asAnswer())
	if err == nil && ended.State == jobs.Failed {
		return &reportedError{apperr.Failed} // its line says why
	}
	return err
}

func (in installation) readJob(ctx context.Context, id int64) (jobs.JobSnapshot, error) {
	return consult[jobs.JobSnapshot](ctx, in, "jobs", url.Values{"id": {strconv.FormatInt(id, 10)}})
}

// followJob shows a job until it is over or paused, and returns it.
func (in installation) followJob(ctx context.Context, id int64, shower *jobs.ProgressPrinter) (jobs.JobSnapshot, error) {
	for {
		j, err := in.readJob(ctx, id)
		switch {
		case ctx.Err() != nil:
			fmt.Fprintf(in.Err, "\nit goes on without you: trestle jobs show %[1]d --follow, or trestle jobs cancel %[1]d\n", id)
			return j, &reportedError{apperr.Interrupted}
		case err != nil:
			return j, err
		}
		shower.Show(j.Job, time.Now())
		if j.State.Over() || j.State == jobs.Paused {
			return j, nil
		}
		select {
		case <-ctx.Done():
		case <-time.After(jobTick):
		}
	}
}

// asAnswer shows a job whose progress is the answer.
func (env *Environment) asAnswer() *jobs.ProgressPrinter {
	switch {
	case env.output != "text":
		return jobs.NewShower(env.Out, jobs.JSON)
	case isTerminal(env.Out):
		return jobs.NewShower(env.Out, jobs.Line)
	}
	return jobs.NewShower(env.Out, jobs.Lines)
}

// progress shows a job behind which there is an answer: on stderr once it takes
// longer than a moment, or as JSON lines before it.
func (env *Environment) progress() *jobs.ProgressPrinter {
	switch {
	case env.output == "jsonl":
		return jobs.NewShower(env.Out, jobs.JSON)
	case env.output == "json", env.quiet:
		return jobs.NewShower(io.Discard, jobs.Lines)
	case isTerminal(env.Err):
		return jobs.NewShower(env.Err, jobs.Line).Late()
	}
	return jobs.NewShower(env.Err, jobs.Lines).Late()
}

// onTerminal reports whether a person reads stdout.
func (env *Environment) onTerminal() bool { return isTerminal(env.Out) }

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// addJob has the process that serves the record do a job, and stays until it is over.
// Where there is none, here does it.
func (in installation) addJob(ctx context.Context, path string, q any, here func(context.Context, *sqlstore.Store) error) error {
	ctx, stop := stoppable(ctx)
	defer stop()
	var added jobs.JobSnapshot
	err := in.change(ctx, mutation{path: path, ask: q, answer: &added, alone: here})
	if err != nil || added.ID == 0 {
		return err
	}
	return jobsCommand{in}.showJob(ctx, fmt.Sprint(added.ID), true)
}

// doHere does a job in this process, because no other serves the record.
func (in installation) doHere(ctx context.Context, s *sqlstore.Store, j jobs.Job, work jobs.Handler, shower *jobs.ProgressPrinter) error {
	r := jobs.JobRunner{
		Ledger: s.Jobs(), Kinds: map[string]jobs.Handler{j.Kind: work}, Holder: storeopen.NewID(), Logger: in.logger(slog.LevelWarn),
		Changed: func(j jobs.Job) { shower.Show(j, time.Now()) },
	}
	err := r.Do(ctx, j.ID)
	switch {
	case err != nil && ctx.Err() != nil:
		return &reportedError{apperr.Interrupted}
	case errors.Is(err, jobs.ErrPaused), errors.Is(err, jobs.ErrCancelled):
		return nil
	case err != nil:
		return &apperr.Error{What: err.Error(), Where: j.Subject, Remedy: "what is done stays done; mend it and run `trestle jobs resume " + fmt.Sprint(j.ID) + "`", Code: apperr.Failed}
	}
	return nil
}

func printJob(w io.Writer, j jobs.Job) {
	fmt.Fprintln(w, jobs.Text(j, time.Now()))
	rows := [][]string{{"id", strconv.FormatInt(j.ID, 10)}, {"state", string(j.State)}}
	if j.Want != "" {
		rows = append(rows, []string{"asked to be", string(j.Want)})
	}
	rows = append(rows, []string{"created", textout.FormatTime(j.Created)}, []string{"started", textout.FormatTime(j.Started)}, []string{"updated", textout.FormatTime(j.Updated)}, []string{"ended", textout.FormatTime(j.Ended)})
	textout.WriteTable(w, rows)
}

func (cmd jobsCommand) askJob(ctx context.Context, text string, want jobs.JobState) error {
	id, err := jobNumber(text)
	if err != nil {
		return err
	}
	j, err := cmd.wantJob(ctx, id, want)
	if err != nil {
		return err
	}
	return cmd.answer(j, func(w io.Writer) {
		fmt.Fprintln(w, jobs.Text(j.Job, time.Now()))
		if j.Want != "" {
			fmt.Fprintf(w, "it will be %s after its next piece\n", j.Want)
		}
	})
}

// wantJob asks that a job become what is wanted, and returns it as it is then.
func (in installation) wantJob(ctx context.Context, id int64, want jobs.JobState) (j jobs.JobSnapshot, err error) {
	err = in.change(ctx, mutation{
		path: "/jobs", ask: server.JobRequest{ID: id, Want: want}, answer: &j,
		alone: func(ctx context.Context, s *sqlstore.Store) error {
			done, err := s.Jobs().Ask(ctx, id, want, time.Now())
			j = jobs.Shown(done)
			return server.JobError(err, id)
		},
	})
	return j, err
}
