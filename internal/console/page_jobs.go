package console

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/trestle-bridge/trestle/internal/jobs"
)

// jobVerbs are what can be done with a job, by the word for it.
var jobVerbs = map[string]jobs.JobState{"pause": jobs.Paused, "resume": jobs.Ready, "cancel": jobs.Cancelled}

type jobsPage struct {
	pageLayout
	Jobs  []jobText
	One   bool // a single job was asked for
	Older string
}

// A jobText is a job in words.
type jobText struct {
	jobs.Job
	Amount string // how much is done
	Left   string // how long the rest takes; empty when nobody can tell
	Wait   string // how much longer it waits for what the note says
	Next   string // what it would take to go on; empty while it does
	Verbs  []string
}

func tellingJob(j jobs.Job, now time.Time) jobText {
	t := jobText{Job: j, Amount: narrowThousands(int(j.Done)), Verbs: verbsOf(j)}
	if j.Total > 0 {
		t.Amount += " of " + narrowThousands(int(j.Total))
	}
	if left, ok := j.ETA(); ok {
		t.Left = span(left)
	}
	if wait := j.Until.Sub(now); wait > 0 {
		t.Wait = span(wait)
	}
	behind := "from the beginning"
	if j.Done > 0 {
		behind = "behind the " + narrowThousands(int(j.Done)) + " " + j.Unit + " it has"
	}
	switch j.State {
	case jobs.Ready:
		t.Next = "It waits for its turn and goes on " + behind + "."
	case jobs.Paused:
		t.Next = "Resumed, it goes on " + behind + "."
	case jobs.Failed:
		t.Next = "What is done stays done. Once that is mended, resume it: it goes on " + behind + "."
	case jobs.Cancelled:
		t.Next = "What is done stays done. It is over: a new job does the rest."
	case jobs.Running, jobs.Done:
	}
	return t
}

// verbsOf returns what can be done with a job, as a store would let it.
func verbsOf(j jobs.Job) []string {
	switch j.State {
	case jobs.Ready:
		return []string{"pause", "cancel"}
	case jobs.Running:
		if j.Want != "" {
			return []string{"resume"}
		}
		return []string{"pause", "cancel"}
	case jobs.Paused, jobs.Failed:
		return []string{"resume", "cancel"}
	case jobs.Done, jobs.Cancelled:
	}
	return nil
}

// jobs returns a page of long work.
func (c *Console) jobs(r *http.Request) (jobsAnswer, error) {
	before, err := number(r, "before")
	if err != nil {
		return jobsAnswer{}, err
	}
	limit, err := limitOf(r)
	if err != nil {
		return jobsAnswer{}, err
	}
	found, err := c.Jobs.Jobs(r.Context(), before, limit+1)
	if err != nil {
		return jobsAnswer{}, err
	}
	a := jobsAnswer{Jobs: []jobs.JobSnapshot{}}
	if len(found) > limit {
		found = found[1:]
		a.Next = found[0].ID
	}
	for i := range found { // the shelf has the oldest first
		a.Jobs = append(a.Jobs, jobs.Shown(found[len(found)-1-i]))
	}
	return a, nil
}

func (c *Console) pageJobs(r *http.Request) (view, error) {
	p := &jobsPage{pageLayout: pageLayout{Title: "Jobs", Terminal: "trestle jobs"}}
	a, err := c.jobs(r)
	if a.Next > 0 {
		p.Older = merged(r, map[string]string{"before": formatInt(a.Next)})
	}
	for _, j := range a.Jobs {
		p.Jobs = append(p.Jobs, tellingJob(j.Job, time.Now()))
	}
	return p, err
}

func (c *Console) pageJob(r *http.Request) (view, error) {
	j, err := c.job(r)
	return &jobsPage{
		pageLayout: pageLayout{Title: fmt.Sprintf("Job %d", j.ID), Terminal: fmt.Sprintf("trestle jobs show --follow %d", j.ID)},
		Jobs:       []jobText{tellingJob(j, time.Now())}, One: true,
	}, err
}

// job returns the job that a path names, or [ErrUnknown].
func (c *Console) job(r *http.Request) (jobs.Job, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return jobs.Job{}, ErrUnknown
	}
	j, err := c.Jobs.Job(r.Context(), id)
	if errors.Is(err, jobs.ErrUnknown) {
		err = ErrUnknown
	}
	return j, err
}

// askJob has the job that a path names do what the path says.
func (c *Console) askJob(r *http.Request) (jobs.Job, error) {
	want, known := jobVerbs[r.PathValue("verb")]
	if !known {
		return jobs.Job{}, ErrUnknown
	}
	j, err := c.job(r)
	if err != nil {
		return j, err
	}
	if j, err = c.Jobs.Ask(r.Context(), j.ID, want); err == nil {
		c.Logger.Info("job asked", "job", j.ID, "want", string(want))
	}
	return j, err
}

func (c *Console) apiAskJob(w http.ResponseWriter, r *http.Request) {
	switch j, err := c.askJob(r); {
	case errors.Is(err, jobs.ErrOver):
		reply(w, http.StatusConflict, ErrorAnswer{Error: "the job is over", Do: "what is done stays done; begin a new one to do more"})
	case err != nil:
		c.broken(w, r, err)
	default:
		reply(w, http.StatusOK, jobs.Shown(j))
	}
}

// pageAskJob asks something of a job and shows it; one that is over says so itself.
func (c *Console) pageAskJob(w http.ResponseWriter, r *http.Request) {
	if _, err := c.askJob(r); err != nil && !errors.Is(err, jobs.ErrOver) {
		c.broken(w, r, err)
		return
	}
	http.Redirect(w, r, "/jobs/"+r.PathValue("id"), http.StatusSeeOther)
}
