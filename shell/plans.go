package shell

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/cron"
	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/internal/timezone"
	"github.com/trestle-bridge/trestle/spaces"
)

// What a mind may plan.
const (
	mostPlans    = 50              // that wait at one time, timers included
	leastBetween = 5 * time.Minute // two firings of one plan
	farthestPlan = 5 * 366 * 24 * time.Hour
)

type remind struct {
	Note     string `json:"note" jsonschema:"what to do then"`
	At       string `json:"at,omitempty" jsonschema:"by the clock of who asks: 2026-01-31 09:00"`
	In       string `json:"in,omitempty" jsonschema:"or: 20m, 2h, 3d"`
	Cron     string `json:"cron,omitempty" jsonschema:"or: 0 9 * * 1"`
	Space    string `json:"space,omitempty" jsonschema:"default: the active one"`
	Timezone string `json:"timezone,omitempty" jsonschema:"if they named another"`
	Look     string `json:"look_first,omitempty" jsonschema:"wake only if this finds something: new messages, or a tool that reads: NAME {args}"`
}

func (a remind) perform(s *stepContext) toolResult {
	if out := s.roomForPlans(1); !out.ok {
		return out
	}
	about := s.about()
	if a.Space != "" {
		room, out := s.room(a.Space)
		if room == nil {
			return out
		}
		about = room.ID()
	}
	t, out := a.timer(s, about)
	if !out.ok {
		return out
	}
	if t.Look, out = a.look(s, about); !out.ok {
		return out
	}
	s.timers = append(s.timers, t)
	out = s.done(map[string]any{"id": hud.Handle(t.Plan), "due": hud.ClockIn(t.Due), "in": roughly(t.Due.Sub(s.now))})
	if t.Cron != "" {
		out.body["cron"] = t.Cron
	}
	return out
}

// timer returns the timer that the reminder becomes, due by the clocks of its time zone.
func (a remind) timer(s *stepContext, about spaces.SpaceID) (spaces.WakeTimer, toolResult) {
	zone := s.clockOf(s.asker(), about)
	if a.Timezone != "" {
		named, err := timezone.Find(a.Timezone)
		if err != nil {
			return spaces.WakeTimer{}, s.deny("bad_timezone", err.Error()+".", "Leave timezone out for the clock of the person who asks.")
		}
		zone = named
	}
	due, out := a.due(s, s.now.In(zone))
	id := "p" + s.newID()
	t := spaces.WakeTimer{
		ID: s.newID(), Mind: s.wake.Cycle.Mind, Kind: spaces.TimerPlan, Space: about, Note: a.Note, Due: due, Cycle: s.wake.Cycle.ID,
		Plan: id, Cron: a.Cron, SetBy: s.asker(), SetAt: s.now,
	}
	if zone != time.Local {
		t.Zone = zone.String()
	}
	return t, out
}

// due returns when the reminder is due first, in the location of now.
func (a remind) due(s *stepContext, now time.Time) (due time.Time, out toolResult) {
	const form = "Give one of at, such as 2026-01-31 09:00, in, such as 20m, and cron, such as 0 9 * * 1."
	given := 0
	for _, when := range []string{a.At, a.In, a.Cron} {
		if when != "" {
			given++
		}
	}
	switch {
	case strings.TrimSpace(a.Note) == "":
		return due, s.deny("empty_text", "A reminder needs a note of what to do.", "")
	case given != 1:
		return due, s.deny("bad_reminder", "A reminder needs one time.", form)
	case a.Cron != "":
		return a.recurs(s, now, form)
	case a.In != "":
		after, ok := readSpan(a.In)
		if !ok {
			return due, s.deny("bad_reminder", "in is no length of time.", form)
		}
		due = now.Add(after)
	default:
		var ok bool
		if due, ok = moment(a.At, now); !ok {
			return due, s.deny("bad_reminder", "at is no time.", form)
		}
	}
	switch left := due.Sub(now); {
	case left <= 0:
		return due, s.deny("bad_reminder", "That time is over: it is "+hud.ClockIn(now)+".", form)
	case left > farthestPlan:
		return due, s.deny("bad_reminder", "That is more than five years away.", form)
	case s.tooSoon(left):
		return due, s.deny("too_soon", "A reminder woke you: the next is a minute away or more.", "Or do it now.")
	}
	return due, toolResult{ok: true}
}

