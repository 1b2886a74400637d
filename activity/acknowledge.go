package activity

import (
	"context"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	// ackLimit ends a call about a reaction that shows work: an agent's own reaction to the
	// same message waits for it.
	ackLimit = 5 * time.Second
	// ackRefusedFor is how long a chat that refused such a reaction is asked for none.
	ackRefusedFor = time.Hour
)

// An ackTracker holds what an egress knows of the reactions that show work. The rows of the
// [AckStore] say which there may be.
type ackTracker struct {
	mu      sync.Mutex // guards what follows
	rows    bool       // some may be stored
	stored  int        // how often one was
	busy    bool       // those that are over are being taken back
	calls   map[ackTarget]chan struct{}
	refused map[string]time.Time // by chat, until when none are asked for
	told    bool                 // the operator was told of a refusal
	said    map[ackAnswer]time.Time
}

// An ackTarget is the message of a reaction.
type ackTarget struct{ chat, message string }

// An ackAnswer is a message that a run sent to a chat.
type ackAnswer struct {
	run    spaces.CycleID
	chat   string
	target spaces.EventID // message answered; empty: none in particular
}

// hold waits until no call about our reaction to a message is under way, and keeps others from
// beginning until release is called.
func (t *ackTracker) hold(ctx context.Context, m ackTarget) (release func(), err error) {
	for {
		t.mu.Lock()
		under, busy := t.calls[m]
		if !busy {
			if t.calls == nil {
				t.calls = map[ackTarget]chan struct{}{}
			}
			under = make(chan struct{})
			t.calls[m] = under
		}
		t.mu.Unlock()
		if !busy {
			return func() {
				t.mu.Lock()
				defer t.mu.Unlock()
				delete(t.calls, m)
				close(under)
			}, nil
		}
		select {
		case <-under:
		case <-ctx.Done():
			return nil, &adapters.Error{Kind: adapters.NotSent, Op: "react", Err: context.Cause(ctx)}
		}
	}
}

// mayHave reports whether reactions that show work may be stored, and how often one was.
func (t *ackTracker) mayHave() (rows bool, stored int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.rows, t.stored
}

// expect notes that some may be stored.
func (t *ackTracker) expect() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows, t.stored = true, t.stored+1
}

// clean notes that none are, unless one was since mayHave returned stored.
func (t *ackTracker) clean(stored int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stored == stored {
		t.rows, t.said = false, nil
	}
}

// untidy reports whether reactions may have to be taken back, and nothing does it; the caller
// does, until it calls tidied.
func (t *ackTracker) untidy() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.rows || t.busy {
		return false
	}
	t.busy = true
	return true
}

func (t *ackTracker) tidied() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.busy = false
}

// answered notes that a message of a run was sent to a chat.
func (t *ackTracker) answered(a spaces.Action, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.rows || a.Kind != spaces.ActSend || a.Cycle == "" {
		return
	}
	if t.said == nil {
		t.said = map[ackAnswer]time.Time{}
	}
	t.said[ackAnswer{a.Cycle, a.Chat, a.Target}] = at
}

// over reports whether a reaction has to be taken back.
func (t *ackTracker) over(k StoredAck) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, target := range []spaces.EventID{"", k.Event} {
		if at, ok := t.said[ackAnswer{k.Run, k.Message.Chat, target}]; ok && !k.At.After(at) {
			return true
		}
	}
	return k.Left
}

// refuses reports whether a chat has refused such a reaction and is to be asked for none yet.
func (t *ackTracker) refuses(chat string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now.Before(t.refused[chat]) {
		return true
	}
	delete(t.refused, chat)
	return false
}

// refuse has a chat be asked for none until a time.
func (t *ackTracker) refuse(chat string, until time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.refused == nil {
		t.refused = map[string]time.Time{}
	}
	t.refused[chat] = until
}

// tell reports whether the operator is to be told of a refusal: once.
func (t *ackTracker) tell() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	first := !t.told
	t.told = true
	return first
}

// acknowledges reports whether messages can be given reactions that show work.
func acknowledges(e *Egress) bool { return e.o.Acks != nil && e.reactor != nil }

// acknowledgeAll sets the reactions that show that a run works on the messages it was asked by,
// but for those that done has.
func acknowledgeAll(ctx context.Context, e *Egress, g *liveRun, done map[ackTarget]bool) {
	if !acknowledges(e) {
		return
	}
	for _, k := range *g.asked.Load() {
		if m := (ackTarget{k.Message.Chat, k.Message.Message}); !done[m] {
			done[m] = !acknowledge(ctx, e, k)
		}
	}
}

// mayReact reports whether a call about a reaction may be made to a chat now.
func mayReact(e *Egress, chat string, now time.Time) bool {
	return e.o.OwnsAccount() && !e.outage.pausedUntil().After(now) && e.limits.perChat.held(chat, now) == 0 && !e.acks.refuses(chat, now)
}

