package shell_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// signs counts how often people are shown that an agent is at it, and keeps how the last run
// rests.
type signs struct {
	mu     sync.Mutex // guards n and rested
	n      int
	rested <-chan bool
}

func (s *signs) Active(_ spaces.RunSign, rested <-chan bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	s.rested = rested
}

func (s *signs) shown() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}

// BLU-32, BLU-33, BLU-58, R-25: whoever follows is told for whom a run waits and until
// when; the agent stands as waiting, which is neither at it nor idle: people see it at
// it while it thinks, and no more once it waits.
func TestAWaitIsToldAndNobodyIsAtIt(t *testing.T) {
	m := mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		if r.NoCalls {
			<-time.After(6 * time.Second)
			return telling("hm"), nil
		}
		return calling(1, "send_message", `{"text":"@Kai which pump?","wait":true}`), nil
	})
	seen := &signs{}
	play(t, m, func(w *world) {
		w.presence = seen
		room := w.room("hall")
		w.start()
		w.says(room, "Kai", "@Ada is the pump on?")
		asked := time.Now()
		w.settle()
		if n := seen.shown(); n != 2 {
			t.Errorf("people were shown %d times that Ada is at it, want twice", n)
		}
		<-time.After(time.Minute)
		if n := seen.shown(); n != 2 {
			t.Errorf("%d times while she waits", n-2)
		}
		if suspended, over := <-seen.rested; !suspended || !over {
			t.Errorf("her run rests: suspended %v, over %v, want both", suspended, over)
		}
		var told []live
		for _, l := range w.bus.live {
			if l.kind == "waiting_reply" {
				told = append(told, l)
			}
		}
		if len(told) != 1 || told[0].content != "for Kai" || told[0].metadata["space"] != string(room) ||
			!told[0].metadata["until"].(time.Time).Equal(asked.Add(5*time.Minute+6*time.Second)) {
			t.Errorf("told %+v", told)
		}
		moves := bodies[spaces.StatesChanged](w.inner(mind("Ada")))
		last := moves[len(moves)-1].Moves
		if to := last[len(last)-1].To; to != spaces.WaitingReply {
			t.Errorf("Ada stands at %s", to)
		}
	})
}

// GTS-19: a run says what it has to say and ends; that nothing of it is delivered yet
// holds up neither its next step nor its end.
func TestNoRunWaitsForADelivery(t *testing.T) {
	play(t, replier("on its way"), func(w *world) {
		room := w.room("kai", direct)
		w.start()
		for range 2 {
			w.says(room, "Kai", "hello")
			w.settle()
		}
		testutil.Same(t, "stop reasons", []spaces.StopReason{spaces.StopCompleted, spaces.StopCompleted}, w.stops(mind("Ada")))
		due, err := w.store.Border().Claim(w.t.Context(), account, time.Now(), 10)
		w.ok(err)
		if len(bodies[spaces.ActionDelivered](w.log(room))) != 0 || len(due) == 0 {
			t.Errorf("something was delivered; to be sent are %+v", due)
		}
		w.settleAll(due)
	})
}

// BLU-16, BLU-24, BLU-35, PRD-12-3, PRD-7.2-1: a message goes out by its old name, too;
// handing a run to another agent and skipping an answer are no acts. The run keeps the
// name of the version of the acts that it had.
func TestOldNamesOfActs(t *testing.T) {
	m := answering(func(n int, _ llm.ModelRequest) (llm.ModelResponse, error) {
		switch n {
		case 1:
			return calling(1, "delegate_agent", `{"agent":"max"}`), nil
		case 2:
			return calling(2, "skip_response", `{}`), nil
		case 3:
			return calling(3, "msg", `{"text":"hi"}`), nil
		}
		return telling("Responded to Kai. Greeted."), nil
	})
	play(t, m, func(w *world) {
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "hello")
		w.settle()
		testutil.Same(t, "said", []string{"hi"}, w.spoken(room))
		var denied []string
		for _, d := range bodies[spaces.CallDenied](w.inner(mind("Ada"))) {
			denied = append(denied, d.Denial.Act+" "+d.Denial.Code)
		}
		testutil.Same(t, "denials", []string{"delegate_agent unknown_act", "skip_response unknown_act"}, denied)
		if got, want := w.runs(room)[0].Manifest, w.shell.Catalogue().Manifest().Hash; got != want || want == "" {
			t.Errorf("the run had the acts %q, want %q", got, want)
		}
		for _, tool := range w.shell.Catalogue().Tools() {
			if strings.Contains(tool.Name, "delegate") || strings.Contains(tool.Name, "skip") || tool.Name == "msg" {
				t.Errorf("%s is offered", tool.Name)
			}
		}
	})
}
