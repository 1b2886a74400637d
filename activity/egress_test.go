package activity

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// A sender is an egress at work in a bubble.
type sender struct {
	*Egress
	record *record
	stop   func() // stops it and waits
}

// send runs an egress over p until the test ends, with what r holds already.
func send(t *testing.T, p *platform, r *record, o EgressOptions) *sender {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	e := NewEgress(ours, p, r, NewSpaceMapping(r, r), o)
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }() // waited for in stop
	stopped := false
	s := &sender{Egress: e, record: r}
	s.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			t.Errorf("run: %v", err)
		}
	}
	t.Cleanup(s.stop)
	return s
}

// after lets the bubble's clock run for d.
func after(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestMessagesOfALaneLeaveInTheOrderDecided(t *testing.T) {
	// DELIVERY I7, SEQ-100
	synctest.Test(t, func(t *testing.T) {
		p := &platform{takes: 30 * time.Millisecond}
		r := newRecord()
		for i := range 10 {
			r.put(spaces.Action{ID: spaces.ActionID(fmt.Sprintf("a%d", i)), Chat: "c", Text: fmt.Sprint("a", i)})
			r.put(spaces.Action{ID: spaces.ActionID(fmt.Sprintf("b%d", i)), Chat: "c", Thread: "t", Text: fmt.Sprint("b", i)})
		}
		send(t, p, r, EgressOptions{})
		after(400 * time.Millisecond)
		var got [2][]string
		for _, c := range p.accepted() {
			if c.Thread == "" {
				got[0] = append(got[0], c.Text)
			} else {
				got[1] = append(got[1], c.Text)
			}
		}
		want := [2][]string{
			{"a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9"},
			{"b0", "b1", "b2", "b3", "b4", "b5", "b6", "b7", "b8", "b9"},
		}
		testutil.Same(t, "what came", want, got)
	})
}

func TestAPlatformThatSaysWaitIsObeyedByThatChatAlone(t *testing.T) {
	// R-TG, DELIVERY F45: 0 sent early, other chats not delayed, all threads of the chat wait.
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		limit := refusal(adapters.Limited)
		limit.RetryAfter = 7 * time.Second
		p := &platform{script: once(func(c call) bool { return c.Text == "one" }, limit)}
		r := newRecord()
		r.put(spaces.Action{ID: "one", Chat: "c", Text: "one"})
		e := send(t, p, r, EgressOptions{})
		after(time.Millisecond)
		r.put(spaces.Action{ID: "two", Chat: "c", Text: "two"})
		r.put(spaces.Action{ID: "thread", Chat: "c", Thread: "t", Text: "thread"})
		r.put(spaces.Action{ID: "other", Chat: "d", Text: "other"})
		e.Ring()
		after(20 * time.Second)
		for _, c := range p.accepted() {
			took := c.At.Sub(began)
			if c.Chat == "d" && took > 100*time.Millisecond {
				t.Errorf("other chat waited %s", took)
			}
			if c.Chat == "c" && (took < 7*time.Second || took > 7*time.Second+time.Second) {
				t.Errorf("%q was sent after %s, want 7 s and at most a tenth more", c.Text, took)
			}
		}
		testutil.Same(t, "without", []string{"one", "two"}, without(p.texts("c"), "thread"))
		if a := r.action("one"); a.State != spaces.ActionSent || a.Resent {
			t.Errorf("got state %s, resent %t; want sent, and no unknown copy", a.State, a.Resent)
		}
	})
}

func without(list []string, drop string) []string {
	var out []string
	for _, s := range list {
		if s != drop {
			out = append(out, s)
		}
	}
	return out
}

