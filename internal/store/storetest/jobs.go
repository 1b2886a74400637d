package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/internal/jobs"
)

var jobTests = map[string]func(*testing.T, *world){
	"JobIsHadByOneAtATime":             jobOnce,
	"JobOfADeadHolderGoesOn":           jobTaken,
	"JobStopsWhenItIsAsked":            jobAsked,
	"JobThatEndedStaysSo":              jobOver,
	"JobsAreTakenInTurnByTheirKind":    jobsInTurn,
	"WishOutlivesWhoeverHadTheJob":     jobWish,
	"FailedJobGoesOnFromItsCursor":     jobResumed,
	"JobGivenBackKeepsWhatWasAskedFor": jobGivenBack,
}

// JobStore is what a runner, its operators and its viewers ask of a store.
type JobStore interface {
	jobs.Store
	jobs.JobQueue
	jobs.JobReader
}

// addJob adds an import of 100 messages.
func (w *world) addJob(subject string) jobs.Job {
	w.t.Helper()
	j, err := w.s.Jobs.Add(w.t.Context(), jobs.Job{
		Kind: "import", Subject: subject, Args: []byte(`{"file":"x"}`), JobProgress: jobs.JobProgress{Total: 100, Unit: "messages"},
	}, w.now)
	w.ok(err)
	return j
}

func (w *world) claimJob(id int64, holder string) *jobs.Job {
	w.t.Helper()
	j, err := w.s.Jobs.Claim(w.t.Context(), jobs.JobClaim{ID: id, Kinds: []string{"import"}, Holder: holder, TTL: time.Minute, At: w.now})
	w.ok(err)
	return j
}

func (w *world) jobState(id int64, want jobs.JobState) jobs.Job {
	w.t.Helper()
	j, err := w.s.Jobs.Job(w.t.Context(), id)
	w.ok(err)
	if j.State != want {
		w.t.Errorf("job %d is %s, want %s", id, j.State, want)
	}
	return j
}

// ECOSYSTEM 7: under a lease; what is written is read as it was written.
func jobOnce(t *testing.T, w *world) {
	added := w.addJob("a")
	j := w.claimJob(0, "one")
	if j == nil || j.ID != added.ID || j.State != jobs.Running || string(j.Args) != `{"file":"x"}` {
		t.Fatalf("claimed %+v", j)
	}
	if other := w.claimJob(j.ID, "two"); other != nil {
		t.Errorf("two holders: %+v", other)
	}
	j.JobProgress = jobs.JobProgress{Done: 42, Total: 200, Unit: "messages", Cursor: []byte("m42"), Note: "the platform asks to wait", Until: w.now.Add(time.Hour)}
	j.Rate = 3.5
	w.now = w.now.Add(30 * time.Second)
	w.ok(w.s.Jobs.Save(t.Context(), *j, time.Minute, w.now))
	w.now = w.now.Add(45 * time.Second) // longer than the first lease
	if other := w.claimJob(0, "two"); other != nil {
		t.Error("saving did not extend the lease")
	}
	got := w.jobState(j.ID, jobs.Running)
	if diff := cmp.Diff(j.JobProgress, got.JobProgress); diff != "" || got.Rate != 3.5 || got.Holder != "one" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
	w.ok(w.s.Jobs.End(t.Context(), *j, jobs.Done, w.now))
	if got := w.jobState(j.ID, jobs.Done); got.Ended.IsZero() || got.Holder != "" || got.Done != 42 || got.Note != "" {
		t.Errorf("ended as %+v", got)
	}
}

func jobTaken(t *testing.T, w *world) {
	w.addJob("a")
	first := w.claimJob(0, "one")
	first.Done, first.Cursor = 10, []byte("m10")
	w.ok(w.s.Jobs.Save(t.Context(), *first, time.Minute, w.now))
	w.s = w.s.Restart(t, false)
	w.now = w.now.Add(61 * time.Second)
	second := w.claimJob(0, "two")
	if second == nil || second.Done != 10 || string(second.Cursor) != "m10" || !second.Started.Equal(first.Started) {
		t.Fatalf("taken over as %+v", second)
	}
	first.Done = 99
	if err := w.s.Jobs.Save(t.Context(), *first, time.Minute, w.now); !errors.Is(err, jobs.ErrLost) {
		t.Errorf("the first holder saved: %v", err)
	}
	if err := w.s.Jobs.End(t.Context(), *first, jobs.Done, w.now); !errors.Is(err, jobs.ErrLost) {
		t.Errorf("the first holder ended it: %v", err)
	}
	if got := w.jobState(second.ID, jobs.Running); got.Done != 10 {
		t.Errorf("what a lost holder wrote counts: %+v", got)
	}
}

