package activity

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// standing puts a message of two parts into the record, as delivered.
func standing(r *record) {
	r.where["old"] = []spaces.MessageRef{
		{Account: ours.Key(), Chat: "c", Message: "p1"},
		{Account: ours.Key(), Chat: "c", Message: "p2"},
	}
}

func TestAnEditReplacesAMessagePartByPart(t *testing.T) {
	tests := []struct {
		name, text string
		want       []call
	}{
		{"as many parts", "A\n---\nB", []call{{Op: "edit", Message: "p1", Text: "A"}, {Op: "edit", Message: "p2", Text: "B"}}},
		{"more parts", "A\n---\nB\n---\nC", []call{{Op: "edit", Message: "p1", Text: "A"}, {Op: "edit", Message: "p2", Text: "B"}, {Op: "send", Text: "C"}}},
		{"fewer parts", "A", []call{{Op: "edit", Message: "p1", Text: "A"}, {Op: "delete", Message: "p2"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, r := &platform{}, newRecord()
				standing(r)
				r.put(spaces.Action{ID: "x", Chat: "c", Kind: spaces.ActEdit, Target: "old", Text: tt.text})
				send(t, p, r, EgressOptions{})
				after(time.Second)
				var got []call
				for _, c := range p.accepted() {
					got = append(got, call{Op: c.Op, Message: c.Message, Text: c.Text})
				}
				testutil.Same(t, "what came", tt.want, got)
				if a := r.action("x"); a.State != spaces.ActionSent {
					t.Errorf("got %s, want sent", a.State)
				}
			})
		})
	}
}

// SEQ-97: an edit that needs fewer parts deletes the rest, and one after it that needs
// them again posts them, also when the process stopped between the deletions.
func TestAMessageShrinksAndGrowsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deleted := map[string]bool{}
		p := &platform{takes: time.Second, script: func(c call) error {
			if c.Op == "edit" && deleted[c.Message] {
				return refusal(adapters.NoTarget)
			}
			deleted[c.Message] = c.Op == "delete"
			return nil
		}}
		r := newRecord()
		standing(r)
		r.where["old"] = append(r.where["old"], spaces.MessageRef{Account: ours.Key(), Chat: "c", Message: "p3"})
		r.put(spaces.Action{ID: "less", Chat: "c", Kind: spaces.ActEdit, Target: "old", Text: "A"})
		e := send(t, p, r, EgressOptions{})
		after(1500 * time.Millisecond)
		e.stop() // before the last deletion
		send(t, p, r, EgressOptions{})
		after(10 * time.Second)
		r.put(spaces.Action{ID: "more", Chat: "c", Kind: spaces.ActEdit, Target: "old", Text: "B\n---\nC"})
		after(10 * time.Second)
		var got []string
		for _, c := range p.accepted() {
			got = append(got, c.Op+" "+c.Message+c.Text)
		}
		if diff := cmp.Diff([]string{"edit p1A", "delete p2", "delete p3", "edit p1B", "send C"}, got); diff != "" || r.action("more").State != spaces.ActionSent {
			t.Errorf("%s (-want +got):\n%s", r.action("more").State, diff)
		}
	})
}

// SEQ-96: a copy whose text was deleted has no text, and no name is left without one.
func TestWordsTakenBackAreDeletedWhereTheyStand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, r := &platform{}, newRecord()
		r.put(spaces.Action{ID: "said", Event: "e", Chat: "c", Text: "my pin is 1234", Voice: "Zoe", Via: "slack"})
		r.put(spaces.Action{ID: "edit", Event: "f", Chat: "c", Kind: spaces.ActEdit, Target: "e", Voice: "Zoe", Via: "slack"})
		send(t, p, r, EgressOptions{})
		after(10 * time.Second)
		if all := p.accepted(); len(all) != 2 || all[1].Op != "delete" || r.action("edit").State != spaces.ActionSent {
			t.Errorf("the edit is %s after %+v", r.action("edit").State, all)
		}
	})
}

