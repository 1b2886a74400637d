package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/control"
	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/config"
)

// ackFor is the default time for which an acknowledged problem is not told again.
const ackFor = 2 * time.Hour

// operatorChats returns the chats of an adapter in which operators are told of problems.
func (core *Core) operatorChats(adapter string) []string {
	var chats []string
	for _, c := range core.Config().Alerts.Chats {
		if c.Adapter == adapter {
			chats = append(chats, c.Chat)
		}
	}
	return chats
}

// acknowledge acknowledges problems as a chat command asks for it: words are the number of one
// problem, a length of time, both, or nothing.
func (core *Core) acknowledge(ctx context.Context, words string, at time.Time) (string, error) {
	id, span := alerts.AlertID(0), ackFor
	for word := range strings.FieldsSeq(strings.ToLower(words)) {
		if n, err := strconv.ParseInt(strings.TrimPrefix(word, "#"), 10, 64); err == nil {
			id = alerts.AlertID(n)
			continue
		}
		if d, err := config.ParseDuration(word); err == nil && d > 0 {
			span = d
		}
	}
	taken, err := core.acknowledgeAlerts(ctx, id, at.Add(span), at)
	switch {
	case errors.Is(err, alerts.ErrUnknown):
		return fmt.Sprintf("There is no open problem %d.", id), nil
	case err != nil:
		return "", err
	case len(taken) == 0:
		return "No problem is open.", nil
	}
	return fmt.Sprintf("Quiet for %s: %s.", alerts.Span(span), strings.Join(taken, ", ")), nil
}

// acknowledgeAlerts acknowledges one open problem until a time, or all of them for id 0, and
// returns what they are.
func (core *Core) acknowledgeAlerts(ctx context.Context, id alerts.AlertID, until, at time.Time) ([]string, error) {
	store := core.alertStore()
	all, err := store.Problems(ctx, at)
	if err != nil {
		return nil, err
	}
	var taken []string
	for _, open := range alerts.Worst(all) {
		if id != 0 && open.ID != id {
			continue
		}
		if err := store.Ack(ctx, open.ID, until); err != nil {
			return taken, err
		}
		taken = append(taken, fmt.Sprintf("%s %s", open.Code, open.What()))
	}
	if id != 0 && len(taken) == 0 {
		return nil, alerts.ErrUnknown
	}
	return taken, nil
}

// AckRequest acknowledges a problem for some time.
type AckRequest struct {
	ID      alerts.AlertID `json:"id"`
	Seconds int64          `json:"seconds"`
}

// AckResult is the answer of `trestle problems ack`.
type AckResult struct {
	Quiet []string  `json:"quiet"` // what is quiet now
	Until time.Time `json:"until"`
}

// serveUnkept lists the problems that the store could not take.
func (ctl controlServer) serveUnkept(rw http.ResponseWriter, _ *http.Request) {
	held, _ := ctl.Unstored.Held()
	control.WriteJSON(rw, http.StatusOK, append([]alerts.Alert{}, held...))
}

func (ctl controlServer) ack(ctx context.Context, q AckRequest) (a AckResult, err error) {
	now := time.Now()
	a.Until = now.Add(time.Duration(q.Seconds) * time.Second).UTC()
	a.Quiet, err = ctl.acknowledgeAlerts(ctx, q.ID, a.Until, now)
	if errors.Is(err, alerts.ErrUnknown) {
		err = &apperr.Error{What: "there is no such open problem", Where: fmt.Sprintf("problem %d", q.ID), Remedy: "trestle problems lists those that are open", Code: apperr.Failed}
	}
	return a, err
}