// recurs returns when a reminder that recurs is due first.
func (a remind) recurs(s *stepContext, now time.Time, form string) (due time.Time, out toolResult) {
	apart, err := cron.ShortestInterval(a.Cron, now)
	if err != nil {
		return due, s.deny("bad_reminder", "cron cannot be read: "+err.Error()+".", form)
	}
	if apart < leastBetween {
		return due, s.deny("bad_reminder", fmt.Sprintf("A reminder recurs every %d minutes at most.", leastBetween/time.Minute), form)
	}
	due, err = cron.NextTime(a.Cron, now)
	if err != nil {
		return due, s.deny("bad_reminder", "cron cannot be read: "+err.Error()+".", form)
	}
	return due, toolResult{ok: true}
}

// asker returns who asked for what the agent does now: the newest person whose words woke
// it, or whom the timer that did was set for; empty without one.
func (s *stepContext) asker() spaces.EntityID {
	for _, e := range slices.Backward(s.wake.Events) {
		if _, agent := e.Actor.IsAgent(); e.Actor != "" && !agent {
			return e.Actor
		}
	}
	if s.wake.Timer != nil {
		return s.wake.Timer.SetBy
	}
	return ""
}

// clockOf returns the time zone of a person where it is known, else that of a room, else
// that of the process.
func (s *stepContext) clockOf(who spaces.EntityID, room spaces.SpaceID) *time.Location {
	for i := range s.view.Seats {
		for _, m := range s.view.Seats[i].Room.Members() {
			if in := timezone.Named(m.Zone); who != "" && m.ID == who && in != nil {
				return in
			}
		}
	}
	if seat := s.view.Seat(room); seat != nil && seat.Zone != nil {
		return seat.Zone
	}
	return s.now.Location()
}

type plan struct {
	Cron  string `json:"cron,omitempty" jsonschema:"when it recurs, such as 0 9 * * 1"`
	At    string `json:"at,omitempty" jsonschema:"or once, such as 2026-01-31 09:00"`
	Note  string `json:"note" jsonschema:"what to do then"`
	Space string `json:"space,omitempty" jsonschema:"it is about; default: the active one"`
}

func (a plan) perform(s *stepContext) toolResult {
	return remind{Note: a.Note, At: a.At, Cron: a.Cron, Space: a.Space}.perform(s)
}

// roomForPlans refuses so many more plans and timers when they would be too many.
func (s *stepContext) roomForPlans(more int) toolResult {
	if n := len(s.view.Plans) + len(s.timers); n+more > mostPlans {
		return s.deny("too_many_plans", fmt.Sprintf("You have %d reminders already, and may have %d.", n, mostPlans), "forget those you do not need; look plans shows them.")
	}
	return toolResult{ok: true}
}

// defaultHour is when a reminder for a day without a time is due.
const defaultHour = 9

// moment reads a time. One without a zone is by the clocks of now's location; a time of
// day alone is the next one, and a day alone is nine o'clock on it.
func moment(text string, now time.Time) (time.Time, bool) {
	text = strings.TrimSpace(text)
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t.In(now.Location()), true
	}
	for _, layout := range []string{"2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02T15:04:05", "Mon 2006-01-02 15:04", "2006-01-02 3:04 PM", "2006-01-02 3 PM"} {
		if t, err := time.Parse(layout, text); err == nil {
			return cron.FirstMoment(t, now.Location()), true
		}
	}
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		return cron.FirstMoment(t.Add(defaultHour*time.Hour), now.Location()), true
	}
	for _, layout := range []string{"15:04", "15:04:05", "3:04 PM", "3:04PM", "3 PM", "3PM"} {
		t, err := time.Parse(layout, strings.ToUpper(text))
		if err != nil {
			continue
		}
		for day := range 2 {
			wall := time.Date(now.Year(), now.Month(), now.Day()+day, t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
			if due := cron.FirstMoment(wall, now.Location()); due.After(now) {
				return due, true
			}
		}
	}
	return time.Time{}, false
}

// spanPart is a number with the unit of a length of time.
var spanPart = regexp.MustCompile(`(?i)(\d+(?:\.\d+)?)\s*(seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d|weeks?|w)\b[\s,]*(?:and\s+)?`)

