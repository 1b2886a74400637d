package failpoint

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

// DELIVERY 2.3: the crash points of the whole path.
var wanted = []string{
	"K1", "K2", "K3", "K4", "K5", "K6", "K7", "K8", "K9", "K10",
	"K11", "K12", "K13", "K14", "K15", "K16", "K17", "K18", "K19", "K20", "K21", "K22", "K23",
}

// DELIVERY 3.1: the test enumerates the registered points and fails if a K has none.
func TestEveryCrashPointHasAPoint(t *testing.T) {
	served := map[string]bool{}
	names := map[string]bool{}
	for _, p := range Points() {
		if names[p.Name] {
			t.Errorf("point %s is listed twice", p.Name)
		}
		names[p.Name] = true
		if p.Where == "" || len(p.Serves) == 0 {
			t.Errorf("point %s does not say when it is hit and what it serves", p.Name)
		}
		for _, k := range p.Serves {
			if !slices.Contains(wanted, k) {
				t.Errorf("point %s serves %s, which is not in this test's list", p.Name, k)
			}
			served[k] = true
		}
	}
	for _, k := range wanted {
		if !served[k] {
			t.Errorf("no point serves %s", k)
		}
	}
}

func TestPlanReadsBackAsItWasWritten(t *testing.T) {
	text := "ingest.before_commit#3=kill;send.accepted#*=delay:50ms;wake.claimed#1=exec_then_error"
	got, err := Parse(" ingest.before_commit#3=kill ;; send.accepted#*=delay:50ms;wake.claimed=exec_then_error; ")
	testutil.OK(t, err)
	want := FaultPlan{
		{Point: "ingest.before_commit", Hit: 3, Action: Kill},
		{Point: "send.accepted", Action: Delay, For: 50 * time.Millisecond},
		{Point: "wake.claimed", Hit: 1, Action: Undone},
	}
	testutil.Same(t, "plan", want, got)
	if got.String() != text {
		t.Errorf("got %q, want %q", got.String(), text)
	}
}

func TestPlanThatCannotBeMeantIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"wake.claimed":                "point#hit=action",
		"wake.clamed#1=kill":          "unknown point",
		"wake.claimed#0=kill":         "not a number from 1",
		"wake.claimed#x=kill":         "not a number from 1",
		"wake.claimed#1=explode":      "unknown action",
		"wake.claimed#1=delay":        "has a length",
		"wake.claimed#1=kill:5ms":     "has a length",
		"wake.claimed#1=delay:-5ms":   "positive duration",
		"wake.claimed#1=delay:a week": "positive duration",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q): got error %v, want one that says %q", text, err, want)
		}
	}
}

func FuzzPlanReadsBack(f *testing.F) {
	f.Add("ingest.before_commit#3=kill;send.part#*=delay:1s")
	f.Add("a#1=error")
	f.Fuzz(func(t *testing.T, text string) {
		plan, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(plan.String())
		if err != nil {
			t.Fatalf("%q does not read back: %v", plan, err)
		}
		if diff := cmp.Diff(plan, again); diff != "" {
			t.Errorf("plan (-first +again):\n%s", diff)
		}
	})
}

func TestFaultComesAtTheNthHitOnly(t *testing.T) {
	in := NewInjector(FaultPlan{{Point: "wake.claimed", Hit: 2, Action: Fail}})
	var got []bool
	for range 3 {
		err := in.Hit("wake.claimed")
		if err != nil && !errors.Is(err, ErrInjected) {
			t.Errorf("got %v, want an injected fault", err)
		}
		got = append(got, err != nil)
	}
	if want := []bool{false, true, false}; !slices.Equal(got, want) {
		t.Errorf("failed hits: got %v, want %v", got, want)
	}
	if err := in.Hit("send.part"); err != nil {
		t.Errorf("another point: got %v, want nil", err)
	}
}

func TestEachActionDoesWhatItSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := NewInjector(FaultPlan{
			{Point: "wake.claimed", Hit: 1, Action: Kill},
			{Point: "wake.claimed", Hit: 2, Action: Panic},
			{Point: "wake.claimed", Hit: 3, Action: Delay, For: time.Minute},
			{Point: "wake.claimed", Hit: 4, Action: Hang},
		})
		var killed, hung int
		in.end = func() { killed++ }
		in.stop = func() { hung++ }
		hit := func() (panicked bool) {
			defer func() { panicked = recover() != nil }()
			if err := in.Hit("wake.claimed"); err != nil {
				t.Errorf("got %v, want nil", err)
			}
			return false
		}
		if hit(); killed != 1 {
			t.Errorf("first hit: killed %d times, want 1", killed)
		}
		if !hit() {
			t.Error("second hit: did not panic")
		}
		began := time.Now()
		if hit(); time.Since(began) != time.Minute {
			t.Errorf("third hit: took %s, want 1m", time.Since(began))
		}
		if hit(); hung != 1 {
			t.Errorf("fourth hit: hung %d times, want 1", hung)
		}
	})
}

func TestUnregisteredNameIsOurOwnBug(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("did not panic")
		}
	}()
	_ = NewInjector(nil).Hit("no.such_point")
}

// A kill must be the real thing: the process ends by the signal, and a deferred
// call that would have cleaned up does not run.
func TestKillLeavesNoTimeToCleanUp(t *testing.T) {
	if os.Getenv("FAULT_TEST_VICTIM") == "1" {
		defer func() { _, _ = os.Stdout.WriteString("cleaned up\n") }()
		_ = NewInjector(FaultPlan{{Point: "wake.claimed", Hit: 1, Action: Kill}}).Hit("wake.claimed")
		_, _ = os.Stdout.WriteString("went on\n")
		return
	}
	victim := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKillLeavesNoTimeToCleanUp$")
	victim.Env = append(os.Environ(), "FAULT_TEST_VICTIM=1")
	out, err := victim.Output()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		t.Fatalf("victim: got error %v, want it to be killed", err)
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	if !ok || status.Signal() != syscall.SIGKILL {
		t.Errorf("victim ended with %v, want SIGKILL", exit)
	}
	if len(out) != 0 {
		t.Errorf("victim wrote %q after the kill", out)
	}
}

func TestGuardedOperationFailsBeforeOrAfter(t *testing.T) {
	ran := 0
	op := func() error { ran++; return nil }
	if err := Guard("cycle.before_commit", op); err != nil || ran != 1 {
		t.Errorf("without a plan: got error %v after %d runs, want nil after 1", err, ran)
	}
	broken := errors.New("disk full")
	if err := Guard("cycle.before_commit", func() error { return broken }); !errors.Is(err, broken) {
		t.Errorf("got %v, want the operation's own error", err)
	}
}
