//go:build faultinject

package crashtest

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

var stopKills = flag.Int("stopkills", 6, "how often programs are killed whose runs people stop")

// PRD-5.2-A5: a person stops a run whose answer grows, and the program is killed
// shortly before or after. Nothing of the run is there once people read that it was stopped,
// and nothing comes later; where it was over, its answer is whole.
func TestNothingOfAStoppedRunSurvivesAKill(t *testing.T) {
	seed := seedOf("stops", 0)
	s := telegramStage(t, seed)
	s.model.Gap = 12 * time.Millisecond // a long answer takes some seconds
	random := rand.New(rand.NewPCG(seed, 2))
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(*stopKills)*20*time.Second)
	defer cancel()
	prog := s.program(t, false, "streaming: edits\n")
	prog.start(t, nil)
	s.connects(ctx, t, prog)
	at := s.places[2]
	outcomes := map[string]int{}
	for n := range *stopKills {
		tk := fmt.Sprintf("zk%05d", n+1)
		heard := len(at.chat.Sent())
		at.chat.Says(at.who, "about "+tk+" "+longMark, faketelegram.PostOptions{})
		if n%3 != 0 && !await(ctx, func() bool { return len(holding(at.chat, tk)) > 0 }) {
			t.Fatalf("%s: nothing grows", tk)
		}
		<-time.After(time.Duration(random.IntN(300)) * time.Millisecond)
		if n%2 == 0 { // it may be heard before the kill
			at.chat.Says(at.who, "/stop", faketelegram.PostOptions{})
			<-time.After(time.Duration(random.IntN(60)) * time.Millisecond)
			prog.kill()
		} else {
			prog.kill()
			at.chat.Says(at.who, "/stop", faketelegram.PostOptions{})
		}
		prog.start(t, nil)
		told := func() string {
			for _, m := range at.chat.Sent()[heard:] {
				if strings.HasPrefix(m.Text, "Stopped") || strings.HasPrefix(m.Text, "Nothing was under way") {
					return m.Text
				}
			}
			return ""
		}
		if !await(ctx, func() bool { return told() != "" && !prog.busy(ctx) }) {
			t.Fatalf("%s: the stop was not answered, or the program does not rest", tk)
		}
		before := holding(at.chat, tk)
		<-time.After(500 * time.Millisecond)
		after := holding(at.chat, tk)
		testutil.Same(t, "what people read of "+tk, before, after)
		stopped := strings.HasPrefix(told(), "Stopped")
		switch {
		case len(after) == 0:
			outcomes["stopped"]++
		case !stopped && strings.Contains(after[len(after)-1], fmt.Sprintf("line %03d of", lines)):
			outcomes["over"]++
		default:
			t.Errorf("%s: people read %q and %d messages of the run, the last %.60q", tk, told(), len(after), after[len(after)-1])
		}
	}
	testutil.OK(t, prog.stop(ctx))
	t.Logf("%d kills: %v", *stopKills, outcomes)
	if outcomes["stopped"] == 0 {
		t.Errorf("no run was stopped: %v", outcomes)
	}
}

// holding returns the texts of a chat's messages by the bot that hold a token.
func holding(c *faketelegram.Chat, tk string) (texts []string) {
	for _, m := range c.Sent() {
		if !m.Deleted && strings.Contains(m.Text, tk) {
			texts = append(texts, m.Text)
		}
	}
	return texts
}
