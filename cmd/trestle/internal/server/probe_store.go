package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/backup"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/doctor"
	"github.com/trestle-bridge/trestle/internal/money"
	"github.com/trestle-bridge/trestle/internal/redact"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/spaces"
)

// What counts as too much, too old, too slow.
const (
	lately     = 10 * time.Minute // for refused acts and deliveries of unknown outcome
	manyDenied = 10
	waitsLong  = 5 * time.Minute
	slowCommit = 2 * time.Second
	// stuckCommitAge is the age from which a commit that has not ended is reported.
	stuckCommitAge = 5 * time.Second
	// failingLong is the time after which a store that refuses every commit is reported.
	failingLong = 10 * time.Second
	lostLately  = 5 * time.Minute
	fullLately  = time.Minute // since a write found the disk full; it is tried again sooner
	nearBudget  = 80          // percent
	skewFresh   = time.Hour   // a reading older than this says nothing of now
)

// probeStore observes the metrics of the store.
func (mon *processMonitor) probeStore() alerts.ConditionProbe {
	var lost int64
	var lostAt time.Time
	first := true
	return alerts.ConditionProbe{
		Codes: []alerts.ProblemCode{
			alerts.OutboxOld, alerts.Unknown, alerts.DenialBurst, alerts.BudgetNear, alerts.BudgetSpent,
			alerts.StoreSlow, alerts.LeaseLost, alerts.BackupOld,
		},
		See: func(ctx context.Context) ([]alerts.Observation, error) {
			now := time.Now()
			v, err := mon.Store.Problems().Vitals(ctx, now.Add(-lately), now)
			if err != nil {
				return nil, err
			}
			if v.Lost > lost && !first {
				lostAt = now
			}
			lost, first = v.Lost, false
			all, err := mon.observeOutbox(ctx, v, now)
			if err != nil {
				return nil, err
			}
			all = append(all, mon.observeBudgets(v)...)
			all = append(all, mon.observeBackup(v, now)...)
			if v.Slowest > slowCommit {
				all = append(all, alerts.Observation{Code: alerts.StoreSlow, Subject: "the record", Evidence: fmt.Sprintf("a commit took %.1f s", v.Slowest.Seconds())})
			}
			if !lostAt.IsZero() && now.Sub(lostAt) < lostLately {
				all = append(all, alerts.Observation{Code: alerts.LeaseLost, Subject: "this process", Evidence: "last at " + textout.FormatTime(lostAt)})
			}
			for _, d := range v.Denials {
				if d.N >= manyDenied {
					all = append(all, alerts.Observation{Code: alerts.DenialBurst, Subject: "agents." + d.Name, Evidence: fmt.Sprintf("%d in ten minutes", d.N)})
				}
			}
			return all, nil
		},
	}
}

// unwritable returns why the store has refused every commit for [failingLong]; nil while it
// has not. A full disk is reported by [processMonitor.probeMachine].
func (mon *processMonitor) unwritable(now time.Time) error {
	f := mon.Store.Failing()
	if f.Err == nil || errors.Is(f.Err, engine.ErrFull) || now.Sub(f.Since) < failingLong {
		return nil
	}
	return f.Err
}

// probeWrites observes whether the store can be written.
func (mon *processMonitor) probeWrites() alerts.ConditionProbe {
	return alerts.ConditionProbe{Codes: []alerts.ProblemCode{alerts.Unwritable}, See: func(context.Context) ([]alerts.Observation, error) {
		now := time.Now()
		why := mon.unwritable(now)
		if why == nil {
			return nil, nil
		}
		since := mon.Store.Failing().Since
		return []alerts.Observation{{Code: alerts.Unwritable, Subject: "the record", Evidence: fmt.Sprintf("for %s: %v", now.Sub(since).Round(time.Second), why)}}, nil
	}}
}

// probeRewind observes whether the database server has lost commits that it had confirmed to
// this process; other processes may not know.
func (mon *processMonitor) probeRewind() alerts.ConditionProbe {
	return alerts.ConditionProbe{Codes: []alerts.ProblemCode{alerts.Rewound}, See: func(context.Context) ([]alerts.Observation, error) {
		if mon.rewound == "" {
			return nil, nil
		}
		return []alerts.Observation{{Code: alerts.Rewound, Subject: "database", Evidence: mon.rewound}}, nil
	}}
}

// observeOutbox observes actions that wait too long, and sends with an unknown outcome.
func (mon *processMonitor) observeOutbox(ctx context.Context, v alerts.StoreMetrics, now time.Time) (all []alerts.Observation, err error) {
	see := func(code alerts.ProblemCode, account, evidence string) {
		name, failed := mon.adapterOf(ctx, account)
		all, err = append(all, alerts.Observation{Code: code, Subject: name, Evidence: evidence}), errors.Join(err, failed)
	}
	for _, q := range v.Queues {
		if now.Sub(q.Oldest) > waitsLong {
			see(alerts.OutboxOld, q.Account, fmt.Sprintf("%d wait, the oldest since %s", q.Waiting, textout.FormatTime(q.Oldest)))
		}
	}
	for _, u := range v.Unknown {
		see(alerts.Unknown, u.Name, fmt.Sprintf("%d in ten minutes", u.N))
	}
	return all, err
}