func TestNothingIsSentAfterItsExpiry(t *testing.T) {
	// DELIVERY I9: expired before it was due, expired while a platform said wait,
	// and expired between its claim and the wire.
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		limit := refusal(adapters.Limited)
		limit.RetryAfter = time.Hour
		p := &platform{
			every:  adapters.RateLimit{Every: 900 * time.Millisecond, Burst: 1},
			script: once(func(c call) bool { return c.Text == "limited" }, limit),
		}
		r := newRecord()
		r.put(spaces.Action{ID: "late", Chat: "late", Text: "late", Expires: began.Add(-time.Second)})
		r.put(spaces.Action{ID: "limited", Chat: "limited", Text: "limited", Expires: began.Add(time.Minute)})
		r.put(spaces.Action{ID: "first", Chat: "wire", Text: "first"})
		r.put(spaces.Action{ID: "wire", Chat: "wire", Text: "wire", Expires: began.Add(500 * time.Millisecond)})
		send(t, p, r, EgressOptions{})
		after(2 * time.Minute)
		for _, id := range []spaces.ActionID{"late", "limited", "wire"} {
			if a := r.action(id); a.State != spaces.ActionExpired {
				t.Errorf("%s ended as %s, want expired", id, a.State)
			}
		}
		if got := p.accepted(); len(got) != 1 || got[0].Text != "first" {
			t.Errorf("got %v, want only the first one sent", got)
		}
	})
}

func TestASendNobodyCanJudgeFollowsItsPolicy(t *testing.T) {
	// DELIVERY 2.4
	tests := []struct {
		name   string
		policy spaces.UnknownOutcomePolicy
		fails  int
		copies int
		want   spaces.ActionState
	}{
		{"a reply is sent once more", spaces.ResendOnce, 1, 2, spaces.ActionSent},
		{"and once more for each that is unknown", spaces.ResendOnce, 3, 4, spaces.ActionSent},
		{"but not for ever", spaces.ResendOnce, 99, maxResends, spaces.ActionUnknown},
		{"a held one is never repeated", spaces.Hold, 1, 1, spaces.ActionUnknown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				left := tt.fails
				p := &platform{script: func(c call) error {
					if c.Text == "x" && left > 0 {
						left--
						return errors.New("connection reset")
					}
					return nil
				}}
				r := newRecord()
				r.put(spaces.Action{ID: "x", Chat: "c", Text: "x", Policy: tt.policy})
				r.put(spaces.Action{ID: "next", Chat: "c", Text: "next"})
				send(t, p, r, EgressOptions{})
				after(3 * time.Hour)
				if a := r.action("x"); a.State != tt.want {
					t.Errorf("got %s, want %s", a.State, tt.want)
				}
				copies, keys := 0, map[string]bool{}
				for _, c := range p.attempted() {
					if c.Text == "x" {
						copies++
						keys[c.Key] = true
					}
				}
				if copies != tt.copies || len(keys) != 1 {
					t.Errorf("got %d copies under %d keys, want %d under one", copies, len(keys), tt.copies)
				}
				if a := r.action("next"); a.State != spaces.ActionSent {
					t.Errorf("the next one is %s, want sent", a.State)
				}
			})
		})
	}
}

func TestAPermanentFailureLetsTheNextPass(t *testing.T) {
	// DELIVERY F46, M11; R-21
	for _, kind := range []adapters.FailureKind{adapters.Invalid, adapters.NoTarget, adapters.Forbidden} {
		t.Run(kind.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &platform{script: once(func(c call) bool { return c.Text == "bad" }, refusal(kind))}
				r := newRecord()
				r.put(spaces.Action{ID: "bad", Chat: "c", Text: "bad"})
				r.put(spaces.Action{ID: "good", Chat: "c", Text: "good"})
				send(t, p, r, EgressOptions{})
				after(time.Second)
				s := r.failures["bad"]
				if s.State != spaces.ActionFailed || s.Code != kind.String() || s.Reason == "" {
					t.Errorf("got %+v, want failed with code and sentence", s)
				}
				if n := len(p.attempted()); n != 2 {
					t.Errorf("got %d attempts, want one for each", n)
				}
				if a := r.action("good"); a.State != spaces.ActionSent {
					t.Errorf("the next one is %s, want sent", a.State)
				}
				if told := slices.Contains(r.order, "live c false"); (kind == adapters.Forbidden) != told {
					t.Errorf("chat out of reach: told %t", told)
				}
			})
		})
	}
}

