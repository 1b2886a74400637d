package shell

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/money"
	"github.com/trestle-bridge/trestle/spaces"
)

// afford ends the cycle when a cap is reached. It is asked before every call, so
// that a cap is passed by at most the calls under way (PRD-5.2, S13).
func (c *cycle) afford(ctx context.Context) (ended bool, err error) {
	detail, say, err := c.overdrawn(ctx)
	if err != nil || detail == "" {
		return err != nil, err
	}
	c.log.Warn("budget exhausted", "detail", detail)
	c.shell.publish("budget_warning", detail, c.facts("share", 100))
	cl := &spaces.CycleClose{Stop: spaces.StopBudget, Detail: detail}
	if say != "" {
		cl.Detail += " (TRS-M09)" // a day's budget, which operators are told of
		room := c.home()
		cl.Notices = []spaces.RoomNotice{{Room: room, Key: "budget|" + string(room) + "|" + c.shell.Now().UTC().Format(time.DateOnly), Text: say}}
		c.stop(cl)
		return true, c.commit(ctx, spaces.StepCommit{Close: cl, Timers: c.putOff()}, nil)
	}
	return true, c.close(ctx, cl)
}

// home is the room that the cycle is counted for: where it woke, or where the timer was
// set that woke it.
func (c *cycle) home() spaces.SpaceID {
	if t := c.wake.Timer; t != nil {
		return t.Space
	}
	return c.wake.Cycle.Space
}

// nextDay is how long after midnight what was put off is due: processes may differ in
// when that is.
const nextDay = time.Minute

// wasPutOff begins what the note of such a timer tells of it.
const wasPutOff = " (put off: it was due "

// putOff returns the timer that woke the cycle as it is to wake another on the next
// day. It is for one that the mind has not been shown, and nothing else will bring back:
// what recurs has its next time, and a mind that sleeps is to wake.
func (c *cycle) putOff() []spaces.WakeTimer {
	t := c.wake.Timer
	if t == nil || len(c.turns) > 0 || t.Cron != "" || t.Kind == spaces.TimerSleep {
		return nil
	}
	again, now := *t, c.shell.Now()
	again.ID, again.Due = c.shell.NewID(), now.UTC().Truncate(24*time.Hour).Add(24*time.Hour+nextDay)
	if !strings.Contains(t.Note, wasPutOff) {
		again.Note += wasPutOff + hud.ClockIn(t.Due.In(c.shell.clock(t))) + ", when the budget of the day was used up)"
	}
	return []spaces.WakeTimer{again}
}

// What a room is told, once a day, when a day's budget has ended a run there.
const (
	sayBudget = "I stop here: the budget for today is used up. Tomorrow (UTC) there is a new one."
	saySender = "I stop here: the budget for today of a person who asked is used up. Tomorrow (UTC) there is a new one."
)

// overdrawn returns which cap is reached, or "", and what the room is told of it.
func (c *cycle) overdrawn(ctx context.Context) (detail, say string, err error) {
	b, now := c.settings.Budget, c.shell.Now()
	used := c.usage.Used()
	c.warn("this cycle", used, b.Cycle)
	if b.Cycle.Reached(used) {
		return "this cycle has used " + b.Cycle.Compare(used), "", nil
	}
	if over, err := c.overMission(ctx); over != "" || err != nil {
		return over, "", err
	}
	if b.daily() {
		spent, err := c.shell.Record.Spent(ctx, now, c.mind.id.Agent, c.home())
		if err != nil {
			return "", "", fmt.Errorf("tokens spent: %w", err)
		}
		c.warn("the agent", spent.Agent, b.Agent)
		c.warn("this space", spent.Space, b.Space)
		c.warn("all agents", spent.All, b.All)
		if detail := overspent(spent, b); detail != "" {
			return detail, sayBudget, nil
		}
	}
	if b.Sender.Limited() {
		spent, err := c.shell.Record.SpentBySenders(ctx, now, c.wake.Cycle.ID)
		if err != nil {
			return "", "", fmt.Errorf("tokens spent by senders: %w", err)
		}
		c.warn("a sender", spent, b.Sender)
		if b.Sender.Reached(spent) {
			return "a sender used " + b.Sender.Compare(spent) + " today", saySender, nil
		}
	}
	return "", "", nil
}

// nearly is the share of a budget, in percent, at which people are warned.
const nearly = 80

// warn says once a cycle that a budget is nearly spent.
func (c *cycle) warn(whose string, used money.UsedTokens, limit money.SpendLimit) {
	share := limit.Share(used)
	if c.warned || limit.Reached(used) || share < nearly {
		return
	}
	c.warned = true
	c.shell.publish("budget_warning", whose+" used "+limit.Compare(used), c.facts("share", share))
}

// overspent returns which daily budget is used up, or "".
func overspent(spent UsageToday, b BudgetLimits) string {
	for _, c := range []struct {
		who   string
		used  money.UsedTokens
		limit money.SpendLimit
	}{{"the agent", spent.Agent, b.Agent}, {"this space", spent.Space, b.Space}, {"all agents", spent.All, b.All}} {
		if c.limit.Reached(c.used) {
			return c.who + " used " + c.limit.Compare(c.used) + " today"
		}
	}
	return ""
}
