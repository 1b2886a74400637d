package cli

import (
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/internal/jobs"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
)

// withJob puts a job of a kind that no program knows into the stage's record.
func (s stage) withJob(t *testing.T) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Options{Dir: filepath.Join(s.folder, "data"), NewID: storeopen.NewID})
	if err != nil {
		t.Fatal(err)
	}
	_, err = store.Jobs().Add(t.Context(), jobs.Job{Kind: "copy", Subject: "acme", JobProgress: jobs.JobProgress{Done: 6310, Total: 15020, Unit: "messages"}}, time.Now())
	if err != nil {
		t.Error(err)
	}
	if err := store.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}

// ECOSYSTEM 7, 3.1: one implementation for every client: jobs are changed
// through the running process, and without one under the record's lock.
func TestJobsAreChangedFromAnywhere(t *testing.T) {
	for name, running := range map[string]bool{"running": true, "alone": false} {
		t.Run(name, func(t *testing.T) {
			s := stage0(t)
			s.withJob(t)
			if running {
				s.serve(t)
			}
			if out, _, code := s.do(t, "", "jobs"); code != apperr.Done || !strings.HasPrefix(out, "1  copy acme   ██████████▉") {
				t.Errorf("jobs: exit %s: %q", code, out)
			}
			for _, step := range []struct {
				verb string
				code apperr.ExitCode
				want jobs.JobState
			}{
				{"pause", apperr.Done, jobs.Paused},
				{"pause", apperr.Done, jobs.Paused},
				{"resume", apperr.Done, jobs.Ready},
				{"cancel", apperr.Done, jobs.Cancelled},
				{"resume", apperr.Failed, jobs.Cancelled},
			} {
				if _, errs, code := s.do(t, "", "jobs", step.verb, "1"); code != step.code {
					t.Errorf("%s: exit %s: %s", step.verb, code, errs)
				}
				if j := answerOf[jobs.JobSnapshot](t, s, "jobs", "show", "1", "-o", "json"); j.State != step.want {
					t.Errorf("after %s it is %s, want %s", step.verb, j.State, step.want)
				}
			}
			if _, errs, code := s.do(t, "", "jobs", "pause", "7"); code != apperr.Failed || !strings.Contains(errs, "there is no such job") {
				t.Errorf("an unknown job: exit %s: %s", code, errs)
			}
			if _, errs, code := s.do(t, "", "jobs", "pause", "first"); code != apperr.Usage || !strings.Contains(errs, "no number") {
				t.Errorf("no number: exit %s: %s", code, errs)
			}
		})
	}
}

// ECOSYSTEM 7: -o jsonl is one object for each look, and following ends with
// the job.
func TestFollowedJobIsShownUntilItIsOver(t *testing.T) {
	s := stage0(t)
	s.withJob(t)
	s.serve(t)
	first := &watch{want: `"ready"`, seen: make(chan struct{})}
	out, errs := &screen{}, &screen{}
	ended := make(chan apperr.ExitCode, 1)
	go func() {
		p := s.program(strings.NewReader(""), io.MultiWriter(out, first), errs)
		ended <- p.Run(t.Context(), []string{"jobs", "show", "1", "--follow", "-o", "jsonl"})
	}()
	<-first.seen
	s.done(t, "", "jobs", "cancel", "1")
	if code := <-ended; code != apperr.Done {
		t.Errorf("exit %s: %s", code, errs)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var last jobs.JobSnapshot
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || last.State != jobs.Cancelled {
		t.Errorf("the last line is %s, %v", lines[len(lines)-1], err)
	}
}