func TestWhatMayNotBeChangedClosesNoChat(t *testing.T) {
	// DELIVERY F46, 2.2 (7): a right that one act lacks says nothing of what can be said there
	for _, kind := range []spaces.ActionKind{spaces.ActReact, spaces.ActEdit, spaces.ActDelete} {
		t.Run(string(kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &platform{script: func(call) error { return refusal(adapters.Forbidden) }}
				r := newRecord()
				standing(r)
				r.put(spaces.Action{ID: "x", Kind: kind, Chat: "c", Target: "old", Text: "👍"})
				send(t, p, r, EgressOptions{})
				after(time.Second)
				if s := r.failures["x"]; s.State != spaces.ActionFailed || s.Code != adapters.Forbidden.String() {
					t.Errorf("got %+v, want failed as forbidden", s)
				}
				if _, told := r.live["c"]; told {
					t.Error("the chat is told to be out of reach")
				}
			})
		})
	}
}

func TestAnUnreachablePlatformIsTriedUntilExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &platform{script: func(call) error { return refusal(adapters.NotSent) }}
		r := newRecord()
		r.put(spaces.Action{ID: "x", Chat: "c", Text: "x", Policy: spaces.Hold, Expires: time.Now().Add(time.Hour)})
		send(t, p, r, EgressOptions{})
		after(2 * time.Hour)
		if a := r.action("x"); a.State != spaces.ActionExpired {
			t.Errorf("got %s, want expired", a.State)
		}
		tries := p.attempted()
		if n := len(tries); n < 50 || n > 90 {
			t.Errorf("got %d attempts in an hour, want a backoff capped at a minute", n)
		}
	})
}

func TestAMovedChatIsFollowedAtOnce(t *testing.T) {
	// PLATFORMS 1.3: group to supergroup
	synctest.Test(t, func(t *testing.T) {
		moved := refusal(adapters.Moved)
		moved.MovedTo = "new"
		p := &platform{script: func(c call) error {
			if c.Chat == "old" {
				return moved
			}
			return nil
		}}
		r := newRecord()
		r.mappings = []spaces.ChatMapping{{Account: ours.Key(), Chat: "old", Space: "hub"}}
		r.put(spaces.Action{ID: "one", Chat: "old", Text: "one"})
		r.put(spaces.Action{ID: "two", Chat: "old", Text: "two"})
		send(t, p, r, EgressOptions{})
		after(100 * time.Millisecond)
		testutil.Same(t, "texts", []string{"one", "two"}, p.texts("new"))
		if got := r.mappings[0].Chat; got != "new" {
			t.Errorf("the space is still mapped to %q", got)
		}
		if n := len(p.attempted()); n != 3 {
			t.Errorf("got %d attempts, want 3: the old id is tried once", n)
		}
	})
}

func TestASplitMessageGoesOnAtThePartItHadReached(t *testing.T) {
	// DELIVERY K19
	synctest.Test(t, func(t *testing.T) {
		p := &platform{takes: 50 * time.Millisecond}
		r := newRecord()
		r.put(spaces.Action{ID: "x", Chat: "c", Text: "1\n---\n2\n---\n3\n---\n4", Target: "asked"})
		r.where["asked"] = []spaces.MessageRef{{Account: ours.Key(), Chat: "c", Message: "q"}}
		e := send(t, p, r, EgressOptions{})
		after(120 * time.Millisecond)
		e.stop() // in the middle of part 3
		if a := r.action("x"); a.State != spaces.ActionReady || a.Part != 3 || a.Resent {
			t.Fatalf("after the stop got %s at part %d, resent %t; want ready at 3", a.State, a.Part, a.Resent)
		}
		send(t, p, r, EgressOptions{})
		after(time.Second)
		testutil.Same(t, "texts", []string{"1", "2", "3", "4"}, p.texts("c"))
		replies := 0
		for _, c := range p.accepted() {
			if c.ReplyTo == "q" {
				replies++
			}
		}
		if a := r.action("x"); a.State != spaces.ActionSent || len(a.Refs) != 4 || replies != 1 {
			t.Errorf("got %s with %d refs and %d replies, want sent, 4, 1", a.State, len(a.Refs), replies)
		}
	})
}