func jobAsked(t *testing.T, w *world) {
	for want, says := range map[jobs.JobState]error{jobs.Paused: jobs.ErrPaused, jobs.Cancelled: jobs.ErrCancelled} {
		w.addJob("a")
		j := w.claimJob(0, "one")
		got, err := w.s.Jobs.Ask(t.Context(), j.ID, want, w.now)
		w.ok(err)
		if got.State != jobs.Running || got.Want != want {
			t.Errorf("asked to be %s, it is %+v", want, got)
		}
		j.Done = 7
		if err := w.s.Jobs.Save(t.Context(), *j, time.Minute, w.now); !errors.Is(err, says) {
			t.Errorf("saving when %s is wanted: %v", want, err)
		}
		if got := w.jobState(j.ID, want); got.Done != 7 {
			t.Errorf("the last piece is gone: %+v", got)
		}
		if again := w.claimJob(j.ID, "two"); again != nil {
			t.Errorf("a %s job was taken", want)
		}
	}
}

func jobOver(t *testing.T, w *world) {
	a, b := w.addJob("a"), w.addJob("b")
	j := w.claimJob(a.ID, "one")
	w.ok(w.s.Jobs.End(t.Context(), *j, jobs.Done, w.now))
	_, err := w.s.Jobs.Ask(t.Context(), b.ID, jobs.Cancelled, w.now)
	w.ok(err)
	for _, id := range []int64{a.ID, b.ID} {
		if _, err := w.s.Jobs.Ask(t.Context(), id, jobs.Ready, w.now); !errors.Is(err, jobs.ErrOver) {
			t.Errorf("job %d was resumed: %v", id, err)
		}
	}
	if _, err := w.s.Jobs.Ask(t.Context(), b.ID, jobs.Cancelled, w.now); err != nil {
		t.Errorf("asking again: %v", err)
	}
	if _, err := w.s.Jobs.Ask(t.Context(), 99, jobs.Paused, w.now); !errors.Is(err, jobs.ErrUnknown) {
		t.Errorf("a job that is not there: %v", err)
	}
	if _, err := w.s.Jobs.Job(t.Context(), 99); !errors.Is(err, jobs.ErrUnknown) {
		t.Errorf("a job that is not there: %v", err)
	}
}

func jobsInTurn(t *testing.T, w *world) {
	a, b := w.addJob("a"), w.addJob("b")
	other, err := w.s.Jobs.Claim(t.Context(), jobs.JobClaim{Kinds: []string{"backfill"}, Holder: "one", TTL: time.Minute, At: w.now})
	w.ok(err)
	if other != nil {
		t.Errorf("a runner was given a kind it does not know: %+v", other)
	}
	first, second := w.claimJob(0, "one"), w.claimJob(0, "one")
	if first == nil || second == nil || first.ID != a.ID || second.ID != b.ID {
		t.Errorf("taken %+v, then %+v", first, second)
	}
	for _, page := range []struct{ before, want int64 }{{0, b.ID}, {b.ID, a.ID}} {
		all, err := w.s.Jobs.Jobs(t.Context(), page.before, 1)
		w.ok(err)
		if len(all) != 1 || all[0].ID != page.want {
			t.Errorf("the newest before %d is %+v, want %d", page.before, all, page.want)
		}
	}
}

func jobWish(t *testing.T, w *world) {
	w.addJob("a")
	j := w.claimJob(0, "one")
	_, err := w.s.Jobs.Ask(t.Context(), j.ID, jobs.Cancelled, w.now)
	w.ok(err)
	w.now = w.now.Add(2 * time.Minute) // and the holder is never heard of again
	if again := w.claimJob(0, "two"); again != nil {
		t.Errorf("a cancelled job goes on: %+v", again)
	}
	w.jobState(j.ID, jobs.Cancelled)
}

func jobResumed(t *testing.T, w *world) {
	w.addJob("a")
	j := w.claimJob(0, "one")
	j.Done, j.Cursor, j.Error = 80, []byte("m80"), "the disk is full"
	w.ok(w.s.Jobs.Save(t.Context(), *j, time.Minute, w.now))
	w.ok(w.s.Jobs.End(t.Context(), *j, jobs.Failed, w.now))
	if got := w.jobState(j.ID, jobs.Failed); got.Error != "the disk is full" {
		t.Errorf("failed as %+v", got)
	}
	_, err := w.s.Jobs.Ask(t.Context(), j.ID, jobs.Ready, w.now)
	w.ok(err)
	if again := w.claimJob(0, "one"); again == nil || again.Done != 80 || string(again.Cursor) != "m80" || again.Error != "" || !again.Ended.IsZero() {
		t.Errorf("resumed as %+v", again)
	}
}

func jobGivenBack(t *testing.T, w *world) {
	w.addJob("a")
	j := w.claimJob(0, "one")
	w.ok(w.s.Jobs.End(t.Context(), *j, jobs.Ready, w.now))
	j = w.claimJob(0, "two")
	if j == nil {
		t.Fatal("a job that was given back is not to be had")
	}
	_, err := w.s.Jobs.Ask(t.Context(), j.ID, jobs.Paused, w.now)
	w.ok(err)
	w.ok(w.s.Jobs.End(t.Context(), *j, jobs.Ready, w.now))
	w.jobState(j.ID, jobs.Paused)
}
