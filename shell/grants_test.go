package shell_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// PRD-6.1-3, PRD-5.1-6, SEQ-89: an agent that says nothing in a room is not shown at work
// there, and is not told to ask another, which it could not.
func TestWhoSaysNothingIsNotSeenAndAsksNobody(t *testing.T) {
	var told string
	m := mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		<-time.After(6 * time.Second)
		if r.NoCalls || acts(r) > 0 {
			for _, x := range r.Messages {
				if x.Role == llm.Result {
					told = x.Text
				}
			}
			return telling("Nothing to add."), nil
		}
		return calling(1, "send_message", `{"text":"hi"}`), nil
	})
	seen := &signs{}
	play(t, m, func(w *world) {
		w.presence = seen
		w.settings = without("send_message", "send_reply")
		room := w.room("hall", with("Ada", "Max"))
		w.start()
		w.says(room, "Kai", "@Ada is the pump on?")
		w.settle()
		if n := seen.shown(); n != 0 {
			t.Errorf("people were shown %d times that Ada is at it", n)
		}
		if denied := bodies[spaces.CallDenied](w.inner(mind("Ada"))); len(denied) != 1 || denied[0].Denial.Code != "tier_policy" {
			t.Errorf("denials: %+v", denied)
		}
		if !strings.Contains(told, "Do without it.") || strings.Contains(told, "Max") {
			t.Errorf("it was told %s", told)
		}
	}, "Ada", "Max")
}

// PRD-5.1-6: whether an agent can ask another one goes by the room where it would ask,
// not by the one that woke it.
func TestWhoEntersARoomWithoutAWordAsksNobodyThere(t *testing.T) {
	var told []string
	m := mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		if r.NoCalls {
			return telling("hm"), nil
		}
		switch acts(r) {
		case 0:
			return calling(1, "enter_space", `{"space":"s2"}`), nil
		case 1:
			return calling(2, "send_message", `{"text":"hi"}`), nil
		}
		for _, x := range r.Messages {
			if x.Role == llm.Result {
				told = append(told, x.Text)
			}
		}
		return telling("Nothing to add."), nil
	})
	play(t, m, func(w *world) {
		hall := w.room("hall", with("Ada"))
		den := w.room("den", with("Ada", "Max"))
		w.settings = func(a spaces.AgentID, space spaces.SpaceID) shell.AgentSettings {
			s := twoPhases()
			if a == "ada" && space == den {
				s.Without = []string{"send_message"}
			}
			return s
		}
		w.start()
		w.says(hall, "Kai", "@Ada greet the den")
		w.settle()
		if len(told) != 2 || !strings.Contains(told[1], "Do without it.") {
			t.Errorf("it was told %q", told)
		}
	}, "Ada", "Max")
}

// DESIGN 6.1, PRD-5.1: who is muted in a room follows it: nothing wakes it there, it
// may do nothing there from elsewhere, and once it may speak again it answers what is
// said from then on.
func TestWhoIsMutedFollowsInSilence(t *testing.T) {
	var told, heard []string
	m := mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		if r.NoCalls {
			return telling("hm"), nil
		}
		heard = append(heard, r.Messages[len(r.Messages)-1].Text)
		if acts(r) == 0 && len(heard) == 1 {
			return calling(1, "send_message", `{"space":"s1","text":"hi"}`), nil
		}
		for _, x := range r.Messages {
			if x.Role == llm.Result {
				told = append(told, x.Text)
			}
		}
		return telling("Nothing to add."), nil
	})
	play(t, m, func(w *world) {
		hall, den := w.room("hall", with("Ada")), w.room("den", with("Ada"))
		mute := func(lifted bool) {
			changed, err := w.store.Shell().Mute(w.t.Context(), spaces.MuteRequest{Space: hall, Lifted: lifted, At: time.Now()})
			if err != nil || len(changed) != 1 {
				t.Errorf("muted are %v: %v", changed, err)
			}
		}
		w.start()
		mute(false)
		w.says(hall, "Kai", "@Ada are you there?")
		w.settle()
		if len(heard) != 0 {
			t.Errorf("it woke in silence to %q", heard)
		}
		w.says(den, "Kai", "@Ada greet the hall")
		w.settle()
		if len(told) != 1 || !strings.Contains(told[0], "You are muted there") {
			t.Errorf("of its word in the hall it was told %q", told)
		}
		runs := len(heard)
		mute(true)
		w.settle()
		if len(heard) != runs {
			t.Errorf("it woke to what was said while it was muted: %q", heard[runs:])
		}
		w.says(hall, "Kai", "@Ada and now?")
		w.settle()
		if len(heard) == runs || !strings.Contains(heard[len(heard)-1], `ACTIVE SPACE: "hall"`) {
			t.Errorf("it heard %q", heard[runs:])
		}
	})
}

// What wakes an agent in a room can be asked for.
func TestWhatWakesAnAgentIsTold(t *testing.T) {
	play(t, replier("hi"), func(w *world) {
		own := spaces.WakePolicy("")
		w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings {
			set := shell.DefaultSettings()
			set.Wake = own
			return set
		}
		chat, hall := w.room("kai", direct), w.room("hall", with("Ada"))
		w.start()
		for _, c := range []struct {
			space spaces.SpaceID
			own   spaces.WakePolicy
			want  spaces.WakePolicy
			every bool
		}{
			{chat, "", spaces.WakeAuto, true},
			{chat, spaces.WakeNone, spaces.WakeNone, false},
			{hall, "", spaces.WakeAuto, false},
			{hall, spaces.WakeAll, spaces.WakeAll, true},
		} {
			own = c.own
			if wake, every, err := w.shell.WakesBy(w.t.Context(), "ada", c.space); err != nil || wake != c.want || every != c.every {
				t.Errorf("in %s with %q: %s, every message %t, %v", c.space, c.own, wake, every, err)
			}
		}
		if _, _, err := w.shell.WakesBy(w.t.Context(), "ada", "nowhere"); err == nil {
			t.Error("in a room that is not there it is told as well")
		}
	})
}
