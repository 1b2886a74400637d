package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/trestle-bridge/trestle/adapters/fake"
	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
)

// flood is twenty messages at once in one chat: the agent sees all of them, in
// few cycles.
func flood(ctx context.Context, b *bench) error {
	const messages = 20
	return b.with(ctx, worldOptions{rooms: 1, ledger: -1}, trestle, func(w *world, _ *subject) error {
		earlier := w.model.Totals().Requests
		r := w.rooms[0]
		for range messages {
			r.say()
		}
		answered := map[string]bool{}
		for len(answered) < messages {
			got, err := r.next(ctx)
			if err != nil {
				break // what is missing is counted as dropped
			}
			for _, n := range number.FindAllString(got.text, -1) {
				answered[n] = true
			}
		}
		cycles := 0
		for _, e := range w.model.Ledger()[earlier:] {
			if begins(e) {
				cycles++
			}
		}
		b.add(fmt.Sprintf("%d messages at once in one chat", messages), "none dropped, <= 3 cycles", len(answered) == messages && cycles <= 3, "",
			"%d dropped, %d cycles", messages-len(answered), cycles)
		return nil
	})
}

// begins reports whether a request begins a cycle: its contemplation.
func begins(e llmtest.LedgerEntry) bool { return e.Request.NoCalls }

// limits is a platform that answers every fifth send with 429 and two seconds to
// wait.
func limits(ctx context.Context, b *bench) error {
	const rooms, each = 10, 5
	return b.with(ctx, worldOptions{rooms: rooms, ledger: 100_000, keep: -1}, trestle, func(w *world, _ *subject) error {
		w.telegram.Fault(fake.CallFault{Do: fake.Refuse, Method: "sendMessage", RetryAfter: 2, Every: 5, Times: -1})
		lost := make([]int, rooms)
		turns := make([][]turn, rooms)
		var g errgroup.Group
		for i, r := range w.rooms {
			g.Go(func() error {
				for range each {
					at := time.Now()
					took, err := r.converse(ctx)
					if err != nil {
						lost[i]++
						continue
					}
					turns[i] = append(turns[i], turn{r.chat.ID(), at, at.Add(took)})
				}
				return nil
			})
		}
		if err := g.Wait(); err != nil {
			return err
		}
		missing := 0
		for _, n := range lost {
			missing += n
		}
		refused, early, slowest := aftermath(w.telegram.Ledger().Calls, turns)
		b.add("50 messages, every 5th send answered 429, retry_after 2 s", "0 lost, 0 early, other chats not delayed",
			missing == 0 && early == 0 && slowest < 500*time.Millisecond && refused > 0, "",
			"%d lost, %d early of %d refused, others at most %s", missing, early, refused, millis(slowest))
		return nil
	})
}

// A turn is one message with its answer.
type turn struct {
	chat     int64
	from, to time.Time
}

// aftermath counts the refused sends and those that came before they were
// welcome, and returns the slowest turn that no refusal met.
func aftermath(calls []faketelegram.APICall, turns [][]turn) (refused, early int, slowest time.Duration) {
	for _, c := range calls {
		if c.Status == 429 {
			refused++
		}
		if c.Early > 0 {
			early++
		}
	}
	for _, room := range turns {
		for _, t := range room {
			met := false
			for _, c := range calls {
				met = met || c.Status == 429 && c.Chat == t.chat && c.At.After(t.from) && c.At.Before(t.to)
			}
			if !met {
				slowest = max(slowest, t.to.Sub(t.from))
			}
		}
	}
	return refused, early, slowest
}

// kill ends a subject by SIGKILL at the end of a burst, starts it again, and waits
// without further messages.
func kill(ctx context.Context, b *bench) error {
	results := map[string]burstResult{}
	for _, name := range []string{bareModel, trestle} {
		var sum burstResult
		for range b.pick(1, 3) {
			err := b.with(ctx, worldOptions{rooms: 10, ledger: 100_000, keep: -1}, name, func(w *world, s *subject) error {
				one, err := w.burst(ctx, s)
				sum.messages += one.messages
				sum.lost += one.lost
				sum.doubled += one.doubled
				sum.flying += one.flying
				return err
			})
			if err != nil {
				return err
			}
		}
		results[name] = sum
	}
	ours, theirs := results[trestle], results[bareModel]
	b.add("kill -9 in a burst of 50/s, nobody writes again", "0 lost, doubled <= sends in flight", ours.lost == 0 && ours.doubled <= ours.flying,
		fmt.Sprintf("echo+model: %d lost, %d doubled", theirs.lost, theirs.doubled),
		"%d of %d lost, %d doubled, %d in flight", ours.lost, ours.messages, ours.doubled, ours.flying)
	return nil
}

// A burstResult is what became of its messages.
type burstResult struct{ messages, lost, doubled, flying int }

// settling is how long a send may take from its arrival until its receipt is
// durable: those that arrived within it were in flight at a kill.
const settling = 100 * time.Millisecond

func (w *world) burst(ctx context.Context, s *subject) (burstResult, error) {
	const messages = 60
	pulse := time.NewTicker(time.Second / 50)
	defer pulse.Stop()
	for i := range messages {
		<-pulse.C
		w.rooms[i%len(w.rooms)].say()
	}
	if err := s.end(); err != nil {
		return burstResult{}, err
	}
	killed := time.Now()
	flying := 0
	for _, c := range w.telegram.Ledger().Calls {
		if c.Applied && c.Method == "sendMessage" && killed.Sub(c.At) < settling {
			flying++
		}
	}
	if err := s.start(); err != nil {
		return burstResult{}, err
	}
	patience, cancel := context.WithTimeout(ctx, 8*time.Second)
	defer cancel()
	// A loss shows by waiting in vain, and that is no error here.
	_ = w.telegram.Until(patience, func() bool { lost, _ := w.toll(); return lost == 0 })
	lost, doubled := w.toll()
	return burstResult{messages, lost, doubled, flying}, ctx.Err()
}

// toll counts the messages that no answer names, and the answers that were sent
// more than once.
func (w *world) toll() (lost, doubled int) {
	for _, r := range w.rooms {
		answered, texts := map[string]bool{}, map[string]int{}
		for _, m := range r.chat.Sent() {
			texts[m.Text]++
			for n := range strings.FieldsSeq(m.Text) {
				answered[n] = true
			}
		}
		for n := 1; n <= r.said; n++ {
			if !answered[fmt.Sprintf("q%06d", n)] {
				lost++
			}
		}
		for _, n := range texts {
			doubled += n - 1
		}
	}
	return lost, doubled
}
