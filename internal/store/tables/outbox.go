package tables

import (
	"context"

	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/jobs"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	// ActionColumns lists the columns that ScanAction scans, of the table outbox o.
	ActionColumns engine.QueryText = `o.id, o.cycle, o.ordinal, o.kind, o.space, o.thread, o.event, o.account, o.chat, o.agent, o.text, o.target, o.policy,
  o.state, o.part, o.attempts, o.not_before, o.expires, o.created, o.refs, o.resent, o.code, o.reason, o.root, o.depth,
  o.voice, o.via, o.portrait, o.files, o.room_thread, o.draft, o.choices, o.recipient`
	// IsLaneHead is the condition that an action o is the oldest of its lane that is not
	// final. A lane is a thread of a chat; its actions are sent in order.
	IsLaneHead engine.QueryText = `not exists (select 1 from outbox p where p.account = o.account and p.chat = o.chat and p.thread = o.thread
  and p.n < o.n and p.state in ('ready', 'sending'))`
	// JobColumns lists the columns that ScanJob scans.
	JobColumns engine.QueryText = `id, kind, subject, args, state, want, done, total, unit, rate, cursor, note, until, error, holder, epoch,
  expires, created, started, updated, ended`
	selectJob engine.QueryText = `select ` + JobColumns + ` from jobs where id = $1`
)

// A StoredAction is an action with its outcome and the causal chain of its event.
type StoredAction struct {
	spaces.Action
	Reason string // of its outcome, for people
	Root   spaces.EventID
	Depth  int
}

// ScanAction scans the columns ActionColumns.
func ScanAction(r engine.ResultRow) (o StoredAction, err error) {
	var text []byte
	err = r.Scan(&o.ID, &o.Cycle, &o.Ordinal, &o.Kind, &o.Space, &o.Thread, &o.Event, &o.Account, &o.Chat, &o.Agent, &text, &o.Target,
		&o.Policy, &o.State, &o.Part, &o.Attempts, engine.ScanTime(&o.NotBefore), engine.ScanTime(&o.Expires), engine.ScanTime(&o.Created),
		engine.ScanList(&o.Refs), &o.Resent, &o.Code, &o.Reason, &o.Root, &o.Depth, &o.Voice, &o.Via, &o.Portrait, engine.ScanList(&o.Files), &o.RoomThread, &o.Draft, engine.ScanList(&o.Choices), &o.Recipient)
	o.Text, o.Problem = string(text), string(alerts.OfDelivery(o.Code))
	return o, err
}

// ScanJob scans the columns JobColumns.
func ScanJob(r engine.ResultRow) (j jobs.Job, err error) {
	return j, r.Scan(&j.ID, &j.Kind, &j.Subject, &j.Args, &j.State, &j.Want, &j.Done, &j.Total, &j.Unit, &j.Rate, &j.Cursor,
		&j.Note, engine.ScanTime(&j.Until), &j.Error, &j.Holder, &j.Epoch, engine.ScanTime(&j.Expires), engine.ScanTime(&j.Created), engine.ScanTime(&j.Started),
		engine.ScanTime(&j.Updated), engine.ScanTime(&j.Ended))
}

// JobByID returns a job, or [jobs.ErrUnknown].
func JobByID(ctx context.Context, src engine.QueryReader, id int64) (jobs.Job, error) {
	found, err := engine.FirstRow(ctx, src, selectJob, []any{id}, ScanJob)
	if err != nil {
		return jobs.Job{}, err
	}
	if found == nil {
		return jobs.Job{}, jobs.ErrUnknown
	}
	return *found, nil
}
