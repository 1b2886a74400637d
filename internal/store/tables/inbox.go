package tables

import (
	"context"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	// InboxColumns lists the columns that ScanInboxEntry scans before those of the event.
	InboxColumns engine.QueryText = `i.agent, i.circle, i.space, i.seq, i.event, i.root, i.depth, i.state, i.reason, i.attempts, i.crashes, i.cycle, i.not_before`
	// InboxRowsOfCycle selects the inbox rows of a cycle with their events.
	InboxRowsOfCycle engine.QueryText = `select ` + InboxColumns + `, ` + EventColumns + ` from inbox i
join events e on e.space = i.space and e.branch = 'main' and e.seq = i.seq
where i.cycle = $1 and i.cycle <> '' order by i.seq`
	// CountReadyRows counts the events of a space that wait for one agent or for any.
	CountReadyRows engine.QueryText = `select count(distinct i.seq) from inbox i join uplinks u on u.agent = i.agent and u.circle = i.circle and u.space = i.space
where u.space = $1 and ($2 = '' or u.agent = $2) and i.state = 'ready'`
	// AttemptsReason begins the reason of a row that is dead after too many attempts. The
	// stop reason of the last one follows.
	AttemptsReason = "attempts " // begins why a row is dead after them; the last one's stop reason follows
	// WaitColumns lists the columns that ScanWait scans.
	WaitColumns engine.QueryText = `cycle, agent, circle, space, thread, message, seq, call, who, people, need, root, depth, started, due, outcome, answers, options`
	// WaitsOfWake selects the waits whose end a cycle was given.
	WaitsOfWake engine.QueryText = `select ` + WaitColumns + ` from waits w where w.woke = $1 and w.woke <> '' order by w.started, w.cycle`
	// TimerColumns lists the columns that ScanTimer scans.
	TimerColumns engine.QueryText = `id, agent, circle, kind, space, note, due, cycle, plan, cron, zone, set_by, set_at, tries, look`
	// TimerPayers selects the people whose words set the timer that woke a cycle.
	TimerPayers engine.QueryText = `select t.payers from cycles y join timers t on t.id = y.timer where y.id = $1`
	// SenderTokens selects the tokens that a person has used on a day, and their cost.
	SenderTokens engine.QueryText = `select tokens, cost from senders where day = $1 and entity = $2`
)

// An InboxEntry is an inbox row with its event.
type InboxEntry struct {
	spaces.InboxRow
	Root    spaces.EventID
	Depth   int
	Subject spaces.Event
}

// Consumed returns the entry in the form of a wake.
func (e InboxEntry) Consumed() spaces.ConsumedRow {
	return spaces.ConsumedRow{Event: e.Event, Root: e.Root, Depth: e.Depth, At: e.Seq}
}

// ScanInboxEntry scans the columns InboxColumns and EventColumns.
func ScanInboxEntry(r engine.ResultRow) (e InboxEntry, err error) {
	var s StoredEvent
	err = r.Scan(append([]any{
		&e.Mind.Agent, &e.Mind.Circle, &e.Space, &e.Seq, &e.Event, &e.Root, &e.Depth, &e.State,
		&e.Reason, &e.Attempts, &e.Crashes, &e.Cycle,
		engine.ScanTime(&e.NotBefore),
	}, s.Fields()...)...)
	if err != nil {
		return e, err
	}
	e.Subject, err = s.Decode()
	return e, err
}

// ScanWait scans the columns WaitColumns.
func ScanWait(r engine.ResultRow) (w spaces.PendingWait, err error) {
	return w, r.Scan(&w.Cycle, &w.Mind.Agent, &w.Mind.Circle, &w.Space, &w.Thread, &w.Message, &w.Seq, &w.Call, engine.ScanList(&w.Who), &w.People, &w.Need,
		&w.Root, &w.Depth, engine.ScanTime(&w.Started), engine.ScanTime(&w.Due), &w.Outcome, engine.ScanList(&w.Answers), engine.ScanList(&w.Options))
}

// ScanTimer scans the columns TimerColumns.
func ScanTimer(r engine.ResultRow) (t spaces.WakeTimer, err error) {
	var look []spaces.TimerLook
	err = r.Scan(&t.ID, &t.Mind.Agent, &t.Mind.Circle, &t.Kind, &t.Space, &t.Note, engine.ScanTime(&t.Due), &t.Cycle, &t.Plan, &t.Cron, &t.Zone, &t.SetBy, engine.ScanTime(&t.SetAt), &t.Tries, engine.ScanList(&look))
	if len(look) > 0 {
		t.Look = look[0]
	}
	return t, err
}

// QueryTimer returns the timer that a query finds by an id; nil if there is none.
func QueryTimer(ctx context.Context, src engine.QueryReader, text engine.QueryText, id string) (*spaces.WakeTimer, error) {
	found, err := engine.AllRows(ctx, src, text, []any{id}, ScanTimer)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], RedactNotes(ctx, src, found)
}

// RedactNotes removes deleted words from the notes and looks of the timers of one mind.
func RedactNotes(ctx context.Context, src engine.QueryReader, timers []spaces.WakeTimer) error {
	if len(timers) == 0 {
		return nil
	}
	redactor, err := LoadRedactor(ctx, src, timers[0].Mind)
	for i := range timers {
		timers[i].Note, timers[i].Look.Args = redactor.Words.Text(timers[i].Note), redactor.Words.Text(timers[i].Look.Args)
	}
	return err
}
