package web

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/jobs"
)

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
	Left   string // how long the rest takes; empty when it is unknown
	Wait   string // how much longer it waits for what the note names
	Next   string // what it would take to go on; empty while it does
	Verbs  []string
}

func describeJob(j jobs.Job, now time.Time) jobText {
	t := jobText{Job: j, Amount: console.NarrowThousands(int(j.Done)), Verbs: verbsOf(j)}
	if j.Total > 0 {
		t.Amount += " of " + console.NarrowThousands(int(j.Total))
	}
	if left, ok := j.ETA(); ok {
		t.Left = console.Span(left)
	}
	if wait := j.Until.Sub(now); wait > 0 {
		t.Wait = console.Span(wait)
	}
	behind := "from the beginning"
	if j.Done > 0 {
		behind = "behind the " + console.NarrowThousands(int(j.Done)) + " " + j.Unit + " it has"
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

func (site *Site) pageJobs(r *http.Request) (view, error) {
	p := &jobsPage{pageLayout: pageLayout{Title: "Jobs", Terminal: "trestle jobs"}}
	a, err := site.api.ListJobs(r)
	if a.Next > 0 {
		p.Older = merged(r, map[string]string{"before": console.FormatInt(a.Next)})
	}
	for _, j := range a.Jobs {
		p.Jobs = append(p.Jobs, describeJob(j.Job, time.Now()))
	}
	return p, err
}

func (site *Site) pageJob(r *http.Request) (view, error) {
	j, err := site.api.ReadJob(r)
	return &jobsPage{
		pageLayout: pageLayout{Title: fmt.Sprintf("Job %d", j.ID), Terminal: fmt.Sprintf("trestle jobs show --follow %d", j.ID)},
		Jobs:       []jobText{describeJob(j, time.Now())}, One: true,
	}, err
}

// pageChangeJob pauses, resumes or cancels a job and shows it, also when it is over already.
func (site *Site) pageChangeJob(w http.ResponseWriter, r *http.Request) {
	if _, err := site.api.ChangeJob(r); err != nil && !errors.Is(err, jobs.ErrOver) {
		site.respond.FailInternal(w, r, err)
		return
	}
	http.Redirect(w, r, "/jobs/"+r.PathValue("id"), http.StatusSeeOther)
}
