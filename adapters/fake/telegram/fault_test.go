package telegram_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters/fake"
	"github.com/trestle-bridge/trestle/adapters/fake/telegram"
)

// DELIVERY 3.1: exec_then_error, and its harmless sister.
func TestACutCallIsAppliedOnlyWhenAskedTo(t *testing.T) {
	for _, do := range []fake.FaultKind{fake.Cut, fake.Garbage, fake.HTML, fake.Refuse} {
		for _, apply := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, telegram.Options{})
				chat := w.bot.Direct(w.maya)
				f := w.Fault(fake.CallFault{Do: do, Method: "sendMessage", Apply: apply})
				a, err := w.try(t.Context(), "sendMessage", fields{"chat_id": id(chat.ID()), "text": "x"})
				if err == nil && a.OK {
					t.Errorf("%s: the call succeeded", do)
				}
				if n := len(chat.Sent()); (n == 1) != apply {
					t.Errorf("%s: %d messages sent with apply %v", do, n, apply)
				}
				if f.Hits() != 1 {
					t.Errorf("%s: %d hits, want 1", do, f.Hits())
				}
				calls := w.Ledger().Calls
				if len(calls) != 1 || calls[0].Applied != apply || calls[0].Fault != do || (calls[0].Message != 0) != apply {
					t.Errorf("%s: ledger has %+v", do, calls)
				}
				w.send(t, chat.ID(), "after", nil)
			})
		}
	}
}

func TestATruncatedAnswerWasApplied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegram.Options{})
		chat := w.bot.Direct(w.maya)
		w.Fault(fake.CallFault{Do: fake.Truncate, Method: "sendMessage"})
		_, err := w.try(t.Context(), "sendMessage", fields{"chat_id": id(chat.ID()), "text": "x"})
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("got %v, want an answer that breaks off", err)
		}
		if n := len(chat.Sent()); n != 1 {
			t.Errorf("%d messages, want 1", n)
		}
	})
}

func TestAHungCallWaitsForTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegram.Options{})
		chat := w.bot.Direct(w.maya)
		w.Fault(fake.CallFault{Do: fake.Hang, Method: "sendMessage"})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		start := time.Now()
		_, err := w.try(ctx, "sendMessage", fields{"chat_id": id(chat.ID()), "text": "x"})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Hour {
			t.Errorf("after %s got %v, want the client's own deadline", time.Since(start), err)
		}
		if n := len(chat.Sent()); n != 0 {
			t.Errorf("%d messages, want none", n)
		}
	})
}

func TestADelayedCallSucceedsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegram.Options{})
		chat := w.bot.Direct(w.maya)
		w.Fault(fake.CallFault{Do: fake.Delay, Method: "sendMessage", Wait: 40 * time.Second})
		start := time.Now()
		w.send(t, chat.ID(), "x", nil)
		if waited := time.Since(start); waited != 40*time.Second {
			t.Errorf("answered after %s, want 40s", waited)
		}
	})
}

// Issue 2, bench: every 5th send answered 429, none sent early, other chats not delayed.
func TestEveryFifthSendIsLimitedAndEarlyCallsAreNoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegram.Options{})
		chat, other := w.bot.Direct(w.maya), w.bot.Direct(w.AddPerson(telegram.UserProfile{Name: "Kai"}))
		w.Fault(fake.CallFault{Do: fake.Refuse, Method: "sendMessage", Chat: chat.ID(), RetryAfter: 2, Every: 5, Times: -1})
		say := fields{"chat_id": id(chat.ID()), "text": "x"}
		for i := range 5 {
			a := w.call(t, "sendMessage", say)
			if limited := a.Code == 429; limited != (i == 4) {
				t.Fatalf("call %d: %+v", i+1, a)
			}
			if i == 4 && (a.Parameters.RetryAfter != 2 || a.Description != "Too Many Requests: retry after 2") {
				t.Errorf("the fifth got %+v", a)
			}
		}
		pass(500 * time.Millisecond)
		if a := w.call(t, "sendMessage", say); a.Code != 429 || a.Parameters.RetryAfter != 2 {
			t.Errorf("an early call got %+v, want 429 with the rest of the time", a)
		}
		w.send(t, other.ID(), "not delayed", nil)
		pass(1500 * time.Millisecond)
		if a := w.call(t, "sendMessage", say); !a.OK {
			t.Errorf("after the time had passed got %+v", a)
		}
		var early []time.Duration
		for _, c := range w.Ledger().Calls {
			if c.Early > 0 {
				early = append(early, c.Early)
			}
		}
		if len(early) != 1 || early[0] != 1500*time.Millisecond {
			t.Errorf("early calls %v, want one, by 1.5s", early)
		}
	})
}

func TestAFaultMatchesOnlyWhatItNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegram.Options{})
		chat, other := w.bot.Direct(w.maya), w.bot.Direct(w.AddPerson(telegram.UserProfile{Name: "Kai"}))
		f := w.Fault(fake.CallFault{Do: fake.Refuse, Method: "SENDMESSAGE", Chat: chat.ID(), Skip: 1, Times: 2, Status: 500})
		w.send(t, other.ID(), "another chat", nil)
		w.call(t, "getMe", nil)
		var codes []int
		for range 4 {
			codes = append(codes, w.call(t, "sendMessage", fields{"chat_id": id(chat.ID()), "text": "x"}).Status)
		}
		if want := []int{200, 500, 500, 200}; !slices.Equal(codes, want) {
			t.Errorf("got %v, want %v", codes, want)
		}
		if f.Hits() != 2 {
			t.Errorf("%d hits, want 2", f.Hits())
		}
		cleared := w.Fault(fake.CallFault{Do: fake.Cut, Times: -1})
		cleared.Clear()
		w.send(t, chat.ID(), "x", nil)
		w.Fault(fake.CallFault{Do: fake.Cut, Times: -1})
		w.ClearFaults()
		w.send(t, chat.ID(), "x", nil)
	})
}

// PLATFORMS 1.4: about one message a second in a chat with short bursts, 20 a minute in a group.
func TestThePlatformsLimitsCanBePlayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegram.Options{Limits: true})
		group := w.NewGroup("Family", w.maya)
		group.Adds(w.maya, w.bot)
		sent, start := 0, time.Now()
		for time.Since(start) < 3*time.Minute {
			a := w.call(t, "sendMessage", fields{"chat_id": id(group.ID()), "text": "x"})
			if a.OK {
				sent++
				continue
			}
			if a.Code != 429 || a.Parameters.RetryAfter < 1 {
				t.Fatalf("got %+v, want 429", a)
			}
			pass(time.Duration(a.Parameters.RetryAfter) * time.Second)
		}
		if sent < 70 || sent > 80 {
			t.Errorf("%d messages in three minutes, want the burst of 20 and about 20 a minute", sent)
		}
	})
}

func TestTheLedgerStaysWithinItsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegram.Options{Ledger: 10, History: 8})
		chat := w.bot.Direct(w.maya)
		for range 100 {
			w.send(t, chat.ID(), "x", nil)
		}
		r := w.Ledger()
		if len(r.Calls) > 10 || len(r.Calls)+r.Dropped != 100 {
			t.Errorf("%d calls kept, %d dropped; want at most 10 and 100 in all", len(r.Calls), r.Dropped)
		}
		if n := len(chat.Sent()); n > 10 {
			t.Errorf("%d messages kept, want about 8", n)
		}
		var b strings.Builder
		if err := r.WriteJSON(&b); err != nil {
			t.Fatal(err)
		}
		var back telegram.CallLog
		if err := json.Unmarshal([]byte(b.String()), &back); err != nil || len(back.Calls) != len(r.Calls) {
			t.Errorf("the ledger's JSON reads back as %d calls, %v; want %d", len(back.Calls), err, len(r.Calls))
		}
	})
}
