package console

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// The sizes of pages.
const (
	pageSize = 50
	maxPage  = 500
)

// limitOf reads how long a page is to be.
func limitOf(r *http.Request) (int, error) {
	n, err := number(r, "limit")
	switch {
	case err != nil || n > maxPage:
		return 0, errNumber
	case n == 0:
		return pageSize, nil
	}
	return int(n), nil
}

// sinceOf reads from when on something is asked for: a time, or a length of
// time before now.
func sinceOf(r *http.Request, now time.Time) (time.Time, error) {
	text := r.URL.Query().Get("since")
	if text == "" {
		return time.Time{}, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	if days, ok := cutDays(text); ok {
		return now.AddDate(0, 0, -days), nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return time.Time{}, errNumber
	}
	return now.Add(-d), nil
}

func cutDays(text string) (int, bool) {
	if len(text) < 2 || text[len(text)-1] != 'd' {
		return 0, false
	}
	n, err := strconv.Atoi(text[:len(text)-1])
	return n, err == nil && n >= 0 && n < 10_000
}

// filterOf reads which runs are asked for.
func filterOf(r *http.Request) (Filter, error) {
	q := r.URL.Query()
	f := Filter{
		Space: spaces.SpaceID(q.Get("space")), Agent: spaces.AgentID(q.Get("agent")), Stop: spaces.StopReason(q.Get("stop")),
		Before: spaces.CycleID(q.Get("before")),
	}
	var err error
	if f.Since, err = sinceOf(r, time.Now()); err != nil {
		return f, err
	}
	f.Limit, err = limitOf(r)
	return f, err
}

// misread answers a request whose parameters can not be read.
func (c *Console) misread(w http.ResponseWriter) {
	reply(w, http.StatusBadRequest, ErrorAnswer{
		Error: "a parameter can not be read",
		Do:    "limit is a number up to 500, since a time such as 2h, 7d or 2026-01-31T00:00:00Z, before the word next of the page before",
	})
}

// runs returns a page of runs.
func (c *Console) runs(r *http.Request, f Filter) (runsAnswer, error) {
	limit := f.Limit
	f.Limit++
	found, err := c.Record.Runs(r.Context(), f)
	if errors.Is(err, ErrUnknown) {
		err = errNumber
	}
	if err != nil {
		return runsAnswer{}, err
	}
	a := runsAnswer{Runs: []RunRow{}}
	if len(found) > limit {
		found = found[:limit]
		a.Next = found[limit-1].ID
	}
	for _, y := range found {
		a.Runs = append(a.Runs, RowOf(y))
	}
	return a, nil
}

func (c *Console) apiRuns(r *http.Request) (runsAnswer, error) {
	f, err := filterOf(r)
	if err != nil {
		return runsAnswer{}, err
	}
	return c.runs(r, f)
}

// denials returns a page of denials.
func (c *Console) denials(r *http.Request) (denialsAnswer, error) {
	f := DenialFilter{Agent: spaces.AgentID(r.URL.Query().Get("agent"))}
	var err error
	if f.Since, err = sinceOf(r, time.Now()); err != nil {
		return denialsAnswer{}, err
	}
	if f.Limit, err = limitOf(r); err != nil {
		return denialsAnswer{}, err
	}
	if f.Before, err = number(r, "before"); err != nil {
		return denialsAnswer{}, err
	}
	limit := f.Limit
	f.Limit++
	found, err := c.Record.Denials(r.Context(), f)
	if err != nil {
		return denialsAnswer{}, err
	}
	a := denialsAnswer{Denials: []DenialRow{}}
	if len(found) > limit {
		found = found[:limit]
		a.Next = found[limit-1].N
	}
	for _, d := range found {
		row := DenialRow{N: d.N, Denial: d.Denial, Grant: grantFor(d.Denial)}
		if row.Because, err = c.because(r.Context(), d.Cycle); err != nil {
			return denialsAnswer{}, err
		}
		a.Denials = append(a.Denials, row)
	}
	return a, nil
}

// because names the links of the chain that led to a run.
func (c *Console) because(ctx context.Context, run spaces.CycleID) ([]CauseRow, error) {
	if run == "" {
		return nil, nil
	}
	events, err := c.Record.Because(ctx, run)
	if err != nil {
		return nil, err
	}
	names, err := c.Record.Names(ctx, Actors(events))
	if err != nil {
		return nil, err
	}
	var chain []CauseRow
	for _, e := range events {
		chain = append(chain, CauseRow{e.ID, e.Space, e.Seq, e.Actor, names[e.Actor].Name, e.Body.Kind(), e.At})
	}
	return chain, nil
}

func (c *Console) minds(r *http.Request) (mindsAnswer, error) {
	found, err := c.Record.Minds(r.Context(), time.Now())
	if err != nil {
		return mindsAnswer{}, err
	}
	a := mindsAnswer{Minds: []mindRow{}}
	for _, m := range found {
		a.Minds = append(a.Minds, mindRowOf(m))
	}
	return a, nil
}
