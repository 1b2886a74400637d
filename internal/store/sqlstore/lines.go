package sqlstore

import (
	"context"
	"fmt"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	selectBranch engine.Query = `select from_branch, fork_seq, head, head_seq, chain, last_at from branches where space = $1 and id = $2`
	insertBranch engine.Query = `insert into branches (space, id, from_branch, fork_seq, head, head_seq, chain, last_at)
values ($1, $2, $3, $4, $5, $6, $7, $8)`
	moveHead engine.Query = `update branches set head = $3, head_seq = $4, chain = $5, last_at = $6 where space = $1 and id = $2`
)

type branchKey struct {
	space  spaces.SpaceID
	branch spaces.BranchID
}

// A branchState is a branch as the writer has it, its head possibly ahead of the table.
type branchState struct {
	spaces.Branch
	lastAt int64 // when the head was recorded
	dirty  bool
}

// A branchTx reads and moves the heads of branches.
type branchTx struct {
	*writeTx
}

// line returns a branch, or nil when there is none.
func (t *branchTx) load(ctx context.Context, space spaces.SpaceID, branch spaces.BranchID) (*branchState, error) {
	key := branchKey{space, branch}
	if l, ok := t.cache.branches[key]; ok {
		return l, nil
	}
	l := &branchState{Branch: spaces.Branch{Space: space, ID: branch}}
	found, err := engine.ScanRow(ctx, t, selectBranch, []any{string(space), string(branch)},
		&l.From, &l.ForkSeq, &l.Head, &l.HeadSeq, &l.Chain, &l.lastAt)
	if err != nil {
		return nil, fmt.Errorf("read branch %s of %s: %w", branch, space, err)
	}
	if !found {
		return nil, nil
	}
	t.cache.branches[key] = l
	return l, nil
}

// newLine stores a branch that did not exist.
func (t *branchTx) create(ctx context.Context, b spaces.Branch) error {
	err := t.Run(ctx, insertBranch, string(b.Space), string(b.ID), string(b.From), b.ForkSeq, string(b.Head), b.HeadSeq, engine.NonNilBytes(b.Chain), 0)
	if err != nil {
		return fmt.Errorf("create branch %s of %s: %w", b.ID, b.Space, err)
	}
	t.cache.branches[branchKey{b.Space, b.ID}] = &branchState{Branch: b}
	return nil
}

// move makes e the head of the line. The table follows at the end of the job.
func (t *branchTx) setHead(l *branchState, e spaces.Event) {
	l.Head, l.HeadSeq, l.lastAt = e.ID, e.Seq, engine.ToMillis(e.RecvAt)
	if !l.dirty {
		l.dirty = true
		t.cache.movedBranches = append(t.cache.movedBranches, l)
	}
}