// readSpan reads a length of time as models write it: 20m, 2h30m, 3d, 90 minutes.
func readSpan(text string) (time.Duration, bool) {
	text = strings.TrimSpace(text)
	text = strings.TrimSpace(strings.TrimPrefix(strings.ToLower(text), "in "))
	if d, err := time.ParseDuration(strings.ReplaceAll(text, " ", "")); err == nil {
		return d, d > 0
	}
	sum := time.Duration(0)
	for text != "" {
		m := spanPart.FindStringSubmatchIndex(text)
		if m == nil || m[0] != 0 {
			return 0, false
		}
		n, err := strconv.ParseFloat(text[m[2]:m[3]], 64)
		if err != nil || n > 1e6 {
			return 0, false
		}
		sum += time.Duration(n * float64(spanUnits[text[m[4]]]))
		text = text[m[1]:]
	}
	return sum, sum > 0
}

// spanUnits are the units of a length of time by their first letters.
var spanUnits = map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}

// roughly writes how long it is until something, by its two largest units.
func roughly(d time.Duration) string {
	days, hours, minutes := int(d/(24*time.Hour)), int(d/time.Hour)%24, int(d/time.Minute)%60
	switch {
	case days > 0 && hours > 0:
		return textformat.CountNoun(days, "day") + " " + textformat.CountNoun(hours, "hour")
	case days > 0:
		return textformat.CountNoun(days, "day")
	case hours > 0 && minutes > 0:
		return textformat.CountNoun(hours, "hour") + " " + textformat.CountNoun(minutes, "minute")
	case hours > 0:
		return textformat.CountNoun(hours, "hour")
	case minutes > 0:
		return textformat.CountNoun(minutes, "minute")
	}
	return textformat.CountNoun(int(d/time.Second), "second")
}

// schedule reads what the mind has planned, unless nothing can have changed.
// m.loading is held.
func (m *mind) schedule(ctx context.Context) error {
	plans, fresh, err := reread(m, &m.planned, func() ([]spaces.WakeTimer, error) { return m.shell.Record.Plans(ctx, m.id, 2*mostPlans) })
	if err != nil {
		return fmt.Errorf("plans of %s: %w", m.id, err)
	}
	for i := range plans {
		plans[i].Due = plans[i].Due.In(m.shell.clock(&plans[i]))
	}
	if fresh {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.plans = plans
	}
	return nil
}

// reread reads what a mind keeps of the record, unless it is known already, which it is
// from here on. m.loading is held; what else says that it is not known holds m.mu.
func reread[T any](m *mind, known *bool, read func() ([]T, error)) (all []T, fresh bool, err error) {
	m.mu.Lock()
	fresh, *known = !*known, true
	m.mu.Unlock()
	if !fresh {
		return nil, false, nil
	}
	if all, err = read(); err != nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		*known = false
	}
	return all, true, err
}

// replan has the mind's plans read again.
func (m *mind) replan() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.planned = false
}

// clock returns the location by whose clocks a timer is due.
func (s *Shell) clock(t *spaces.WakeTimer) *time.Location {
	if in := timezone.Named(t.Zone); in != nil {
		return in
	}
	return s.Now().Location()
}

// called is the line that wakes the agent for a timer: for whom it was set and where and
// when, and the next time of one that recurs. m.mu is held.
func (m *mind) called(t *spaces.WakeTimer, now time.Time) string {
	if t.Kind == spaces.TimerSleep {
		return "SLEEP OVER: " + hud.Quote(t.Note) + m.late(t, now)
	}
	line, clock := "REMINDER", m.shell.clock(t)
	if t.Plan != "" {
		line += " " + hud.Handle(t.Plan)
	}
	seat := m.seat(t.Space)
	if seat != nil && t.SetBy != "" {
		line += " set by " + seat.Room.Label(t.SetBy)
	} else if seat != nil {
		line += " set"
	}
	if seat != nil {
		line += " in " + seat.Short
	}
	if !t.SetAt.IsZero() {
		line += " on " + hud.ClockIn(t.SetAt.In(clock))
	}
	for i := range m.plans {
		if t.Plan != "" && m.plans[i].Plan == t.Plan {
			line += ", next " + hud.ClockIn(m.plans[i].Due)
		}
	}
	return line + ": " + hud.Quote(t.Note) + m.late(t, now)
}

// late says when a timer was due that fires more than a minute late.
func (m *mind) late(t *spaces.WakeTimer, now time.Time) string {
	if now.Sub(t.Due) <= time.Minute {
		return ""
	}
	return " (late: it was due " + hud.ClockIn(t.Due.In(m.shell.clock(t))) + ")"
}
