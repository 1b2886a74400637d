package server

import (
	"context"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/redact"
)

// lookAtLog sees whether a credential was written to the log.
func (s *Server) lookAtLog() alerts.ConditionProbe {
	var known int64
	var last time.Time
	return alerts.ConditionProbe{
		Codes: []alerts.ProblemCode{alerts.LoggedSecret},
		See: func(context.Context) ([]alerts.Observation, error) {
			now := time.Now()
			if n := redact.CaughtCount(s.Log.Handler()); n > known {
				known, last = n, now
			}
			if last.IsZero() || now.Sub(last) > lately {
				return nil, nil
			}
			return []alerts.Observation{{Code: alerts.LoggedSecret, Subject: "this process", Evidence: fmt.Sprintf("%d so far", known)}}, nil
		},
	}
}
