package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	spokenAfter engine.QueryText = `select exists (select 1 from events where space = $1 and branch = 'main' and seq > $2 and thread = $3
  and kind in ('said', 'edited', 'deleted') and actor <> $4)`
	insertAction engine.QueryText = `insert into outbox (id, cycle, ordinal, kind, space, thread, event, root, depth, account, chat, agent, text,
  target, policy, state, attempts, expires, created, files, room_thread, draft, choices)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23)`
	laneBusy engine.QueryText = `select exists (select 1 from outbox where account = $1 and chat = $2 and thread = $3 and state in ('ready', 'sending'))`
)

// storeEffects stores the agent's effects as events of their spaces, with one action for
// every chat of the space.
func (k *stepTx) storeEffects(ctx context.Context) error {
	for _, f := range k.commit.Effect {
		if err := k.storeEffect(ctx, f); err != nil {
			return fmt.Errorf("%s in %s: %w", f.Kind, f.Space, err)
		}
	}
	return nil
}

func (k *stepTx) storeEffect(ctx context.Context, f spaces.RoomEffect) error {
	if f.Branch != "" && f.Branch != spaces.Primary {
		return k.appendRehearsed(ctx, f)
	}
	l, err := k.branch.load(ctx, f.Space, spaces.Primary)
	if err != nil {
		return err
	}
	if l == nil {
		return engine.ErrUnknown
	}
	if err := k.checkNotStale(ctx, l, f); err != nil {
		return err
	}
	if err := k.checkAgentRun(ctx, f); err != nil {
		return err
	}
	e := k.effectEvent(f, spaces.Primary)
	if f.Kind == spaces.ActSend {
		k.sent++
	}
	if f.Seen > 0 && f.Seen < l.HeadSeq {
		seen, err := k.branch.idAt(ctx, l, f.Seen)
		if err != nil {
			return err
		}
		e.Parents = []spaces.EventID{seen}
	}
	if err := k.event.append(ctx, &e); err != nil {
		return err
	}
	k.result.Events = append(k.result.Events, e)
	if f.Kind == spaces.ActSend && (f.Feedback == spaces.FeedbackReactions || f.Feedback == spaces.FeedbackButtons) {
		if err := k.Run(ctx, insertRateable, string(e.ID), string(e.Space), string(k.mind.Agent), string(k.commit.Step.Cycle), engine.ToMillis(e.At)); err != nil {
			return fmt.Errorf("store that %s may be rated: %w", e.ID, err)
		}
	}
	if err := k.storeWait(ctx, f.Wait, e); err != nil {
		return err
	}
	minds, err := k.inbox.deliver(ctx, e)
	if err != nil {
		return err
	}
	over, err := k.wait.settleByEvent(ctx, e, f.Wait)
	if err != nil {
		return err
	}
	k.result.Wakes = append(k.result.Wakes, over...)
	for _, m := range minds {
		k.result.Wakes = append(k.result.Wakes, spaces.PendingWork{Mind: m, Space: e.Space, Since: k.commit.At})
	}
	return k.queueActions(ctx, f, e)
}

// effectEvent returns the event of an effect on a branch of its space.
func (k *stepTx) effectEvent(f spaces.RoomEffect, branch spaces.BranchID) spaces.Event {
	e := spaces.Event{
		ID: f.ID, Space: f.Space, Branch: branch, Object: spaces.ChatObject, Thread: f.Thread,
		Actor: k.mind.Agent.Entity(), At: k.commit.At, RecvAt: k.commit.At,
		Cause: f.Chain.Cause, Root: f.Chain.Root, Depth: f.Chain.Depth, Body: effectBody(f),
	}
	if f.Kind == spaces.ActSend {
		e.ReplyTo = f.Target
	}
	return e
}

// checkNotStale fails if another member has spoken in the thread since the agent looked.
func (k *stepTx) checkNotStale(ctx context.Context, l *branchState, f spaces.RoomEffect) error {
	if !f.Strict || l.HeadSeq <= f.Seen {
		return nil
	}
	spoken, err := engine.QueryBool(ctx, k, spokenAfter, string(f.Space), f.Seen, string(f.Thread), string(k.mind.Agent.Entity()))
	if err == nil && spoken {
		err = spaces.ErrStale
	}
	return err
}

// checkAgentRun fails if agents have sent their maximum of messages since a person last
// spoke. The gate checks it before the cycle; of several cycles that run at once this
// check stops the later ones.
func (k *stepTx) checkAgentRun(ctx context.Context, f spaces.RoomEffect) error {
	if f.Kind != spaces.ActSend || f.MaxRun == 0 {
		return nil
	}
	r, err := k.space.load(ctx, f.Space)
	if err != nil {
		return err
	}
	if r.AgentRun >= f.MaxRun {
		return spaces.ErrAgentRun
	}
	return nil
}