func TestAnEditWaitsForItsMessageAndFailsWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &platform{takes: time.Second, script: func(c call) error {
			if c.Text == "refused" {
				return refusal(adapters.Invalid)
			}
			return nil
		}}
		r := newRecord()
		r.put(spaces.Action{ID: "said", Event: "said", Chat: "c", Text: "said"})
		r.put(spaces.Action{ID: "edit", Chat: "c", Kind: spaces.ActEdit, Target: "said", Text: "better"})
		r.put(spaces.Action{ID: "bad", Event: "bad", Chat: "d", Text: "refused"})
		r.put(spaces.Action{ID: "worse", Chat: "d", Kind: spaces.ActEdit, Target: "bad", Text: "better"})
		send(t, p, r, EgressOptions{})
		after(10 * time.Second)
		if got := p.accepted(); len(got) != 2 || got[1].Op != "edit" || got[1].Message != "m1" {
			t.Errorf("got %+v, want the message, then its edit", got)
		}
		if s := r.failures["worse"]; s.State != spaces.ActionFailed || s.Code != "no_target" {
			t.Errorf("an edit of what never arrived is %+v, want failed with no_target", s)
		}
	})
}

func TestWhatChangesNothingTwiceIsRepeatedFreely(t *testing.T) {
	// DELIVERY 2.4: a second copy of a delete, reaction or edit changes nothing.
	for _, kind := range []spaces.ActionKind{spaces.ActDelete, spaces.ActReact, spaces.ActEdit} {
		t.Run(string(kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fails := 5
				p := &platform{script: func(call) error {
					if fails > 0 {
						fails--
						return errors.New("connection reset")
					}
					return nil
				}}
				r := newRecord()
				standing(r)
				r.put(spaces.Action{ID: "x", Chat: "c", Kind: kind, Target: "old", Text: "👍", Policy: spaces.Hold})
				send(t, p, r, EgressOptions{})
				after(5 * time.Minute)
				if a := r.action("x"); a.State != spaces.ActionSent {
					t.Errorf("got %s, want sent", a.State)
				}
			})
		})
	}
}

// plain is a platform that can only send.
type plain struct{ adapters.Adapter }

func TestWhatAPlatformCannotDoFailsWithAWord(t *testing.T) {
	for _, kind := range []spaces.ActionKind{spaces.ActDelete, spaces.ActReact, spaces.ActEdit} {
		t.Run(string(kind), func(t *testing.T) {
			r := newRecord()
			standing(r)
			e := NewEgress(ours, plain{&platform{}}, r, NewSpaceMapping(r, r), EgressOptions{})
			_, err := e.steps(t.Context(), spaces.Action{Kind: kind, Account: ours.Key(), Chat: "c", Target: "old", Text: "x"})
			if adapters.KindOf(err) != adapters.Invalid {
				t.Errorf("got %v, want invalid", err)
			}
		})
	}
}

func TestOneBudgetAChatForEverything(t *testing.T) {
	// DESIGN 9 limits.outgoing, issue: one budget per chat for sends, edits and typing.
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		p := &platform{every: adapters.RateLimit{Every: 3 * time.Second, Burst: 2}}
		r := newRecord()
		standing(r)
		r.put(spaces.Action{ID: "s1", Chat: "c", Text: "1"})
		r.put(spaces.Action{ID: "r1", Chat: "c", Kind: spaces.ActReact, Target: "old", Text: "👍"})
		r.put(spaces.Action{ID: "s2", Chat: "c", Thread: "t", Text: "2"})
		r.put(spaces.Action{ID: "s3", Chat: "c", Text: "3"})
		for i := range 50 {
			r.put(spaces.Action{ID: spaces.ActionID(fmt.Sprint("d", i)), Chat: fmt.Sprint("d", i), Text: "x"})
		}
		send(t, p, r, EgressOptions{AccountLimit: adapters.RateLimit{Every: time.Millisecond, Burst: 100}})
		after(2 * time.Second)
		for id, a := range map[string]spaces.Action{"s2": r.action("s2"), "s3": r.action("s3")} {
			if a.State == spaces.ActionSending {
				t.Errorf("%s is held in hand while it waits for its turn", id)
			}
		}
		after(10 * time.Second)
		var at []time.Duration
		for _, c := range p.accepted() {
			if c.Chat == "c" {
				at = append(at, c.At.Sub(began).Round(100*time.Millisecond))
			} else if took := c.At.Sub(began); took > 100*time.Millisecond {
				t.Errorf("chat %s waited %s for another chat's budget", c.Chat, took)
			}
		}
		testutil.Same(t, "at", []time.Duration{0, 0, 3 * time.Second, 6 * time.Second}, at)
	})
}

func TestLimitsOffSendsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		p := &platform{every: adapters.RateLimit{Every: time.Hour, Burst: 1}}
		r := newRecord()
		for i := range 100 {
			r.put(spaces.Action{ID: spaces.ActionID(fmt.Sprint(i)), Chat: "c", Text: "x"})
		}
		send(t, p, r, EgressOptions{Unpaced: true})
		after(time.Millisecond)
		if n := len(p.accepted()); n != 100 {
			t.Errorf("got %d sent after %s, want 100", n, time.Since(began))
		}
	})
}

func TestTypingTakesOnlyWhatASendCanSpare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &platform{every: adapters.RateLimit{Every: time.Second, Burst: 3}}
		r := newRecord()
		e := send(t, p, r, EgressOptions{})
		for range 10 {
			e.Typing(t.Context(), adapters.MessageRef{Chat: "c"})
		}
		if n := len(p.accepted()); n != 2 {
			t.Errorf("got %d signs of typing from a budget of 3, want 2", n)
		}
		began := time.Now()
		r.put(spaces.Action{ID: "x", Chat: "c", Text: "x"})
		e.Ring()
		after(time.Millisecond)
		if a := r.action("x"); a.State != spaces.ActionSent {
			t.Errorf("after %s the send is %s, want sent: typing left room for it", time.Since(began), a.State)
		}
	})
}

func TestAPausedAccountShowsNoTyping(t *testing.T) {
	p, r := &platform{}, newRecord()
	e := NewEgress(ours, p, r, NewSpaceMapping(r, r), EgressOptions{})
	e.outage.pause(time.Now().Add(time.Hour), "dead")
	e.Typing(t.Context(), adapters.MessageRef{Chat: "c"})
	e.Resume()
	e.Typing(t.Context(), adapters.MessageRef{Chat: "c"})
	if n := len(p.attempted()); n != 1 {
		t.Errorf("got %d signs of typing, want only the one after the pause", n)
	}
}

func TestTheBudgetsOfIdleChatsAreForgotten(t *testing.T) {
	// DELIVERY I14
	synctest.Test(t, func(t *testing.T) {
		p := newRateLimits(adapters.RateLimit{}, func(string) adapters.RateLimit { return adapters.RateLimit{Every: time.Second, Burst: 1} })
		p.hold("held", time.Now(), time.Now().Add(time.Hour))
		for i := range 10 * maxPaced {
			p.take(fmt.Sprint(i), time.Now(), 0)
			if i%100 == 0 {
				<-time.After(time.Second)
			}
		}
		if n := len(p.chats); n > maxPaced+1 {
			t.Errorf("got %d budgets, want at most %d", n, maxPaced+1)
		}
		if _, taken := p.take("held", time.Now(), time.Second); taken {
			t.Error("a chat that was told to wait was forgotten")
		}
	})
}

func TestPostKeysAreStableAndDistinct(t *testing.T) {
	// DELIVERY 2.1: the key is the same for every attempt at a part.
	if got, want := postKey("a", 1), "e5609148-5934-50df-990a-ced7ce0082b1"; got != want {
		t.Errorf("got key %s, want %s as ever", got, want)
	}
	if postKey("a", 1) == postKey("a", 2) || postKey("a", 11) == postKey("a1", 1) {
		t.Error("two parts share a key")
	}
}

