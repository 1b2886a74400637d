package server

import (
	"context"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/internal/alerts"
)

// probeConnections observes the states of the accounts.
func (mon *processMonitor) probeConnections() alerts.ConditionProbe {
	return alerts.ConditionProbe{
		Codes: []alerts.ProblemCode{alerts.Credentials, alerts.Conflict, alerts.Deaf, alerts.Panicked},
		See: func(context.Context) ([]alerts.Observation, error) {
			var all []alerts.Observation
			for _, l := range mon.conns.all() {
				st := l.Status()
				if seen, bad := connectionProblem(st, mon.Boot.Report().StartedAt, time.Now()); bad && l.name != LocalName {
					all = append(all, seen)
				}
				if seen, bad := panicProblem(st, time.Now()); bad {
					all = append(all, seen)
				}
			}
			return all, nil
		},
	}
}

// connectionProblem returns the problem of an account, if there is one. An account whose platform was
// not heard for too long is deaf, whatever the state of its connection.
func connectionProblem(st activity.ConnStatus, started, now time.Time) (seen alerts.Observation, bad bool) {
	seen = alerts.Observation{Subject: st.Name, Evidence: st.Reason}
	heard := st.Heard
	if heard.Before(started) {
		heard = started
	}
	switch {
	case st.State == activity.ConnStandby: // the process that serves it sees it
		return seen, false
	case st.State == activity.ConnMisconfigured:
		seen.Code = alerts.Credentials
	case st.Paused != "":
		seen.Code, seen.Evidence = alerts.Credentials, st.Paused
	case st.State == activity.ConnConflict:
		seen.Code = alerts.Conflict
	case st.Deaf != "":
		seen.Code, seen.Evidence = alerts.Deaf, st.Deaf
	case now.Sub(heard) > heardWithin:
		seen.Code = alerts.Deaf
		if seen.Evidence == "" {
			seen.Evidence = fmt.Sprintf("the platform has said nothing since %s", textout.FormatTime(heard))
		}
	default:
		return seen, false
	}
	return seen, true
}

// panicLately is how long a fault of this program is told of.
const panicLately = time.Hour

// panicProblem says that an account ran into a fault of this program lately.
func panicProblem(st activity.ConnStatus, now time.Time) (seen alerts.Observation, bad bool) {
	if st.Panic.At.IsZero() || now.Sub(st.Panic.At) >= panicLately {
		return seen, false
	}
	evidence := fmt.Sprintf("%s, at %s: it is kept, or ended as failed; the log has the stack", st.Panic.What, textout.FormatTime(st.Panic.At))
	return alerts.Observation{Code: alerts.Panicked, Subject: st.Name, Evidence: evidence}, true
}

// probePrompts observes activated versions of prompts that are not there.
func (mon *processMonitor) probePrompts() alerts.ConditionProbe {
	return alerts.ConditionProbe{Codes: []alerts.ProblemCode{alerts.PromptMissing}, See: func(ctx context.Context) ([]alerts.Observation, error) {
		if mon.prompts == nil {
			return nil, nil
		}
		b, err := mon.prompts.Load(ctx)
		if err != nil {
			return nil, err
		}
		var all []alerts.Observation
		for _, m := range b.Missing() {
			all = append(all, alerts.Observation{Code: alerts.PromptMissing, Subject: m.Name(), Evidence: m.String()})
		}
		return all, nil
	}}
}

// probeEntries observes entries that do not run, and a file on disk that is not in force.
func (mon *processMonitor) probeEntries() alerts.ConditionProbe {
	return alerts.ConditionProbe{
		Codes: []alerts.ProblemCode{alerts.Misconfigured, alerts.BadReload},
		See: func(context.Context) ([]alerts.Observation, error) {
			var all []alerts.Observation
			for _, p := range mon.entryFaults() {
				all = append(all, alerts.Observation{Code: alerts.Misconfigured, Subject: p.Entry, Evidence: p.Err.What})
			}
			for _, f := range mon.Reloader.Invalid() {
				all = append(all, alerts.Observation{Code: alerts.BadReload, Subject: "configuration", Evidence: f.Where + ": " + f.What})
			}
			return all, nil
		},
	}
}
