//go:build faultinject

package crashtest

import (
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/adapters/fake"
	"github.com/trestle-bridge/trestle/internal/failpoint"
)

var (
	repeats = flag.Int("repeats", 8, "how often each crash point is played")
	only    = flag.String("point", "", "play this crash point alone, such as K17")
	oneSeed = flag.Uint64("seed", 0, "play this seed alone")
	hands   = flag.Int("hands", 4, "how many programs run at a time")
)

// caseLimit ends a case that does not come to rest.
const caseLimit = 60 * time.Second

// TestProgramSurvivesAKillAtEveryCrashPoint is DELIVERY 2.3: K1–K10,
// K13–K21, with the invariants I1–I7, I9, I11, I12 and I16 of DELIVERY 2.5.
func TestProgramSurvivesAKillAtEveryCrashPoint(t *testing.T) {
	var f figures
	var playing sync.WaitGroup
	turn := make(chan struct{}, *hands)
	var ids []string
	for _, p := range points {
		if *only != "" && *only != p.id {
			continue
		}
		ids = append(ids, p.id)
		for n := range *repeats {
			seed := seedOf(p.id, n)
			if *oneSeed != 0 && *oneSeed != seed {
				continue
			}
			playing.Go(func() {
				turn <- struct{}{}
				defer func() { <-turn }()
				t.Run(fmt.Sprintf("%s/%d", p.id, seed), func(t *testing.T) { p.play(t, seed, &f) })
			})
		}
	}
	playing.Wait()
	if err := f.print(t.Output(), ids); err != nil {
		t.Error(err)
	}
}

// seedOf gives every case a seed that stays the same from run to run.
func seedOf(id string, n int) uint64 {
	h := fnv.New32a()
	_, _ = fmt.Fprintf(h, "%s/%d", id, n) // a hash takes everything
	return uint64(h.Sum32())
}

// settings returns what the configuration has for the point beside the usual: a step
// before the one that ends a cycle is sure to be there only where agents think in a call
// of their own.
func (p point) settings() string {
	if p.id == "K10" || p.id == "K14" {
		return "phases: two\n"
	}
	return ""
}

// play is one case: talk, die at the point, start again, come to rest, audit.
func (p point) play(t *testing.T, seed uint64, f *figures) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), caseLimit)
	defer cancel()
	rng := rand.New(rand.NewPCG(seed, 2))
	w := newWorld(t, seed, 3)
	if p.id == "K21" {
		w.telegram.Fault(fake.CallFault{Do: fake.Refuse, Method: "sendMessage", RetryAfter: 1, Every: 4, Times: -1})
	}
	w.files = p.id == "K6"
	prog := newProgram(t, w, p.settings())
	for range 3 + rng.IntN(4) {
		w.says() // they are waiting when the program starts
	}
	plan := failpoint.FaultPlan{{Point: p.name, Hit: 1 + rng.IntN(p.most), Action: failpoint.Kill}}
	prog.start(t, plan)
	dead, stopTalk := make(chan struct{}), make(chan struct{})
	var talk sync.WaitGroup
	talk.Go(func() { chatter(w, rng, dead, stopTalk) })
	defer talk.Wait()
	defer close(stopTalk)

	if err := prog.killed(ctx); err != nil {
		t.Fatalf("plan %s: %v", plan, err)
	}
	e := &evidence{kills: 1, limited: p.id == "K21", atKill: readRecord(t, copyRecord(t, prog.data))}
	w.testify(e)
	soon, over := context.WithTimeout(ctx, caseLimit/3) // what is on the wire still arrives
	defer over()
	if !await(soon, func() bool { w.testify(e); return p.seen(e) == nil }) {
		t.Errorf("plan %s: the kill left something else: %v", plan, p.seen(e))
	}
	e.killed, e.asked = len(e.calls), len(e.model)
	before := len(e.said)
	close(dead)

	again := time.Now()
	prog.start(t, nil)
	await(ctx, func() bool { return answered(w, w.sayings()[:before]) })
	recovery := time.Since(again)
	talk.Wait()
	w.rest(ctx, t, prog)
	if p.id == "K20" {
		w.echoesAreNobodys(ctx, t, prog)
	}
	if err := prog.stop(ctx); err != nil {
		t.Error(err)
	}
	v := w.judge(t, prog, e)
	if p.id == "K6" && (e.end.files["stored"] == 0 || len(e.end.files) != 1) {
		t.Errorf("files in the end: %v, want all stored", e.end.files)
	}
	f.add(p.id, seed, 1, len(e.said), v, recovery)
	if t.Failed() {
		t.Logf("again: -point %s -seed %d, plan %s", p.id, seed, plan)
	}
}

// chatter writes until the program is dead and a little beyond, eighteen
// messages at least.
func chatter(w *world, rng *rand.Rand, dead, stop <-chan struct{}) {
	left := 6 // messages after the kill
	for n := 0; n < 18 || left > 0; n++ {
		select {
		case <-dead:
			left--
		default:
		}
		if n > 200 {
			return
		}
		w.says()
		pause := time.NewTimer(time.Duration(5+rng.IntN(60)) * time.Millisecond)
		select {
		case <-pause.C:
		case <-stop:
			pause.Stop()
			return
		}
	}
}

// answered reports whether none of some messages waits for its answer.
func answered(w *world, some []saying) bool {
	missing := w.unanswered()
	return !slices.ContainsFunc(some, func(s saying) bool { return slices.Contains(missing, s.token) })
}

// rest waits until everybody is answered and the program has nothing left to do.
func (w *world) rest(ctx context.Context, t *testing.T, p *program) {
	t.Helper()
	if !await(ctx, func() bool { return len(w.unanswered()) == 0 }) {
		t.Errorf("these are not answered: %v", w.unanswered())
		return
	}
	if !await(ctx, func() bool { return len(w.telegram.Ledger().Acked) > 0 && !p.busy(ctx) }) {
		t.Error("the program did not come to rest")
	}
}

// echoesAreNobodys has the platform echo everything and waits until the program
// has taken the echoes in (K20).
func (w *world) echoesAreNobodys(ctx context.Context, t *testing.T, p *program) {
	t.Helper()
	had := len(w.telegram.Ledger().Acked)
	n := w.echo(t)
	if n == 0 {
		t.Error("there was nothing to echo")
	}
	if !await(ctx, func() bool { return len(w.telegram.Ledger().Acked) >= had+n }) {
		t.Errorf("%d echoes were not all taken in", n)
	}
	w.rest(ctx, t, p)
}

// testify copies what the world has seen so far.
func (w *world) testify(e *evidence) {
	seen := w.telegram.Ledger()
	e.said, e.calls, e.acked = w.sayings(), seen.Calls, seen.Acked
	e.model, e.totals = w.model.Ledger(), w.model.Totals()
}
