package readmodel

import (
	"context"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/engine"
)

// A Violation is a row that breaks an invariant of the database.
type Violation struct {
	Invariant string // I2 … I15
	Subject   string // what it is about
	Detail    string
}

// String returns the finding as one line.
func (f Violation) String() string { return f.Invariant + " " + f.Subject + ": " + f.Detail }

// A violationQuery is a query for what must not be: its rows are a subject and a detail.
type violationQuery struct {
	invariant string
	rows      engine.QueryText
}

const (
	sourceTwice engine.QueryText = `select space || ' ' || source, 'recorded ' || count(*) || ' times' from events
where source is not null group by space, source having count(*) > 1`
	unseenEvent engine.QueryText = `select u.agent || '/' || u.circle || ' ' || e.space, e.kind || ' ' || e.seq || ' has no row' from uplinks u
join events e on e.space = u.space and e.branch = 'main'
where u.live = 1 and e.kind in ('said', 'edited', 'deleted', 'reacted', 'unreacted') and e.actor <> 'agent:' || u.agent
  and e.seq >= (select min(s.from_seq) from spans s where s.agent = u.agent and s.circle = u.circle and s.space = u.space)
  and not exists (select 1 from uplinks v join inbox i on i.agent = v.agent and i.circle = v.circle and i.space = v.space and i.seq = e.seq
    where v.agent = u.agent and v.space = e.space)
  and not exists (select 1 from events l where l.space = e.space and l.branch = 'main' and l.seq < e.seq and l.kind = 'left' and l.actor = 'agent:' || u.agent
    and not exists (select 1 from events j where j.space = l.space and j.branch = 'main' and j.seq > l.seq and j.seq < e.seq
      and j.kind = 'joined' and j.actor = l.actor))`
	rowWithoutEvent engine.QueryText = `select i.agent || '/' || i.circle || ' ' || i.space || ' ' || i.seq, 'row has no event' from inbox i
where not exists (select 1 from events e where e.space = i.space and e.branch = 'main' and e.seq = i.seq and e.id = i.event)`
	rowAstray engine.QueryText = `select i.agent || '/' || i.circle || ' ' || i.space || ' ' || i.seq,
  i.state || ' by cycle ' || i.cycle || ' that is ' || coalesce(y.state, 'missing') from inbox i left join cycles y on y.id = i.cycle
where (i.state = 'claimed' and coalesce(y.state, '') <> 'open') or (i.state = 'consumed' and coalesce(y.state, '') <> 'closed')`
	ordinalGap engine.QueryText = `select cycle, 'has ' || count(*) || ' actions and ordinals up to ' || max(ordinal) from outbox
where cycle <> '' group by cycle having count(*) <> max(ordinal) + 1 or min(ordinal) <> 0`
	actionWithoutEvent engine.QueryText = `select o.id, 'its event ' || o.event || ' is not in the record' from outbox o
where o.cycle <> '' and not exists (select 1 from events e where e.id = o.event)`
	stepUndone engine.QueryText = `select s.cycle, 'step ' || s.n || ' is ' || s.state || ' in a closed cycle' from steps s
join cycles y on y.id = s.cycle where y.state = 'closed' and s.state <> 'done'`
	turnGap engine.QueryText = `select y.id, 'has ' || y.turns || ' turns, stored are ' || count(t.n) from cycles y
left join turns t on t.cycle = y.id group by y.id having count(t.n) <> y.turns or coalesce(max(t.n), -1) <> y.turns - 1`
	numberGap engine.QueryText = `select agent || '/' || circle, 'has ' || count(*) || ' closed cycles and numbers up to ' || max(n) from cycles
where n is not null group by agent, circle having count(*) <> max(n)`
	actionOverdue engine.QueryText = `select id, 'is ' || state || ' past its expiry' from outbox
where state in ('ready', 'sending') and expires > 0 and expires + 60000 < $1`
	sentLate engine.QueryText = `select id, 'was settled as sent long after its expiry' from outbox
where state = 'sent' and expires > 0 and settled > expires + 120000 and cast($1 as bigint) > 0`
	epochFell engine.QueryText = `select y.id, 'has epoch ' || y.epoch || ', its lease only ' || coalesce(l.epoch, 0) from cycles y
left join leases l on l.agent = y.agent and l.circle = y.circle and l.space = y.space where y.epoch > coalesce(l.epoch, 0)`
	usageLost engine.QueryText = `select y.id, 'counts ' || y.prompt || '+' || y.output || ' tokens, its steps ' || sum(s.prompt) || '+' || sum(s.output)
from cycles y join steps s on s.cycle = y.id group by y.id having sum(s.prompt) <> y.prompt or sum(s.output) <> y.output`
	dayLost engine.QueryText = `select 'usage', 'days count ' || d.n || ' tokens, steps ' || s.n
from (select coalesce(sum(prompt + output), 0) as n from usage where agent <> '') d, (select coalesce(sum(prompt + output), 0) as n from steps) s where d.n <> s.n`
	timerTwice engine.QueryText = `select fired_by, 'was woken by ' || count(*) || ' timers' from timers
where fired_by <> '' group by fired_by having count(*) > 1`
	waitAstray engine.QueryText = `select cycle, 'waits: ' || state || ', outcome ' || outcome || ', woke ' || woke from waits
where (state = 'open' and outcome <> '') or (state = 'over' and outcome = '')
  or (woke <> '' and not exists (select 1 from cycles c where c.id = waits.woke))`
	messageWithoutEvent engine.QueryText = `select m.account || ' ' || m.chat || ' ' || m.message, 'is of no event' from messages m
where m.event <> '' and not exists (select 1 from events e where e.id = m.event)`
)

var violationQueries = []violationQuery{
	{"I2", sourceTwice},
	{"I3", unseenEvent},
	{"I3", rowWithoutEvent},
	{"I4", rowAstray},
	{"I5", ordinalGap},
	{"I5", actionWithoutEvent},
	{"I5", stepUndone},
	{"I5", turnGap},
	{"I5", numberGap},
	{"I6", actionOverdue},
	{"I8", epochFell},
	{"I9", sentLate},
	{"I12", usageLost},
	{"I12", dayLost},
	{"I12", messageWithoutEvent},
	{"I15", timerTwice},
	{"I15", waitAstray},
}

// AuditDatabase returns every violation of an invariant that it finds in a database. It
// reads all tables, in one read-only snapshot.
func AuditDatabase(ctx context.Context, e engine.DatabaseEngine, at time.Time) ([]Violation, error) {
	var found []Violation
	err := e.View(ctx, func(ctx context.Context, src engine.QueryReader) error {
		for _, b := range violationQueries {
			var args []any
			if b.rows == actionOverdue || b.rows == sentLate {
				args = []any{engine.ToMillis(at)}
			}
			err := engine.EachRow(ctx, src, b.rows, args, func(r engine.ResultRow) error {
				f := Violation{Invariant: b.invariant}
				if err := r.Scan(&f.Subject, &f.Detail); err != nil {
					return err
				}
				found = append(found, f)
				return nil
			})
			if err != nil {
				return fmt.Errorf("check %s: %w", b.invariant, err)
			}
		}
		inLog, err := auditLog(ctx, src)
		found = append(found, inLog...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	return found, nil
}
