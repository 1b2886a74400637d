package readmodel

import (
	"bytes"
	"context"
	"fmt"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	allBranches engine.QueryText = `select b.space, b.id, b.from_branch, b.fork_seq, b.head, b.head_seq, b.chain, s.kind, s.agent_run
from branches b join spaces s on s.id = b.space order by b.space, b.from_branch <> '', b.id`
	wholeBranch engine.QueryText = `select ` + tables.EventColumns + `, e.n, e.chain from events e where e.space = $1 and e.branch = $2 order by e.seq`
	allMembers  engine.QueryText = `select entity, since from members where space = $1`
	allSent     engine.QueryText = `select id, account, chat, thread from outbox where state = 'sent' and kind = 'send' and agent <> '' order by account, chat, thread, n`
	allFailed   engine.QueryText = `select id, state from outbox where state in ('failed', 'expired', 'unknown', 'cancelled') and agent <> ''`
	allHumans   engine.QueryText = `select id from entities where kind = 'human'`
)

// A logAuditor walks every branch and keeps what other tables must agree with.
type logAuditor struct {
	src       engine.QueryReader
	found     []Violation
	ids       map[spaces.EventID]int64 // of the space being walked, with their seq
	humans    map[spaces.EntityID]bool
	delivered map[spaces.ActionID]int64 // position of its event in the table
	failed    map[spaces.ActionID]bool
}

// A branchEnd is what the branch table says.
type branchEnd struct {
	spaces.Branch
	kind spaces.SpaceKind
	run  int
}

// auditLog replays every branch and checks its order, parents and hashes, and the
// tables that are folded from it.
func auditLog(ctx context.Context, src engine.QueryReader) ([]Violation, error) {
	a := &logAuditor{
		src: src, humans: map[spaces.EntityID]bool{},
		delivered: map[spaces.ActionID]int64{}, failed: map[spaces.ActionID]bool{},
	}
	err := engine.EachRow(ctx, src, allHumans, nil, func(r engine.ResultRow) error {
		var id spaces.EntityID
		err := r.Scan(&id)
		a.humans[id] = true
		return err
	})
	if err != nil {
		return nil, err
	}
	branches, err := engine.AllRows(ctx, src, allBranches, nil, func(r engine.ResultRow) (b branchEnd, err error) {
		return b, r.Scan(&b.Space, &b.ID, &b.From, &b.ForkSeq, &b.Head, &b.HeadSeq, &b.Chain, &b.kind, &b.run)
	})
	if err != nil {
		return nil, err
	}
	for i, b := range branches {
		if i == 0 || branches[i-1].Space != b.Space {
			a.ids = map[spaces.EventID]int64{}
		}
		if err := a.branch(ctx, b); err != nil {
			return nil, err
		}
	}
	err = a.outcomes(ctx)
	return a.found, err
}

func (a *logAuditor) report(invariant, subject, format string, args ...any) {
	a.found = append(a.found, Violation{invariant, subject, fmt.Sprintf(format, args...)})
}

func (a *logAuditor) branch(ctx context.Context, b branchEnd) error {
	name := string(b.Space) + " " + string(b.ID)
	at, err := a.origin(ctx, b)
	if err != nil {
		return err
	}
	members, run := spaces.MemberList{}, 0
	err = engine.EachRow(ctx, a.src, wholeBranch, []any{string(b.Space), string(b.ID)}, func(r engine.ResultRow) error {
		var s tables.StoredEvent
		var chain []byte
		var n int64
		if err := r.Scan(append(s.Fields(), &n, &chain)...); err != nil {
			return err
		}
		e, err := s.Decode()
		if err != nil {
			return err
		}
		a.event(name, at, e, n)
		if want := spaces.Link(at.Chain, e, s.RawBody); !bytes.Equal(want, chain) {
			a.report("I11", name, "the hash of event %d does not follow from those before it", e.Seq)
		}
		at = spaces.Branch{Head: e.ID, HeadSeq: e.Seq, Chain: chain}
		members.Apply(e)
		run = a.runAfter(run, e)
		return nil
	})
	if err != nil {
		return err
	}
	if at.Head != b.Head || at.HeadSeq != b.HeadSeq || !bytes.Equal(at.Chain, b.Chain) {
		a.report("I11", name, "its head is %s at %d, the last event %s at %d", b.Head, b.HeadSeq, at.Head, at.HeadSeq)
	}
	if b.kind != spaces.Room || b.ID != spaces.Primary {
		return nil
	}
	if run != b.run {
		a.report("I12", name, "agents spoke %d times in a row, the table says %d", run, b.run)
	}
	return a.members(ctx, b.Space, members)
}

