package consoletest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/money"
	"github.com/trestle-bridge/trestle/shell/prompts"
	"github.com/trestle-bridge/trestle/spaces"
)

// A FakeProgram is a running program that is made up.
type FakeProgram struct {
	mu        sync.Mutex // guards the fields below
	words     string
	cancelled []spaces.CycleID
	forgotten []string
	decided   []console.ApprovalDecision
	room      spaces.SpaceID // where calls wait
	asked     []string
}

// Say puts text into every field that holds words from elsewhere.
func (p *FakeProgram) Say(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.words = text
}

// Ask has the calls that wait be asked for in a room.
func (p *FakeProgram) Ask(room spaces.SpaceID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.room = room
}

func (p *FakeProgram) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.words
}

var (
	_ console.Process  = (*FakeProgram)(nil)
	_ console.Settings = (*FakeProgram)(nil)
	_ console.ToolDesk = (*FakeProgram)(nil)

	_ console.AdmissionDesk = (*FakeProgram)(nil)
	_ console.AgentControl  = (*FakeProgram)(nil)
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
	return []alerts.Alert{{ID: 3, Code: alerts.Deaf, Severity: alerts.Fail, Subject: p.text(), Evidence: p.text(), Opened: Started, Seen: Started, Count: 2}}, nil
}

// Adapters implements [console.Process].
func (p *FakeProgram) Adapters() []console.Adapter {
	return []console.Adapter{{Name: "telegram", Account: "telegram:42", Handle: p.text(), State: "degraded", Reason: p.text(), Paused: p.text(), Since: &Started, Heard: &Started}}
}

// Admissions implements [console.AdmissionDesk].
func (p *FakeProgram) Admissions(context.Context) (console.AdmissionLists, error) {
	return console.AdmissionLists{
		Waiting:  []console.Pairing{{Account: "telegram:42", Chat: "7", User: "7", Name: p.text(), Expires: Started}},
		Admitted: []console.AdmittedPerson{{Account: "telegram:42", Chat: "8", User: "8", Name: p.text(), Circle: p.text(), Role: "admin", At: Started}, {Account: "telegram:42", Chat: "-9", Role: "member", At: Started}},
		Refused:  []console.RefusedSender{{Account: "telegram:42", Chat: "5", User: "5", Kind: p.text(), Count: 3, Last: Started}},
	}, nil
}

// Admit implements [console.AdmissionDesk]. The only code is K7QD-X2FM.
func (p *FakeProgram) Admit(_ context.Context, q console.PairRequest) (console.AdmittedPerson, error) {
	if q.Code != "K7QD-X2FM" && q.Chat == "" {
		return console.AdmittedPerson{}, noFactError{}
	}
	p.note("admit " + q.Code + q.Chat + " " + q.Role + " " + q.Circle)
	return console.AdmittedPerson{Account: "telegram:42", Chat: "7", Role: q.Role}, nil
}

// ShutOut implements [console.AdmissionDesk]. Only 8 and 7 have access or wait.
func (p *FakeProgram) ShutOut(_ context.Context, q console.RevokeRequest) ([]console.AdmittedPerson, error) {
	if q.ID != "8" && q.ID != "7" {
		return nil, noFactError{}
	}
	p.note("shut out " + q.Account + " " + q.ID)
	return []console.AdmittedPerson{{Account: q.Account, Chat: q.ID, User: q.ID}}, nil
}

// Stop implements [console.AgentControl].
func (p *FakeProgram) Stop(_ context.Context, q spaces.StopRequest) (spaces.StopResult, error) {
	p.note("stop " + string(q.Agent))
	return spaces.StopResult{Runs: []spaces.StoppedRun{{Run: "r1"}}, Unsent: 2}, nil
}

// Mute implements [console.AgentControl].
func (p *FakeProgram) Mute(_ context.Context, q spaces.MuteRequest) ([]spaces.AgentID, error) {
	p.note(fmt.Sprintf("mute %s, lifted %t", q.Agent, q.Lifted))
	return []spaces.AgentID{q.Agent}, nil
}

// Quiet implements [console.AgentControl]. Only problem 3 is open.
func (p *FakeProgram) Quiet(_ context.Context, id alerts.AlertID, _ time.Time) error {
	if id != 3 {
		return console.ErrUnknown
	}
	p.note("quiet 3")
	return nil
}

func (p *FakeProgram) note(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, what)
}

// Asked returns what operators asked of agents, people and problems.
func (p *FakeProgram) Asked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked)
}