// PLATFORMS 2.4: where threads hang on messages, an answer to an answer says where the
// answers begin, and so does the draft of one; what answers nothing says nothing.
func TestAnAnswerSaysWhereTheAnswersBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, r := &platform{}, newRecord()
		r.starts = map[spaces.EventID]spaces.EventID{"answer": "asked"}
		r.where["asked"] = []spaces.MessageRef{{Account: ours.Key(), Chat: "c", Message: "q"}}
		r.where["answer"] = []spaces.MessageRef{{Account: ours.Key(), Chat: "c", Message: "a"}}
		r.put(spaces.Action{ID: "x", Chat: "c", Text: "1\n---\n2", Target: "answer"})
		r.put(spaces.Action{ID: "y", Chat: "c", Text: "3", Target: "elsewhere"})
		e := on(t, threading{p}, r, EgressOptions{Drafts: r})
		e.ShowDraft(spaces.MessageDraft{ID: "y/0", Account: ours.Key(), Chat: "c", Text: "4.", Target: "answer"})
		after(5 * time.Second)
		got := map[string]string{}
		for _, c := range p.accepted() {
			got[c.Text] = c.ReplyTo + " " + c.Start
		}
		testutil.Same(t, "answers what, among answers to what", map[string]string{"1": "a q", "2": " ", "3": " ", "4. …": "a q"}, got)
	})
}

func TestWhatACrashLeftInSendingIsRepeatedOnceOrHeld(t *testing.T) {
	// DELIVERY K16 … K18
	synctest.Test(t, func(t *testing.T) {
		p := &platform{}
		r := newRecord()
		r.put(spaces.Action{ID: "reply", Chat: "a", Text: "reply", State: spaces.ActionSending})
		r.put(spaces.Action{ID: "held", Chat: "b", Text: "held", State: spaces.ActionSending, Policy: spaces.Hold})
		r.put(spaces.Action{ID: "twice", Chat: "c", Text: "twice", State: spaces.ActionSending, Resent: true})
		send(t, p, r, EgressOptions{})
		after(time.Second)
		got := map[spaces.ActionID]spaces.ActionState{}
		for _, id := range []spaces.ActionID{"reply", "held", "twice"} {
			got[id] = r.action(id).State
		}
		want := map[spaces.ActionID]spaces.ActionState{
			"reply": spaces.ActionSent, "held": spaces.ActionUnknown, "twice": spaces.ActionUnknown,
		}
		testutil.Same(t, "what came", want, got)
		if n := len(p.attempted()); n != 1 {
			t.Errorf("got %d sends, want 1", n)
		}
	})
}

func TestAReceiptOutlivesTheStop(t *testing.T) {
	// STYLE 24: the platform has said yes while the process is told to stop, and the
	// record is out of reach for a moment.
	synctest.Test(t, func(t *testing.T) {
		p := &platform{takes: time.Second}
		r := newRecord()
		r.put(spaces.Action{ID: "x", Chat: "c", Text: "x"})
		r.put(spaces.Action{ID: "later", Chat: "d", Text: "later", NotBefore: time.Now().Add(900 * time.Millisecond)})
		e := send(t, p, r, EgressOptions{})
		after(500 * time.Millisecond)
		r.setRefuse(errors.New("disk full"))
		stopped := make(chan struct{})
		go func() { e.stop(); close(stopped) }()
		after(2 * time.Second)
		r.setRefuse(nil)
		<-stopped
		if a := r.action("x"); a.State != spaces.ActionSent {
			t.Errorf("got %s, want sent", a.State)
		}
		if a := r.action("later"); a.State != spaces.ActionReady || len(p.attempted()) != 1 {
			t.Errorf("new work was taken after the stop: %s", a.State)
		}
	})
}

func TestASendThatNeverEndsIsCutOffByTheGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &platform{takes: time.Hour}
		r := newRecord()
		r.put(spaces.Action{ID: "x", Chat: "c", Text: "x", Policy: spaces.Hold})
		e := send(t, p, r, EgressOptions{Grace: 3 * time.Second})
		after(time.Second)
		began := time.Now()
		e.stop()
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("the stop took %s, want the grace of 3 s", took)
		}
		if a := r.action("x"); a.State != spaces.ActionUnknown {
			t.Errorf("got %s, want unknown: nobody can tell", a.State)
		}
	})
}

func TestDeadCredentialsPauseTheAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dead atomic.Bool
		dead.Store(true)
		p := &platform{script: func(call) error {
			if dead.Load() {
				return refusal(adapters.Unauthorized)
			}
			return nil
		}}
		r := newRecord()
		for i := range 5 {
			r.put(spaces.Action{ID: spaces.ActionID(fmt.Sprint("x", i)), Chat: "c", Text: fmt.Sprint(i)})
		}
		e := send(t, p, r, EgressOptions{})
		after(4 * time.Minute)
		if n := len(p.attempted()); n != 5 || e.Paused() == "" {
			t.Errorf("got %d attempts and pause %q, want ever longer pauses, 10 s at first, and a reason", n, e.Paused())
		}
		if a := r.action("x0"); a.State != spaces.ActionReady {
			t.Errorf("got %s, want ready", a.State)
		}
		dead.Store(false)
		after(2 * time.Minute)
		testutil.Same(t, "texts", []string{"0", "1", "2", "3", "4"}, p.texts("c"))
	})
}

// DELIVERY I6, I13: one refusal of good credentials holds up what is to be sent for
// seconds, also where the platform is heard all the time, and then nothing is said to
// be paused.
func TestOneRefusedSendHealsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &platform{script: once(func(call) bool { return true }, refusal(adapters.Unauthorized))}
		r := newRecord()
		r.put(spaces.Action{ID: "x", Chat: "c", Text: "hello"})
		e := send(t, p, r, EgressOptions{})
		after(5 * time.Second)
		if e.Paused() == "" {
			t.Error("nobody is told that nothing is sent")
		}
		after(10 * time.Second)
		testutil.Same(t, "texts", []string{"hello"}, p.texts("c"))
		if why := e.Paused(); why != "" {
			t.Errorf("it sends, and says %q", why)
		}
		if !e.Reserve("y") {
			t.Error("it sends, and takes nothing in hand")
		}
	})
}

// DELIVERY I6: credentials that are proved again are good for what they were refused
// for, too.
func TestProvedCredentialsSendWhatTheyWereRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var proved atomic.Bool
		p := &platform{script: func(call) error {
			if !proved.Load() {
				return refusal(adapters.Unauthorized)
			}
			return nil
		}}
		r := newRecord()
		r.put(spaces.Action{ID: "x", Chat: "c", Text: "hello"})
		e := send(t, p, r, EgressOptions{})
		after(10 * time.Second)
		proved.Store(true)
		e.Resume()
		after(2 * time.Second)
		testutil.Same(t, "texts", []string{"hello"}, p.texts("c"))
	})
}

func TestHandsAreBounded(t *testing.T) {
	// DELIVERY I14
	synctest.Test(t, func(t *testing.T) {
		p := &platform{takes: time.Second}
		r := newRecord()
		for i := range 200 {
			r.put(spaces.Action{ID: spaces.ActionID(fmt.Sprint("x", i)), Chat: fmt.Sprint("c", i), Text: "hello"})
		}
		send(t, p, r, EgressOptions{MaxInFlight: 16})
		after(13 * time.Second)
		if p.top != 16 || len(p.accepted()) != 200 {
			t.Errorf("got %d at once and %d sent, want 16 and 200", p.top, len(p.accepted()))
		}
	})
}

func TestARecordOutOfReachDelaysAndLosesNothing(t *testing.T) {
	// DELIVERY F30
	synctest.Test(t, func(t *testing.T) {
		p := &platform{}
		r := newRecord()
		e := send(t, p, r, EgressOptions{})
		after(time.Millisecond)
		r.put(spaces.Action{ID: "x", Chat: "c", Text: "x"})
		r.setRefuse(errors.New("disk full"))
		e.Ring()
		after(time.Minute)
		if n := len(p.attempted()); n != 0 {
			t.Errorf("got %d sends of what could not be claimed", n)
		}
		r.setRefuse(nil)
		after(3 * time.Second)
		if a := r.action("x"); a.State != spaces.ActionSent {
			t.Errorf("got %s, want sent", a.State)
		}
	})
}
