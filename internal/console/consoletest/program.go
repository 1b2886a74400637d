package consoletest

import (
	"context"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/spaces"
)

// A FakeProgram is a running program that is made up.
type FakeProgram struct {
	mu        sync.Mutex // guards the fields below
	words     string
	cancelled []spaces.CycleID
	forgotten []string
}

// Say puts text into every field that holds words from elsewhere.
func (p *FakeProgram) Say(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.words = text
}

func (p *FakeProgram) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.words
}

var (
	_ console.Process  = (*FakeProgram)(nil)
	_ console.Settings = (*FakeProgram)(nil)
)

// Started is when a made up program began.
var Started = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Health implements [console.Process].
func (p *FakeProgram) Health() console.Health {
	h := console.Health{CoreReady: true, TrustPassed: true, Version: "0.0.0", StartedAt: Started, Listen: "127.0.0.1:7420"}
	h.Extensions = []console.Component{
		{Name: "model", Kind: "model", State: "configured", Healthy: true},
		{Name: "telegram", Kind: "adapter", State: "degraded", Reason: p.text(), Handle: p.text(), Since: &Started, Heard: &Started},
	}
	h.Summarise(true)
	return h
}

// Boot implements [console.Process].
func (p *FakeProgram) Boot() console.Boot {
	return console.Boot{StartedAt: Started, CoreReady: true, Stages: []console.Stage{{Stage: "adapter_telegram", Status: "failed", Error: p.text()}}, Failed: []string{"adapter_telegram"}}
}

// Problems implements [console.Process].
func (p *FakeProgram) Problems(context.Context) ([]alerts.Alert, error) {
	return []alerts.Alert{{Code: alerts.Deaf, Severity: alerts.Fail, Subject: p.text(), Evidence: p.text(), Opened: Started, Seen: Started, Count: 2}}, nil
}

// Adapters implements [console.Process].
func (p *FakeProgram) Adapters() []console.Adapter {
	return []console.Adapter{{Name: "telegram", Account: "telegram:42", Handle: p.text(), State: "degraded", Reason: p.text(), Paused: p.text(), Since: &Started, Heard: &Started}}
}

// Pairings implements [console.Process].
func (p *FakeProgram) Pairings(context.Context) ([]console.Pairing, error) {
	return []console.Pairing{{Account: "telegram:42", Chat: "7", User: "7", Name: p.text(), Expires: Started}}, nil
}

// Cancel implements [console.Process].
func (p *FakeProgram) Cancel(_ context.Context, run spaces.CycleID) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cancelled = append(p.cancelled, run)
	return true, nil
}

// Cancelled returns the runs that were told to end.
func (p *FakeProgram) Cancelled() []spaces.CycleID {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]spaces.CycleID(nil), p.cancelled...)
}

// Forget implements [console.Process].
func (p *FakeProgram) Forget(_ context.Context, m spaces.Mind, id string) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if id == "none" {
		return false, nil
	}
	p.forgotten = append(p.forgotten, m.String()+" "+id)
	return true, nil
}

// Correct implements [console.Process]. Without words there is no fact.
func (p *FakeProgram) Correct(_ context.Context, m spaces.Mind, id, fact string) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case fact == "":
		return false, noFactError{}
	case id == "none":
		return false, nil
	}
	p.forgotten = append(p.forgotten, m.String()+" "+id+": "+fact)
	return true, nil
}

// noFactError is [console.UserError].
type noFactError struct{}

// Error returns what is wrong.
func (noFactError) Error() string { return "a memory needs words" }

// Refusal implements [console.UserError].
func (noFactError) Refusal() console.ErrorAnswer {
	return console.ErrorAnswer{Error: "a memory needs words", Do: "write some"}
}

// Forgotten returns what minds were told to forget, the mind and the id, and to
// correct, with the fact behind them.
func (p *FakeProgram) Forgotten() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.forgotten...)
}

// Rows implements [console.Settings].
func (p *FakeProgram) Rows() []console.SettingRow {
	return []console.SettingRow{
		{Path: "data", Value: "./data", Origin: "default"},
		{Path: "token", Value: "***", Origin: "trestle.yaml:3"},
		{Path: "agents.ada.persona", Value: p.text(), Origin: "trestle.yaml:9"},
		{Path: "budget.per_day", Value: "50000000", Origin: "default"},
	}
}

// Schema implements [console.Settings].
func (p *FakeProgram) Schema() []byte { return []byte(`{"title":"Trestle configuration"}`) }

// Budget implements [console.Settings].
func (p *FakeProgram) Budget(spaces.AgentID, spaces.SpaceID) int { return 400_000 }

// Price implements [console.Settings].
func (p *FakeProgram) Price(spaces.AgentID) (spaces.TokenPrice, bool) {
	return spaces.TokenPrice{Input: 2, Cached: 0.2, Output: 8}, true
}
