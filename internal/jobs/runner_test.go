package jobs_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/internal/jobs"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// bench is a runner over an empty record.
type bench struct {
	jobs.JobRunner
	desk sqlstore.JobStore
	seen []jobs.JobState
}

func newBench(t *testing.T, work jobs.Handler) *bench {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir(), NewID: func() string { return "id" }})
	testutil.OK(t, err)
	t.Cleanup(func() { testutil.OK(t, s.Close(context.WithoutCancel(t.Context()))) })
	b := &bench{desk: s.Jobs()}
	b.JobRunner = jobs.JobRunner{
		Ledger: b.desk, Kinds: map[string]jobs.Handler{"count": work}, Holder: "one",
		Changed: func(j jobs.Job) { b.seen = append(b.seen, j.State) }, Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	return b
}

func (b *bench) add(t *testing.T, total int64) jobs.Job {
	t.Helper()
	j, err := b.desk.Add(t.Context(), jobs.Job{Kind: "count", Subject: "sheep", JobProgress: jobs.JobProgress{Total: total, Unit: "sheep"}}, time.Now())
	testutil.OK(t, err)
	return j
}

func (b *bench) job(t *testing.T, id int64) jobs.Job {
	t.Helper()
	j, err := b.desk.Job(context.WithoutCancel(t.Context()), id)
	testutil.OK(t, err)
	return j
}

// counting counts to the total, one a second, from its cursor on; each number
// it counts goes to heard.
func counting(heard *[]int64) jobs.Handler {
	return func(ctx context.Context, t *jobs.JobTask) error {
		at, _ := strconv.ParseInt(string(t.Job.Cursor), 10, 64)
		for at < t.Job.Total {
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(time.Second):
			}
			at++
			*heard = append(*heard, at)
			p := jobs.JobProgress{Done: at, Total: t.Job.Total, Unit: "sheep", Cursor: strconv.AppendInt(nil, at, 10)}
			if err := t.Save(ctx, p); err != nil {
				return err
			}
		}
		return nil
	}
}

// ECOSYSTEM 7: what a stop interrupts goes on at its cursor: every piece is done
// once.
func TestStoppedJobGoesOnWhereItWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard []int64
		b := newBench(t, counting(&heard))
		j := b.add(t, 10)
		ctx, stop := context.WithTimeout(t.Context(), 4500*time.Millisecond)
		defer stop()
		if err := b.Run(ctx, nil); err != nil {
			t.Error(err)
		}
		if got := b.job(t, j.ID); got.State != jobs.Ready || got.Done != 4 {
			t.Errorf("after the stop it is %+v", got)
		}
		if err := b.Do(t.Context(), j.ID); err != nil {
			t.Error(err)
		}
		if got := b.job(t, j.ID); got.State != jobs.Done || got.Done != 10 {
			t.Errorf("in the end it is %+v", got)
		}
		if !slices.Equal(heard, []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}) {
			t.Errorf("counted %v", heard)
		}
	})
}

func TestJobIsPausedAndResumedFromOutside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard []int64
		b := newBench(t, counting(&heard))
		j := b.add(t, 6)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- b.Run(ctx, nil) }()
		<-time.After(2500 * time.Millisecond)
		if _, err := b.desk.Ask(ctx, j.ID, jobs.Paused, time.Now()); err != nil {
			t.Fatal(err)
		}
		<-time.After(10 * time.Second)
		if got := b.job(t, j.ID); got.State != jobs.Paused || got.Done != 3 {
			t.Errorf("paused as %+v", got)
		}
		if _, err := b.desk.Ask(ctx, j.ID, jobs.Ready, time.Now()); err != nil {
			t.Fatal(err)
		}
		<-time.After(10 * time.Second)
		if got := b.job(t, j.ID); got.State != jobs.Done || len(heard) != 6 {
			t.Errorf("resumed as %+v after %v", got, heard)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// ECOSYSTEM 7: fail at 80 %: what is done stays done. A panic is one job's own.
func TestFailedJobKeepsWhatIsDone(t *testing.T) {
	for name, fail := range map[string]func() error{
		"error": func() error { return errors.New("the disk is full") },
		"panic": func() error { panic("the disk is full") },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(ctx context.Context, t *jobs.JobTask) error {
				if err := t.Save(ctx, jobs.JobProgress{Done: 80, Total: 100, Cursor: []byte("80")}); err != nil {
					return err
				}
				return fail()
			})
			j := b.add(t, 100)
			if err := b.Do(t.Context(), j.ID); err == nil || !strings.Contains(err.Error(), "the disk is full") {
				t.Errorf("it ended with %v", err)
			}
			if got := b.job(t, j.ID); got.State != jobs.Failed || got.Done != 80 || string(got.Cursor) != "80" || !strings.Contains(got.Error, "the disk is full") {
				t.Errorf("it is %+v", got)
			}
			if !slices.Equal(b.seen, []jobs.JobState{jobs.Running, jobs.Running, jobs.Failed}) {
				t.Errorf("changes were %v", b.seen)
			}
		})
	}
}

func TestRateFollowsWhatIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(ctx context.Context, t *jobs.JobTask) error {
			for done := int64(0); done <= 400; done += 20 {
				if err := t.Save(ctx, jobs.JobProgress{Done: done, Total: 1000, Unit: "sheep"}); err != nil {
					return err
				}
				<-time.After(500 * time.Millisecond)
			}
			return errors.New("enough")
		})
		var last jobs.Job
		b.Changed = func(j jobs.Job) {
			if j.State == jobs.Running {
				last = j
			}
		}
		_ = b.Do(t.Context(), b.add(t, 1000).ID)
		if last.Rate < 36 || last.Rate > 44 {
			t.Errorf("40 a second are measured as %v", last.Rate)
		}
		if eta, ok := last.ETA(); !ok || eta < 13*time.Second || eta > 17*time.Second {
			t.Errorf("600 more take %v, %v", eta, ok)
		}
	})
}

func TestJobOfAnUnknownKindIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		j, err := b.desk.Add(t.Context(), jobs.Job{Kind: "dance"}, time.Now())
		testutil.OK(t, err)
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
		defer stop()
		if err := b.Run(ctx, nil); err != nil {
			t.Error(err)
		}
		if got := b.job(t, j.ID); got.State != jobs.Ready {
			t.Errorf("it is %+v", got)
		}
	})
}