// adapterOf returns the name of an account's adapter, by the last one that served it, or else
// the account.
func (cs *connectionSet) adapterOf(ctx context.Context, account string) (string, error) {
	for _, l := range cs.conns.all() {
		if l.Status().Account == account {
			return l.name, nil
		}
	}
	for _, f := range cs.peers() {
		for name, its := range f.Accounts {
			if its == account {
				return name, nil
			}
		}
	}
	line, err := cs.Store.Console().LineOf(ctx, account)
	return cmp.Or(line, account), err
}

// observeBudgets observes daily budgets that are nearly or wholly spent.
func (mon *processMonitor) observeBudgets(v alerts.StoreMetrics) []alerts.Observation {
	var all money.UsedTokens
	agents, rooms := map[string]money.UsedTokens{}, map[string]money.UsedTokens{}
	for _, x := range v.Spent {
		all = all.Add(x.Used)
		agents[x.Agent] = agents[x.Agent].Add(x.Used)
		rooms[x.Space] = rooms[x.Space].Add(x.Used)
	}
	c := mon.Config()
	known := !slices.ContainsFunc(c.Agents, func(a config.AgentEntry) bool { return !priced(c, a, mon.told) })
	found := spentOf("budget.per_day", all, c.SettingsFor("", "").Budget.PerDay.Priced(known))
	for agent, n := range agents {
		found = append(found, spentOf("budget.agent_per_day of "+agent, n, c.SettingsFor(agent, "").Budget.AgentPerDay.Priced(agentPriced(c, agent, mon.told)))...)
	}
	for room, n := range rooms {
		key := mon.keyOf(spaces.SpaceID(room))
		found = append(found, spentOf("budget.space_per_day of "+cmp.Or(key, room), n, c.SettingsFor("", key).Budget.SpacePerDay.Priced(known))...)
	}
	return found
}

// agentPriced reports whether the prices of an agent's models are known.
func agentPriced(c *config.Config, agent string, told toldFacts) bool {
	a, _ := c.Agent(agent)
	return priced(c, a, told)
}

// spentOf compares what was spent with a budget.
func spentOf(name string, spent money.UsedTokens, budget money.SpendLimit) []alerts.Observation {
	seen := alerts.Observation{Code: alerts.BudgetSpent, Subject: name, Evidence: budget.Compare(spent)}
	switch {
	case budget.Share(spent) < nearBudget:
		return nil
	case !budget.Reached(spent):
		seen.Code = alerts.BudgetNear
	}
	return []alerts.Observation{seen}
}

// observeBackup observes a last backup that is too old.
func (mon *processMonitor) observeBackup(v alerts.StoreMetrics, now time.Time) []alerts.Observation {
	c := mon.Config()
	if c.Alerts.BackupAge <= 0 || c.Database != "" { // a server's backups are its own
		return nil
	}
	last := backup.LastBackup(c.Data)
	evidence := "the last one was made at " + textout.FormatTime(last)
	if last.IsZero() {
		last, evidence = v.Began, "none was ever made"
	}
	if last.IsZero() || now.Sub(last) <= c.Alerts.BackupAge {
		return nil
	}
	return []alerts.Observation{{Code: alerts.BackupOld, Subject: "the record", Evidence: evidence}}
}

// probeMachine observes the free disk space, and the clock compared with those of servers.
func (mon *processMonitor) probeMachine() alerts.ConditionProbe {
	disk := mon.disk
	if disk == nil {
		disk = sqlite.Disk
	}
	return alerts.ConditionProbe{
		Codes: []alerts.ProblemCode{alerts.DiskLow, alerts.ClockSkew},
		See: func(context.Context) ([]alerts.Observation, error) {
			var all []alerts.Observation
			free, total, err := disk(mon.Config().Data)
			if err != nil {
				return nil, err
			}
			r := doctor.DataDir{Free: free, Total: total}
			evidence := fmt.Sprintf("%s free, %.1f %%", doctor.Bytes(free), 100*r.Share())
			full := time.Since(mon.Store.FullAt()) < fullLately
			if full {
				evidence += "; nothing can be written"
			}
			if full || r.Share() < doctor.LowDisk {
				all = append(all, alerts.Observation{Code: alerts.DiskLow, Subject: "the data folder", Evidence: evidence})
			}
			for _, c := range mon.clock.Readings() {
				if c.Off.Abs() > doctor.MaxSkew && time.Since(c.At) < skewFresh {
					all = append(all, alerts.Observation{Code: alerts.ClockSkew, Subject: c.Host, Evidence: fmt.Sprintf("theirs is %s from ours", c.Off)})
				}
			}
			return all, nil
		},
	}
}

// entryOf returns the path of the entry with an agent's model: its own, or the common one.
func entryOf(c *config.Config, a config.AgentEntry) string {
	if a.Model == c.Model {
		return "model"
	}
	return "agents." + a.ID + ".model"
}

// probeLog observes whether a credential was written to the log.
func (core *Core) probeLog() alerts.ConditionProbe {
	var known int64
	var last time.Time
	return alerts.ConditionProbe{
		Codes: []alerts.ProblemCode{alerts.LoggedSecret},
		See: func(context.Context) ([]alerts.Observation, error) {
			now := time.Now()
			if n := redact.CaughtCount(core.Log.Handler()); n > known {
				known, last = n, now
			}
			if last.IsZero() || now.Sub(last) > lately {
				return nil, nil
			}
			return []alerts.Observation{{Code: alerts.LoggedSecret, Subject: "this process", Evidence: fmt.Sprintf("%d so far", known)}}, nil
		},
	}
}
