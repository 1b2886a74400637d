package api

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/jobs"
)

// jobsAnswer is a page of long work, newest first.
type jobsAnswer struct {
	Jobs []jobs.JobSnapshot `json:"jobs"`
	Next int64              `json:"next,omitempty"` // goes into before for the next page
}

// jobVerbs are what can be done with a job, by the word for it.
var jobVerbs = map[string]jobs.JobState{"pause": jobs.Paused, "resume": jobs.Ready, "cancel": jobs.Cancelled}

// ListJobs returns a page of long work.
func (api *API) ListJobs(r *http.Request) (jobsAnswer, error) {
	before, err := console.QueryNumber(r, "before")
	if err != nil {
		return jobsAnswer{}, err
	}
	limit, err := console.QueryLimit(r)
	if err != nil {
		return jobsAnswer{}, err
	}
	found, err := api.Jobs.Jobs(r.Context(), before, limit+1)
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

// ReadJob returns the job that a path names, or [ErrUnknown].
func (api *API) ReadJob(r *http.Request) (jobs.Job, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return jobs.Job{}, console.ErrUnknown
	}
	j, err := api.Jobs.Job(r.Context(), id)
	if errors.Is(err, jobs.ErrUnknown) {
		err = console.ErrUnknown
	}
	return j, err
}

// ChangeJob pauses, resumes or cancels the job that a path names.
func (api *API) ChangeJob(r *http.Request) (jobs.Job, error) {
	want, known := jobVerbs[r.PathValue("verb")]
	if !known {
		return jobs.Job{}, console.ErrUnknown
	}
	j, err := api.ReadJob(r)
	if err != nil {
		return j, err
	}
	if j, err = api.Jobs.Ask(r.Context(), j.ID, want); err == nil {
		api.Logger.Info("job asked", "job", j.ID, "want", string(want))
	}
	return j, err
}

func (api *API) serveChangeJob(w http.ResponseWriter, r *http.Request) {
	switch j, err := api.ChangeJob(r); {
	case errors.Is(err, jobs.ErrOver):
		console.WriteJSON(w, http.StatusConflict, console.ErrorAnswer{Error: "the job is over", Do: "what is done stays done; begin a new one to do more"})
	case err != nil:
		api.respond.FailInternal(w, r, err)
	default:
		console.WriteJSON(w, http.StatusOK, jobs.Shown(j))
	}
}