// acknowledge sets the reaction that shows that a run works on a message, where no status shows
// it and the chat has calls to spare that no message needs: one for the reaction and one to take
// it back. It reports whether to try again later.
func acknowledge(ctx context.Context, e *Egress, k spaces.AckReaction) (later bool) {
	now := time.Now()
	if e.statusShower != nil && e.statusShower.ShowsStatus(k.Message.Chat) || // the platform may still refuse that
		!mayReact(e, k.Message.Chat, now) {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, min(ackLimit, e.o.SendLimit))
	defer cancel()
	release, err := e.acks.hold(ctx, ackTarget{k.Message.Chat, k.Message.Message})
	if err != nil {
		return true
	}
	defer release()
	if !e.limits.perChat.unused(k.Message.Chat, now, 2) {
		return true
	}
	stored, err := e.o.Acks.Acknowledge(ctx, k, now) // before the call, so that a crash leaves no reaction that no process knows of
	e.acks.expect()
	if err != nil || !stored {
		return err != nil
	}
	err = react(ctx, e, k, k.Emoji)
	kind := adapters.KindOf(err)
	switch {
	case err == nil || kind == adapters.Unknown: // it may be there
		return false
	case kind.Permanent() && kind != adapters.NoTarget && e.acks.tell():
		e.logger.Warn("the platform refuses the reaction that shows that a message is worked on; give the bot the right to react, or set acknowledge: off",
			"chat", k.Message.Chat, "err", err)
	default:
		e.logger.Debug("message not acknowledged", "chat", k.Message.Chat, "err", err)
	}
	if err := e.o.Acks.ForgetAcks(context.WithoutCancel(ctx), k.Message, k.Run); err != nil {
		e.logger.Debug("acknowledgement not forgotten", "chat", k.Message.Chat, "err", err)
	}
	return kind == adapters.Limited
}

// react makes one call about the reaction to a message. A platform that has it wait, or refuses
// it, is asked for no reaction for a while; messages do not wait for that.
func react(ctx context.Context, e *Egress, k spaces.AckReaction, emoji string) error {
	err := e.catchPanic("acknowledge", func() error {
		return e.reactor.React(ctx, adapters.MessageRef{Chat: k.Message.Chat, Thread: string(k.Thread), Message: k.Message.Message}, emoji)
	})
	e.noteAnswer(err)
	if wait, limited := adapters.RetryDelay(err); limited {
		e.acks.refuse(k.Message.Chat, time.Now().Add(wait))
	} else if kind := adapters.KindOf(err); err != nil && kind.Permanent() && kind != adapters.NoTarget {
		e.acks.refuse(k.Message.Chat, time.Now().Add(ackRefusedFor))
	}
	return err
}

// setReaction sets a reaction that is an act. It takes the place of the one that shows work,
// which nothing takes back any more.
func setReaction(ctx context.Context, e *stepBuilder, account string, m adapters.MessageRef, emoji string) error {
	release, err := e.acks.hold(ctx, ackTarget{m.Chat, m.Message})
	if err != nil {
		return err
	}
	defer release()
	if err := e.reactor.React(ctx, m, emoji); err != nil {
		return err
	}
	if rows, _ := e.acks.mayHave(); e.o.Acks == nil || !rows {
		return nil
	}
	if err := e.o.Acks.ForgetAcks(ctx, spaces.MessageRef{Account: account, Chat: m.Chat, Message: m.Message}, ""); err != nil {
		return &adapters.Error{Kind: adapters.NotSent, Op: "react", Err: err} // and so it is set once more
	}
	return nil
}

// takeAcksBack takes back the reactions of runs that have answered or are over. It is done in
// the background, one at a time.
func takeAcksBack(ctx context.Context, e *Egress) {
	_, before := e.acks.mayHave()
	all, err := e.o.Acks.Acks(ctx, e.account.Key())
	if err != nil {
		return // the next round comes
	}
	if len(all) == 0 {
		e.acks.clean(before)
	}
	for _, k := range all {
		if !e.acks.over(k) || ctx.Err() != nil {
			continue
		}
		if err := takeAckBack(ctx, e, k); err != nil {
			e.logger.Debug("acknowledgement not taken back yet", "chat", k.Message.Chat, "err", err)
		}
	}
}

// takeAckBack takes back a reaction, unless another run works on the message. The call was spared
// when the reaction was set.
func takeAckBack(ctx context.Context, e *Egress, k StoredAck) error {
	chat := k.Message.Chat
	if !mayReact(e, chat, time.Now()) {
		return nil // the next round comes
	}
	ctx, cancel := context.WithTimeout(ctx, min(ackLimit, e.o.SendLimit))
	defer cancel()
	release, err := e.acks.hold(ctx, ackTarget{chat, k.Message.Message})
	if err != nil {
		return err
	}
	defer release()
	all, err := e.o.Acks.Acks(ctx, e.account.Key()) // the agent may have reacted meanwhile
	if err != nil {
		return err
	}
	stands, shared := false, false
	for _, o := range all {
		same := o.Message == k.Message
		stands = stands || same && o.Run == k.Run
		shared = shared || same && o.Run != k.Run && !e.acks.over(o)
	}
	if !stands {
		return nil
	}
	if !shared {
		err = react(ctx, e, k.AckReaction, "")
		if kind := adapters.KindOf(err); err != nil && !kind.Permanent() && kind != adapters.Moved {
			return err
		}
	}
	return e.o.Acks.ForgetAcks(context.WithoutCancel(ctx), k.Message, k.Run)
}
