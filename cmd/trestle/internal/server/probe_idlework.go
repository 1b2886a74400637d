package server

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/config"
)

const (
	// idleLong is how long work may be due before it is reported as not taken up.
	idleLong = 2 * time.Minute
	// idleWatched is how long this process must have observed the work: work that piled up
	// while nothing ran, or by another clock, is not idle yet.
	idleWatched = 30 * time.Second
)

// An idleWork is one observation of due work.
type idleWork struct {
	alerts.Observation
	mark string // of the oldest of it
}

// idleTracker remembers due work over several observations. Its methods may be called
// concurrently.
type idleTracker struct {
	mu   sync.Mutex // guards what follows
	seen map[idleWork]time.Time
	told []alerts.Observation
}

// look stores what is due now, and returns the work that has been due and observed for long
// enough.
func (l *idleTracker) look(now time.Time, due []idleWork) []alerts.Observation {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.seen
	l.seen, l.told = map[idleWork]time.Time{}, nil
	for _, d := range due {
		key := d
		key.Evidence = ""
		first, known := before[key]
		if !known {
			first = now
		}
		l.seen[key] = first
		if now.Sub(first) >= idleWatched {
			l.told = append(l.told, d.Observation)
		}
	}
	return slices.Clone(l.told)
}

// of returns the last evidence of a code and a subject; for an empty subject, of any, with its
// name.
func (l *idleTracker) of(code alerts.ProblemCode, subject string) (evidence string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.told, func(s alerts.Observation) bool { return s.Code == code && (subject == "" || s.Subject == subject) })
	switch {
	case i < 0:
		return ""
	case subject == "":
		return l.told[i].Subject + ", " + l.told[i].Evidence
	}
	return l.told[i].Evidence
}

// probeIdleWork observes due work that this process could take up, that no process takes up,
// and that nothing known holds back.
func (mon *processMonitor) probeIdleWork() alerts.ConditionProbe {
	return alerts.ConditionProbe{Codes: []alerts.ProblemCode{alerts.NotTaken, alerts.NotSent}, See: func(ctx context.Context) ([]alerts.Observation, error) {
		now := time.Now()
		if mon.Store == nil || !mon.Boot.Report().TrustPassed || len(mon.storeComponents(now)) > 0 {
			return mon.idle.look(now, nil), nil
		}
		found, err := mon.Store.Problems().Idle(ctx, now.Add(idleWatched-idleLong), now)
		if err != nil {
			return nil, err
		}
		return mon.idle.look(now, slices.Concat(mon.idleAgents(found.Minds), mon.idleAccounts(found.Queues))), nil
	}}
}

// idleAgents returns the agents whose work no process takes up, if this process runs minds. A
// mind with as many open runs as allowed is busy.
func (mon *processMonitor) idleAgents(minds []alerts.UnclaimedMind) (all []idleWork) {
	c := mon.Config()
	if !mon.scheduled.Load() || !c.HasRole(config.RoleMinds) {
		return nil
	}
	agents := map[string]alerts.UnclaimedMind{}
	var names []string
	for _, m := range minds {
		agent, there := c.Agent(m.Agent)
		if !there || agent.Misconfigured || m.Runs > 0 && m.Runs >= leastParallel(c, m.Agent) {
			continue
		}
		sum, known := agents[m.Agent]
		if !known {
			names, sum.Since = append(names, m.Agent), m.Since
		}
		sum.Rooms += m.Rooms
		if m.Since.Before(sum.Since) {
			sum.Since = m.Since
		}
		agents[m.Agent] = sum
	}
	for _, name := range names {
		of := agents[name]
		evidence := fmt.Sprintf("in %d rooms, since %s", of.Rooms, textout.FormatTime(of.Since))
		if of.Rooms == 1 {
			evidence = "in a room, since " + textout.FormatTime(of.Since)
		}
		all = append(all, idleWork{alerts.Observation{Code: alerts.NotTaken, Subject: "agents." + name, Evidence: evidence}, of.Since.UTC().String()})
	}
	return all
}

// leastParallel returns the lowest limit on open runs of one mind that an agent has in any
// space.
func leastParallel(c *config.Config, agent string) int {
	least := c.SettingsFor(agent, "").Parallel
	for _, s := range c.Spaces {
		least = min(least, c.SettingsFor(agent, s.Key).Parallel)
	}
	for _, s := range c.Servers {
		least = min(least, c.SettingsFor(agent, s.Key).Parallel)
	}
	return least
}

// idleAccounts returns the healthy accounts of this process that do not send what is due.
func (mon *processMonitor) idleAccounts(queues []alerts.UnclaimedQueue) (all []idleWork) {
	for _, q := range queues {
		for _, l := range mon.conns.all() {
			if st := l.Status(); st.Account == q.Account && st.State == activity.ConnConnected && st.Paused == "" {
				evidence := fmt.Sprintf("%d could be sent, the oldest since %s", q.Waiting, textout.FormatTime(q.Since))
				all = append(all, idleWork{alerts.Observation{Code: alerts.NotSent, Subject: l.name, Evidence: evidence}, fmt.Sprint(q.First, q.Since.UTC())})
			}
		}
	}
	return all
}