// F36: however long the record has been away, an outcome is recorded soon after it is
// back, and what waited behind it leaves.
func TestAnOutcomeIsRecordedSoonAfterTheRecordIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecord()
		r.put(spaces.Action{ID: "x", Chat: "c", Text: "x"})
		r.put(spaces.Action{ID: "y", Chat: "c", Text: "y"})
		send(t, &platform{takes: time.Second}, r, EgressOptions{})
		after(500 * time.Millisecond)
		r.setRefuse(errors.New("away"))
		after(10 * time.Minute)
		r.setRefuse(nil)
		after(8 * time.Second)
		for _, id := range []spaces.ActionID{"x", "y"} {
			if a := r.action(id); a.State != spaces.ActionSent {
				t.Errorf("%s is %s, want sent", id, a.State)
			}
		}
	})
}

func TestMigrateTwiceIsNoError(t *testing.T) {
	r := newRecord()
	m := NewSpaceMapping(unmapped{r}, r)
	if err := m.Migrate(t.Context(), "a", spaces.ChatMove{From: "old", To: "new"}, time.Now()); err != nil {
		t.Error(err)
	}
	if err := m.Live(t.Context(), "a", "old", true, "", time.Now()); err != nil {
		t.Error(err)
	}
}

// unmapped is a directory that is strict about chats it does not know.
type unmapped struct{ *record }

func (unmapped) Migrate(context.Context, string, spaces.ChatMove, time.Time) error {
	return ErrUnmapped
}

func (unmapped) Live(context.Context, string, string, bool, string, time.Time) error {
	return ErrUnmapped
}

func TestPlacementsAreRememberedUntilTheyChange(t *testing.T) {
	// SEQ-07
	r := newRecord()
	m := NewSpaceMapping(r, r)
	ctx := t.Context()
	if _, err := m.Resolve(ctx, "a", "c"); !errors.Is(err, ErrUnmapped) {
		t.Fatalf("got %v, want unmapped", err)
	}
	p, err := m.Open(ctx, spaces.OpenRequest{Key: "hub", Chats: []spaces.ChatMapping{{Account: "a", Chat: "c", Live: true}}})
	testutil.OK(t, err)
	for range 3 {
		if got, err := m.Resolve(ctx, "a", "c"); err != nil || got[0] != p {
			t.Fatalf("got %v, %v; want %v", got, err, p)
		}
	}
	if r.places != 2 {
		t.Errorf("the directory was asked %d times, want once before and once after the opening", r.places)
	}
	testutil.OK(t, m.Migrate(ctx, "a", spaces.ChatMove{From: "c", To: "d"}, time.Now()))
	if _, err := m.Resolve(ctx, "a", "c"); !errors.Is(err, ErrUnmapped) {
		t.Errorf("the old id still resolves: %v", err)
	}
	if got, err := m.Resolve(ctx, "a", "d"); err != nil || got[0].Space != p.Space {
		t.Errorf("the new id gives %v, %v", got, err)
	}
}

func TestExternalNamesTheChatsThatCanBeReached(t *testing.T) {
	// SEQ-96
	r := newRecord()
	r.mappings = []spaces.ChatMapping{
		{Account: "a", Chat: "1", Space: "hub", Live: true},
		{Account: "b", Chat: "2", Space: "hub"},
		{Account: "b", Chat: "3", Space: "hub", Live: true},
		{Account: "a", Chat: "4", Space: "den", Live: true},
	}
	got, err := NewSpaceMapping(r, r).External(t.Context(), "hub")
	testutil.OK(t, err)
	var chats []string
	for _, m := range got {
		chats = append(chats, m.Chat)
	}
	testutil.Same(t, "chats", []string{"1", "3"}, chats)
}