// rehearse is a [console.RehearseFunc] under which every run says something else.
func (p *FakeProgram) rehearse(_ context.Context, q console.RehearsalRequest) (console.RehearsedRun, error) {
	p.note(fmt.Sprintf("rehearse %s %d %v", q.Model, q.Budget, q.Prompts))
	text := p.text()
	was, now := console.TranscriptLine{What: "says", Text: text}, console.TranscriptLine{What: "says", Text: text + " again"}
	return console.RehearsedRun{
		Run: spaces.CycleID(q.Run), Mind: text, Model: text, Budget: q.Budget,
		Was: console.RunOutcome{Lines: []console.TranscriptLine{{What: "shown", Text: text}, was}, Rest: text, Prompts: text}.Counted(),
		Now: console.RunOutcome{Lines: []console.TranscriptLine{{What: "shown", Text: text}, now}, Rest: text, Prompts: text}.Counted(),
	}, nil
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

// StepMission implements [console.Process]. There is one mission, 3f2a, which runs.
func (p *FakeProgram) StepMission(_ context.Context, id string, step spaces.MissionStep) (spaces.Mission, error) {
	m := spaces.Mission{ID: "00000000-0000-7000-8000-000000003f2a", State: spaces.MissionRunning}
	if id != m.Number() {
		return spaces.Mission{}, console.ErrUnknown
	}
	if _, _, err := m.Apply(spaces.MissionStep{Mission: m.ID, Kind: step.Kind, By: spaces.MissionOperator, At: Started, From: step.From}); err != nil {
		return m, notTakenError{err}
	}
	return m, nil
}

// A notTakenError says that a mission does not take a step.
type notTakenError struct{ error }

// Refusal implements [console.UserError].
func (e notTakenError) Refusal() console.ErrorAnswer {
	return console.ErrorAnswer{Error: e.Error(), Do: "see how it stands"}
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

// changeSend is the [console.Options.ChangeSend] of a world: it refuses what is dropped.
func (p *FakeProgram) changeSend(_ context.Context, a spaces.Action, verb console.SendVerb) error {
	p.note(string(verb) + " to " + a.Chat)
	if !verb.MayChange(a.State) {
		return notTakenError{errors.New("it is " + string(a.State))}
	}
	return nil
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
func (p *FakeProgram) Budget(spaces.AgentID, spaces.SpaceID) money.SpendLimit {
	return money.SpendLimit{Tokens: 400_000}
}

// Currency implements [console.Settings].
func (p *FakeProgram) Currency() string {
	return "USD"
}

// Model implements [console.Settings].
func (p *FakeProgram) Model(spaces.AgentID) console.ModelUse {
	return console.ModelUse{Name: "gpt-5-mini", Window: 64_000, WindowFrom: "as the endpoint tells", Price: "0.25 USD for a million tokens read and 2 USD written", PriceFrom: "as is published of it"}
}

// A PromptShelf is a [console.Prompts] without a process.
type PromptShelf struct {
	prompts.PromptRegistry
	store prompts.ActivationStore
}

// Book implements [console.Prompts].
func (p *PromptShelf) Book(ctx context.Context) (*prompts.PromptBook, error) { return p.Load(ctx) }

// Change implements [console.Prompts].
func (p *PromptShelf) Change(ctx context.Context, c prompts.PromptChange) (prompts.PromptChange, error) {
	return p.Apply(ctx, p.store, c, time.Now())
}

// OutsideTools implements [console.ToolDesk].
func (p *FakeProgram) OutsideTools(context.Context) (console.OutsideTools, error) {
	return console.OutsideTools{
		Servers: []console.ToolServerRow{{Name: "tickets", Status: "failing", Since: Started, Problem: p.text(), Product: p.text(), Tools: 1, Changed: []string{p.text()}, Skipped: []string{p.text()}}},
		Granted: []console.GrantedTool{
			{Agent: "ada", Tool: "tickets.create", Name: "tickets_create", Server: "tickets", Tier: spaces.TierMarketplace, Approve: "ask"},
			{Agent: "bob", Tool: "tickets.create", Name: "tickets_create", Server: "tickets", Tier: spaces.TierMarketplace, Approve: "ask"},
		},
		Used: []console.ToolUsage{{Tool: "tickets_create", Server: "tickets", Calls: 12, Failed: 1, Median: 340, Slow: 2100, Last: Started}, {Tool: "weather", Server: "weather", Calls: 2, Last: Started}},
	}, nil
}

// AcceptTools implements [console.ToolDesk].
func (p *FakeProgram) AcceptTools(_ context.Context, q console.AcceptRequest) (console.AcceptedTools, error) {
	if q.Server != "tickets" {
		return console.AcceptedTools{}, noFactError{}
	}
	return console.AcceptedTools{Server: q.Server, Tools: []string{"create"}}, nil
}

// Approvals implements [console.ToolDesk].
func (p *FakeProgram) Approvals(context.Context) (console.Approvals, error) {
	args, err := json.Marshal(map[string]string{"title": p.text()})
	p.mu.Lock()
	defer p.mu.Unlock()
	return console.Approvals{
		Waiting: []console.ApprovalRow{{Code: "K7QDX", Agent: "ada", Tool: "tickets_create", Args: args, Space: p.room, Asker: "telegram:42", Since: Started, Expires: Started.Add(24 * time.Hour)}},
		Always:  []spaces.ToolGrant{{Agent: "ada", Space: p.room, Tool: "weather", By: "telegram:42", Since: Started}},
	}, err
}

// DecideApproval implements [console.ToolDesk]. Only K7QDX waits.
func (p *FakeProgram) DecideApproval(_ context.Context, d console.ApprovalDecision) (console.ApprovalOutcome, error) {
	if d.Revoke == nil && d.Code != "K7QDX" {
		return console.ApprovalOutcome{}, noFactError{}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.decided = append(p.decided, d)
	return console.ApprovalOutcome{Says: "decided"}, nil
}

// Decided returns what was decided about calls of tools.
func (p *FakeProgram) Decided() []console.ApprovalDecision {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.decided)
}
