package main

import (
	"context"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/internal/problems"
	"github.com/trestle-bridge/trestle/internal/secrets"
)

// lookAtLog sees whether somebody tried to log a credential (SECURITY S16).
func (s *process) lookAtLog() problems.Look {
	var known int64
	var last time.Time
	return problems.Look{
		Codes: []problems.Code{problems.LoggedSecret},
		See: func(context.Context) ([]problems.Sighting, error) {
			now := time.Now()
			if n := secrets.Caught(s.log.Handler()); n > known {
				known, last = n, now
			}
			if last.IsZero() || now.Sub(last) > lately {
				return nil, nil
			}
			return []problems.Sighting{{Code: problems.LoggedSecret, Subject: "this process", Evidence: fmt.Sprintf("%d so far", known)}}, nil
		},
	}
}
