//go:build faultinject

package crashtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/failpoint"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// TestKillInABurstLosesNothing is a kill from outside, at any moment of a burst of
// fifty messages a second, after which no person writes: no message waits for the next
// one to be noticed. Doubled are at most the sends that were in flight.
func TestKillInABurstLosesNothing(t *testing.T) {
	var f figures
	for n := range 4 {
		seed := seedOf("burst", n)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), caseLimit)
			defer cancel()
			rng := rand.New(rand.NewPCG(seed, 3))
			w := newWorld(t, seed, 10)
			prog := newProgram(t, w, "")
			prog.start(t, nil)
			w.says()
			await(ctx, func() bool { return len(w.unanswered()) == 0 }) // it is up
			pulse := time.NewTicker(time.Second / 50)
			defer pulse.Stop()
			for range 40 + rng.IntN(30) {
				<-pulse.C
				w.says()
			}
			prog.kill()
			testutil.OK(t, prog.killed(ctx))
			e := &evidence{kills: 1, atKill: readRecord(t, copyRecord(t, prog.data))}
			w.testify(e)
			e.killed, e.asked = len(e.calls), len(e.model)

			again := time.Now()
			prog.start(t, nil)
			w.rest(ctx, t, prog)
			recovery := time.Since(again)
			if err := prog.stop(ctx); err != nil {
				t.Error(err)
			}
			v := w.judge(t, prog, e)
			f.add("burst", seed, 1, len(e.said), v, recovery)
		})
	}
	if err := f.print(t.Output(), []string{"burst"}); err != nil {
		t.Error(err)
	}
}

// TestLostDoorbellCostsNoMessage is K4 as it is written: a recorded and acknowledged
// message is found without a notification and without another message.
func TestLostDoorbellCostsNoMessage(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), caseLimit)
	defer cancel()
	w := newWorld(t, 4, 3)
	prog := newProgram(t, w, "")
	for range 4 {
		w.says()
	}
	prog.start(t, failpoint.FaultPlan{{Point: "ingest.after_commit", Hit: 1, Action: failpoint.Fail}})
	if !await(ctx, func() bool { return prog.readable(ctx) }) {
		t.Fatal("nothing was recorded")
	}
	w.rest(ctx, t, prog)
	if err := prog.stop(ctx); err != nil {
		t.Error(err)
	}
	e := &evidence{}
	w.judge(t, prog, e)
}

// TestGroupsThatAreWrittenTwiceChangeNothing has every group of writes that goes
// without savepoints taken back once and written again: what the first run asked of the
// process, turns and hands, is neither kept nor given twice (I1, I2, I4).
func TestGroupsThatAreWrittenTwiceChangeNothing(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), caseLimit)
	defer cancel()
	w := newWorld(t, 6, 10)
	prog := newProgram(t, w, "")
	prog.start(t, failpoint.FaultPlan{{Point: "group.written", Action: failpoint.Fail}})
	w.says()
	await(ctx, func() bool { return len(w.unanswered()) == 0 }) // it is up
	pulse := time.NewTicker(time.Second / 50)
	defer pulse.Stop()
	for range 100 {
		<-pulse.C
		w.says()
	}
	w.rest(ctx, t, prog)
	if err := prog.stop(ctx); err != nil {
		t.Error(err)
	}
	w.judge(t, prog, &evidence{})
}

// TestNothingStaleLeavesAfterADowntime is promise 6 of DELIVERY 2.2: what was
// decided before a downtime longer than its expiry is not said after it.
func TestNothingStaleLeavesAfterADowntime(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), caseLimit)
	defer cancel()
	w := newWorld(t, 9, 3)
	prog := newProgram(t, w, "expires: 8s\n") // time enough for a busy machine to say something in
	for range 4 {
		w.says()
	}
	prog.start(t, failpoint.FaultPlan{{Point: "outbox.sending", Hit: 1, Action: failpoint.Kill}})
	testutil.OK(t, prog.killed(ctx))
	e := &evidence{kills: 1, atKill: readRecord(t, copyRecord(t, prog.data))}
	w.testify(e)
	e.killed, e.asked = len(e.calls), len(e.model)
	decided := 0
	for _, o := range e.atKill.orders {
		if o.state == "sending" || o.state == "ready" {
			decided++
		}
	}
	if decided == 0 {
		t.Fatal("nothing was decided before the kill")
	}
	downtime := time.Now()
	await(ctx, func() bool { return time.Since(downtime) > 8500*time.Millisecond })
	prog.start(t, nil)
	fresh := len(w.sayings())
	w.says()
	if !await(ctx, func() bool { return answeredFrom(w, fresh) && !prog.busy(ctx) }) {
		t.Error("the program did not come to rest")
	}
	if err := prog.stop(ctx); err != nil {
		t.Error(err)
	}
	w.judge(t, prog, e)
	expired := 0
	for _, o := range e.end.orders {
		if o.state == "expired" || o.state == "unknown" { // unknown: it was being sent at the kill
			expired++
		}
	}
	if expired < decided {
		t.Errorf("%d actions expired or are unknown, want the %d that were decided before the downtime", expired, decided)
	}
}

// answeredFrom reports whether the messages from number n on have their answers.
func answeredFrom(w *world, n int) bool {
	old := map[string]bool{}
	for _, s := range w.sayings()[:n] {
		old[s.token] = true
	}
	for _, tk := range w.unanswered() {
		if !old[tk] {
			return false
		}
	}
	return true
}

// judge audits what a stopped program left and reports every fault.
func (w *world) judge(t *testing.T, p *program, e *evidence) verdict {
	t.Helper()
	e.end = p.audited(t)
	w.testify(e)
	v := e.audit()
	for _, fault := range v.faults {
		t.Error(fault)
	}
	return v
}
