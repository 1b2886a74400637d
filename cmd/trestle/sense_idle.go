package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/problems"
)

const (
	// idleLong is how long work may be due before it is told that nobody takes it up.
	idleLong = 2 * time.Minute
	// idleWatched is how long it must have been seen to be due, by this process: what
	// piled up while nothing ran, or by another clock, is not idle yet.
	idleWatched = 30 * time.Second
)

// An idler is work that is due, as it was seen once.
type idler struct {
	problems.Sighting
	mark string // of the oldest of it
}

// idlers are what was seen to be due, over several looks. It is safe for concurrent
// use.
type idlers struct {
	mu   sync.Mutex // guards what follows
	seen map[idler]time.Time
	told []problems.Sighting
}

// look notes what is due now, and returns those whose oldest piece has been due and
// watched for long enough.
func (l *idlers) look(now time.Time, due []idler) []problems.Sighting {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.seen
	l.seen, l.told = map[idler]time.Time{}, nil
	for _, d := range due {
		key := d
		key.Evidence = ""
		first, known := before[key]
		if !known {
			first = now
		}
		l.seen[key] = first
		if now.Sub(first) >= idleWatched {
			l.told = append(l.told, d.Sighting)
		}
	}
	return slices.Clone(l.told)
}

// of returns what was seen last of a code and a subject; where that is empty, of any
// and which.
func (l *idlers) of(code problems.Code, subject string) (evidence string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.told, func(s problems.Sighting) bool { return s.Code == code && (subject == "" || s.Subject == subject) })
	switch {
	case i < 0:
		return ""
	case subject == "":
		return l.told[i].Subject + ", " + l.told[i].Evidence
	}
	return l.told[i].Evidence
}

// lookAtIdleWork sees work that is due, that this process could take up, and that
// nobody does although nothing known holds it back.
func (s *process) lookAtIdleWork() problems.Look {
	return problems.Look{Codes: []problems.Code{problems.NotTaken, problems.NotSent}, See: func(ctx context.Context) ([]problems.Sighting, error) {
		now := time.Now()
		if s.store == nil || !s.boot.Report().TrustPassed || len(s.recordExtensions(now)) > 0 {
			return s.idle.look(now, nil), nil
		}
		found, err := s.store.Problems().Idle(ctx, now.Add(idleWatched-idleLong), now)
		if err != nil {
			return nil, err
		}
		return s.idle.look(now, slices.Concat(s.idleAgents(found.Minds), s.idleAccounts(found.Queues))), nil
	}}
}

// idleAgents returns the agents whose work nobody takes up, when minds run here. A mind
// that has as much under way as it may is busy.
func (s *process) idleAgents(minds []problems.IdleMind) (all []idler) {
	c := s.config()
	if !s.scheduled.Load() || !c.Does(config.RunsMinds) {
		return nil
	}
	agents := map[string]problems.IdleMind{}
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
		evidence := fmt.Sprintf("in %d rooms, since %s", of.Rooms, when(of.Since))
		if of.Rooms == 1 {
			evidence = "in a room, since " + when(of.Since)
		}
		all = append(all, idler{problems.Sighting{Code: problems.NotTaken, Subject: "agents." + name, Evidence: evidence}, of.Since.UTC().String()})
	}
	return all
}

// leastParallel returns how many runs of one mind an agent may have, where it may have
// the fewest.
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

// idleAccounts returns the accounts that are served here and well, and for which
// something could be sent that is not.
func (s *process) idleAccounts(queues []problems.IdleQueue) (all []idler) {
	for _, q := range queues {
		for _, l := range s.lineup.all() {
			if st := l.Status(); st.Account == q.Account && st.State == activity.LineConnected && st.Paused == "" {
				evidence := fmt.Sprintf("%d could be sent, the oldest since %s", q.Waiting, when(q.Since))
				all = append(all, idler{problems.Sighting{Code: problems.NotSent, Subject: l.name, Evidence: evidence}, fmt.Sprint(q.First, q.Since.UTC())})
			}
		}
	}
	return all
}