// queueActions queues the effect once for every reachable chat.
func (k *stepTx) queueActions(ctx context.Context, f spaces.RoomEffect, e spaces.Event) error {
	r, err := k.space.load(ctx, f.Space)
	if err != nil {
		return err
	}
	policy := cmp.Or(f.Policy, spaces.ResendOnce)
	for n, c := range r.chats {
		if r.reachedBefore(n) {
			continue
		}
		thread, rooms, err := k.thread.inChat(ctx, r, f.Thread, c)
		if err != nil {
			return err
		}
		a := spaces.Action{
			ID: spaces.ActionID(k.newID()), Cycle: k.commit.Step.Cycle, Ordinal: k.ordinal, Kind: f.Kind, Space: f.Space, Thread: thread, RoomThread: rooms,
			Event: e.ID, Account: c.account, Chat: c.id, Agent: k.mind.Agent, Text: f.Text, Files: f.Files, Choices: choicesOf(k.commit.Step.Cycle, f), Target: f.Target, Policy: policy,
			State: spaces.ActionReady, Expires: f.Expires, Created: engine.FromMillis(engine.ToMillis(k.commit.At)),
		}
		if err := k.takeOverDraft(ctx, f, &a); err != nil {
			return err
		}
		if err := k.sendDirectly(ctx, &a, e); err != nil {
			return err
		}
		err = k.Add(ctx, actionRows, string(a.ID), string(a.Cycle), a.Ordinal, string(a.Kind), string(a.Space), string(a.Thread),
			string(a.Event), string(e.Root), e.Depth, a.Account, a.Chat, string(a.Agent), []byte(a.Text),
			string(a.Target), string(a.Policy), string(a.State), a.Attempts, k.SharedMillis(a.Expires), engine.ToMillis(a.Created), engine.EncodeList(a.Files), string(a.RoomThread), string(a.Draft), engine.EncodeList(a.Choices))
		if err != nil {
			return fmt.Errorf("put action into outbox: %w", err)
		}
		k.ordinal++
	}
	return nil
}

// reachedBefore reports whether an account before the n-th chat reaches the same chat:
// of two accounts in one chat only the first sends.
func (r *spaceState) reachedBefore(n int) bool {
	return slices.ContainsFunc(r.chats[:n], func(o chatState) bool { return r.sameChat(o, r.chats[n]) })
}

// sameChat reports whether two accounts reach one chat. Direct chats of several accounts
// with one person may share an id and are different chats.
func (r *spaceState) sameChat(a, b chatState) bool {
	return a.id == b.id && (a.account == b.account || !r.Direct && platformOf(a.account) == platformOf(b.account))
}

// sendDirectly marks the action as being sent in this commit if its lane is empty and
// this process sends it at once. An action that a crash must not repeat waits until it
// is claimed.
func (k *stepTx) sendDirectly(ctx context.Context, a *spaces.Action, root spaces.Event) error {
	busy := a.Policy != spaces.ResendOnce || k.commit.Leaves == nil
	if !busy {
		var err error
		if busy, err = engine.QueryBool(ctx, k.apartFromChat(a.Account, a.Chat), laneBusy, a.Account, a.Chat, string(a.Thread)); err != nil {
			return err
		}
	}
	if !busy && k.commit.Leaves(*a) {
		a.State, a.Attempts = spaces.ActionSending, 1
		k.result.Leaving = append(k.result.Leaving, *a)
		k.cache.recent.sending[a.ID] = tables.StoredAction{Action: *a, Root: root.Root, Depth: root.Depth}
		return nil
	}
	k.result.Waiting = engine.AppendNew(k.result.Waiting, a.Account)
	return nil
}

// apartFromChat returns where to read what was queued for a chat: of actions that were added
// and are not stored yet, none may be of it.
func (k *stepTx) apartFromChat(account, chat string) engine.QueryReader {
	queued := slices.ContainsFunc(k.Added(actionRows), func(r []any) bool { return r[9] == account && r[10] == chat })
	if queued || slices.ContainsFunc(k.Added(settledRows), func(r []any) bool { return r[2] == chat }) {
		return k
	}
	return k.Stored()
}

// effectBody returns the body of the event of an effect.
func effectBody(f spaces.RoomEffect) spaces.EventBody {
	switch f.Kind {
	case spaces.ActSend:
		said := spaces.MessagePosted{Text: f.Text, Mentions: f.Mention, Broadcast: f.Broadcast, Origin: f.Origin}
		for _, file := range f.Files {
			said.Attachments = append(said.Attachments, file.FileAttachment)
		}
		return said
	case spaces.ActEdit:
		return spaces.MessageEdited{Target: f.Target, Text: f.Text}
	case spaces.ActDelete:
		return spaces.MessageDeleted{Target: f.Target}
	case spaces.ActReact:
		return spaces.ReactionAdded{Target: f.Target, Emoji: f.Text}
	}
	panic("store: effect of unknown kind " + string(f.Kind))
}