// origin returns where a branch begins: nowhere, or at its fork.
func (a *logAuditor) origin(ctx context.Context, b branchEnd) (at spaces.Branch, err error) {
	at.Chain = []byte{}
	if b.From == "" {
		return at, nil
	}
	at.HeadSeq = b.ForkSeq
	_, err = engine.ScanRow(ctx, a.src, tables.EventChainAt, []any{string(b.Space), string(b.From), b.ForkSeq}, &at.Head, &at.Chain)
	return at, err
}

func (a *logAuditor) event(name string, at spaces.Branch, e spaces.Event, n int64) {
	if e.Seq != at.HeadSeq+1 {
		a.report("I11", name, "event %d follows %d", e.Seq, at.HeadSeq)
	}
	for _, p := range e.Parents {
		if seq, ok := a.ids[p]; !ok || seq >= e.Seq {
			a.report("I11", name, "event %d has parent %s, which is not before it", e.Seq, p)
		}
	}
	a.ids[e.ID] = e.Seq
	// Only outcomes are compared with the outbox.
	if b, ok := e.Body.(spaces.ActionDelivered); ok {
		a.delivered[b.Action] = n
	}
	if b, ok := e.Body.(spaces.SendFailed); ok {
		a.failed[b.Action] = true
	}
}

func (a *logAuditor) runAfter(run int, e spaces.Event) int {
	if b, said := e.Body.(spaces.MessagePosted); !said || b.Past {
		return run
	}
	if _, ours := e.Actor.IsAgent(); ours {
		return run + 1
	}
	if a.humans[e.Actor] {
		return 0
	}
	return run
}

func (a *logAuditor) members(ctx context.Context, space spaces.SpaceID, want spaces.MemberList) error {
	got := spaces.MemberList{}
	err := engine.EachRow(ctx, a.src, allMembers, []any{string(space)}, func(r engine.ResultRow) error {
		var id spaces.EntityID
		var since int64
		err := r.Scan(&id, &since)
		got[id] = since
		return err
	})
	for id, since := range want {
		if got[id] != since {
			a.report("I12", string(space), "%s is a member since %d, the table says %d", id, since, got[id])
		}
		delete(got, id)
	}
	for id := range got {
		a.report("I12", string(space), "%s is a member in the table only", id)
	}
	return err
}

// outcomes compares the outbox with the events that tell of it, and the order
// in which a lane's messages were delivered with the order they were decided in.
func (a *logAuditor) outcomes(ctx context.Context) error {
	var last struct {
		lane string
		n    int64
	}
	err := engine.EachRow(ctx, a.src, allSent, nil, func(r engine.ResultRow) error {
		var id spaces.ActionID
		var account, chat, thread string
		if err := r.Scan(&id, &account, &chat, &thread); err != nil {
			return err
		}
		n, told := a.delivered[id]
		if !told {
			a.report("I6", string(id), "is sent and no event says so")
			return nil
		}
		if a.failed[id] {
			return nil // its outcome was unknown for a while; when it was told is no order
		}
		lane := account + " " + chat + " " + thread
		if lane == last.lane && n < last.n {
			a.report("I7", lane, "action %s was delivered before an earlier one", id)
		}
		last.lane, last.n = lane, n
		return nil
	})
	if err != nil {
		return err
	}
	return engine.EachRow(ctx, a.src, allFailed, nil, func(r engine.ResultRow) error {
		var id spaces.ActionID
		var state string
		if err := r.Scan(&id, &state); err != nil {
			return err
		}
		if !a.failed[id] {
			a.report("I6", string(id), "is %s and no event says so", state)
		}
		return nil
	})
}
