package main

import (
	"context"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/problems"
)

// lookAtLines sees how the accounts stand.
func (s *process) lookAtLines() problems.Look {
	return problems.Look{
		Codes: []problems.Code{problems.Credentials, problems.Conflict, problems.Deaf},
		See: func(context.Context) ([]problems.Sighting, error) {
			var all []problems.Sighting
			for _, l := range s.lineup.all() {
				if seen, bad := lineProblem(l.Status(), s.boot.Report().StartedAt, time.Now()); bad && l.name != localName {
					all = append(all, seen)
				}
			}
			return all, nil
		},
	}
}

// lineProblem says what is wrong with an account. It is deaf when it was not
// heard for too long, whatever it believes of itself (I13).
func lineProblem(st activity.Status, started, now time.Time) (seen problems.Sighting, bad bool) {
	seen = problems.Sighting{Subject: st.Name, Evidence: st.Reason}
	heard := st.Heard
	if heard.Before(started) {
		heard = started
	}
	switch {
	case st.State == activity.LineStandby: // whoever serves it sees it
		return seen, false
	case st.State == activity.LineMisconfigured:
		seen.Code = problems.Credentials
	case st.Paused != "":
		seen.Code, seen.Evidence = problems.Credentials, st.Paused
	case st.State == activity.LineConflict:
		seen.Code = problems.Conflict
	case now.Sub(heard) > heardWithin:
		seen.Code = problems.Deaf
		if seen.Evidence == "" {
			seen.Evidence = fmt.Sprintf("the platform has said nothing since %s", when(heard))
		}
	default:
		return seen, false
	}
	return seen, true
}

// lookAtEntries sees what does not run as it is written, and that the file on
// disk is not the one in force.
func (s *process) lookAtEntries() problems.Look {
	return problems.Look{
		Codes: []problems.Code{problems.Misconfigured, problems.BadReload},
		See: func(context.Context) ([]problems.Sighting, error) {
			var all []problems.Sighting
			for _, p := range s.problems() {
				all = append(all, problems.Sighting{Code: problems.Misconfigured, Subject: p.Entry, Evidence: p.Fault.What})
			}
			for _, f := range s.reloader.Invalid() {
				all = append(all, problems.Sighting{Code: problems.BadReload, Subject: "configuration", Evidence: f.Where + ": " + f.What})
			}
			return all, nil
		},
	}
}
