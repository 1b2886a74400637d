package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"time"

	"github.com/trestle-bridge/trestle/activity/commands"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/buildinfo"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/persontools"
	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/console/api"
	"github.com/trestle-bridge/trestle/internal/console/web"
	"github.com/trestle-bridge/trestle/internal/jobs"
	"github.com/trestle-bridge/trestle/internal/money"
	"github.com/trestle-bridge/trestle/internal/pubsub"
	"github.com/trestle-bridge/trestle/internal/pubsub/inproc"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/shell/prompts"
	"github.com/trestle-bridge/trestle/spaces"
)

// keptEvents is the number of live events that are kept for readers that reconnect.
const keptEvents = 1024

// newEventBus returns the bus of this process. Its ids are greater than those of every earlier
// process.
func newEventBus() *inproc.EventBus {
	return &inproc.EventBus{After: time.Now().UnixMicro(), Keep: keptEvents}
}

// newConsole returns the console; the shell must exist.
func (s *Server) newConsole() *console.Console {
	rooms := persontools.Rooms{Store: s.Store.Shell(), Shell: s.shell, Settings: s.shellSettings, NewID: s.Mint, Notify: s.notifyAccount, Logger: s.Log}
	o := console.Options{
		Store: s.Store.Console(), Figures: s.Store.Figures(), Keys: s.Store.Keys(), Process: consoleBackend{s}, Jobs: jobsBackend{s.Store.Jobs(), s}, Settings: ConsoleSettings{s.Config, s.keyOf, s.told}, Editor: s.Editor, Live: liveEvents{s.Bus}, Desk: toolDesk{s}, People: admissionDesk{s}, Agents: agentControl{s},
		Rehearse: s.rehearse, ChangeSend: consoleBackend{s}.changeSend, Chat: chatDesk{s}, ReasonWords: commands.ReasonWords, OpenFile: chatDesk{s}.openMessageFile,
		PersonTools: rooms.Handler(), Grant: s.grantAccess, Prompts: s.promptAccess(),
		Tools: s.shell.Catalogue().Manifest, Answers: s.answerCommand, Metrics: s.telemetry.Metrics(), Access: s.access, Logger: s.Log,
	}
	a := api.New(o)
	site := web.New(o, a)
	return console.New(o, site, a.Routes(), site.Routes())
}

func (s *Server) narrator() *console.LiveEventSource {
	return &console.LiveEventSource{Reader: s.Store.Console(), Missions: s.Store.Console().Missions(), Bus: s.Bus, Logger: s.Log}
}

// access returns from where the console may be called, by the configuration in force.
func (core *Core) access() console.Access {
	c := core.Config()
	return console.Access{Token: string(c.Token), Hosts: c.Hosts, Proxies: c.Proxies}
}

// liveEvents adapts the bus to [console.EventSource].
type liveEvents struct{ bus *inproc.EventBus }

// Open implements [console.EventSource].
func (l liveEvents) Open(room int) pubsub.LiveStream { return l.bus.Open(room) }

// Resume implements [console.EventSource].
func (l liveEvents) Resume(id int64, room int) pubsub.LiveStream { return l.bus.Resume(id, room) }

// consoleBackend implements what the console asks of the running program.
type consoleBackend struct{ s *Server }

var _ console.Process = consoleBackend{}

// Health implements [console.Process].
func (d consoleBackend) Health() console.Health { return d.s.Health() }

// Boot implements [console.Process].
func (d consoleBackend) Boot() console.Boot { return d.s.Boot.Report() }

// Adapters implements [console.Process].
func (d consoleBackend) Adapters() []console.Adapter {
	var all []console.Adapter
	for _, l := range d.s.conns.all() {
		st := l.Status()
		all = append(all, console.Adapter{
			Name: st.Name, Account: st.Account, Handle: st.Handle, State: string(st.State), Since: OptionalTime(st.Since), Heard: OptionalTime(st.Heard),
			Reason: st.Reason, Paused: st.Paused, Received: st.Stats.Recorded, Refused: st.Stats.Refused,
		})
	}
	return all
}

// Problems implements [console.Process].
func (d consoleBackend) Problems(ctx context.Context) ([]alerts.Alert, error) {
	found, err := d.s.alertStore().Problems(ctx, time.Now())
	return alerts.Worst(found), err
}

// Cancel implements [console.Process].
func (d consoleBackend) Cancel(ctx context.Context, run spaces.CycleID) (bool, error) {
	done, err := runControl{d.s.connectionSet}.Halt(ctx, spaces.StopRequest{Run: run, Unsent: true, Say: "Stopped by a person."})
	return len(done.Runs) > 0, err
}

// An agentControl implements [console.AgentControl].
type agentControl struct{ s *Server }

var _ console.AgentControl = agentControl{}

// Stop implements [console.AgentControl].
func (a agentControl) Stop(ctx context.Context, q spaces.StopRequest) (spaces.StopResult, error) {
	return runControl{a.s.connectionSet}.Halt(ctx, q)
}

// Mute implements [console.AgentControl].
func (a agentControl) Mute(ctx context.Context, q spaces.MuteRequest) ([]spaces.AgentID, error) {
	runs := runControl{a.s.connectionSet}
	changed, err := runs.Mute(ctx, q)
	if err == nil && !q.Lifted {
		_, err = runs.Halt(ctx, spaces.StopRequest{Space: q.Space, Agent: q.Agent, Unsent: true, At: time.Now()})
	}
	return changed, err
}

// Quiet implements [console.AgentControl].
func (a agentControl) Quiet(ctx context.Context, id alerts.AlertID, until time.Time) error {
	if id == 0 {
		return console.ErrUnknown // all of them are not meant
	}
	_, err := a.s.acknowledgeAlerts(ctx, id, until, time.Now())
	if errors.Is(err, alerts.ErrUnknown) {
		return console.ErrUnknown
	}
	return err
}

// StepMission implements [console.Process].
func (d consoleBackend) StepMission(ctx context.Context, id string, step spaces.MissionStep) (spaces.Mission, error) {
	defer d.s.notifyOutbox()
	return StepMission(ctx, d.s.Store, id, step)
}

// StepMission does an operator's step to a mission of a store; see [console.ProcessControl].
func StepMission(ctx context.Context, s *sqlstore.Store, id string, step spaces.MissionStep) (spaces.Mission, error) {
	record, err := s.Console().Missions().Mission(ctx, id)
	if err != nil {
		return spaces.Mission{}, err
	}
	step.Mission, step.By, step.At = record.Mission.ID, spaces.MissionOperator, time.Now()
	m, taken, err := s.Shell().StepMission(ctx, step)
	switch {
	case err != nil:
		return spaces.Mission{}, err
	case m == nil:
		return spaces.Mission{}, console.ErrUnknown
	case !taken && step.From != 0:
		return *m, &apperr.Error{What: fmt.Sprintf("the mission has %d checkpoints, and not that one", m.Checkpoints), Where: "mission " + m.Number(), Remedy: "trestle missions checkpoints " + m.Number() + " lists them", Code: apperr.Failed}
	case !taken:
		return *m, &apperr.Error{What: fmt.Sprintf("a mission that is %s cannot %s", m.State, step.Kind), Where: "mission " + m.Number(), Remedy: "trestle missions show " + m.Number() + " tells how it stands", Code: apperr.Failed}
	}
	return *m, nil
}

// A MissionRequest asks for a step to a mission.
type MissionRequest struct {
	ID   string                 `json:"id"`
	Step spaces.MissionStepKind `json:"step"`
	From int                    `json:"from,omitempty"` // the checkpoint to resume from
}

// stepMission does an operator's step to a mission.
func (ctl controlServer) stepMission(ctx context.Context, q MissionRequest) (spaces.Mission, error) {
	m, err := consoleBackend{ctl.Server}.StepMission(ctx, q.ID, spaces.MissionStep{Kind: q.Step, From: q.From})
	return m, MissionError(err, q.ID)
}

// MissionError returns what a command says when a mission could not be found.
func MissionError(err error, id string) error {
	if several, ok := errors.AsType[console.AmbiguousNameError](err); ok {
		return &apperr.Error{What: several.Error(), Where: "missions", Remedy: "write more of the id that is meant", Code: apperr.Failed}
	}
	if errors.Is(err, console.ErrUnknown) {
		return &apperr.Error{What: fmt.Sprintf("there is no mission %q", id), Where: "missions", Remedy: "see trestle missions", Code: apperr.Failed}
	}
	return err
}

// Forget implements [console.Process]. Other processes reload their minds when they are
// notified, or within a second when the notification was lost.
func (d consoleBackend) Forget(ctx context.Context, m spaces.Mind, id string) (bool, error) {
	had, err := d.s.shell.Forget(ctx, m, id)
	d.recollect(had)
	return had, err
}

// Correct implements [console.Process].
func (d consoleBackend) Correct(ctx context.Context, m spaces.Mind, id, fact string) (bool, error) {
	fact, err := CheckFact(d.s.Config(), m, fact)
	if err != nil {
		return false, err
	}
	had, err := d.s.shell.Correct(ctx, m, id, fact)
	d.recollect(had)
	return had, err
}

// recollect notifies other processes that memories have changed.
func (d consoleBackend) recollect(changed bool) { d.s.ringForgotten(changed) }

// PromptAccess reads and changes which versions of prompts are told. It implements
// [console.Prompts].
type PromptAccess struct {
	Registry *prompts.PromptRegistry
	Store    prompts.ActivationStore // nil: nothing is changed
	Config   func() *config.Config
	Log      *slog.Logger
}

var _ console.Prompts = PromptAccess{}

// Book implements [console.Prompts].
func (p PromptAccess) Book(ctx context.Context) (*prompts.PromptBook, error) {
	return p.Registry.Load(ctx)
}

// Change implements [console.Prompts].
func (p PromptAccess) Change(ctx context.Context, c prompts.PromptChange) (prompts.PromptChange, error) {
	if _, known := p.Config().Agent(string(c.Agent)); !known && c.Agent != "" {
		return c, &apperr.Error{What: fmt.Sprintf("there is no agent %q", c.Agent), Where: "prompts", Remedy: "name one that is under agents", Code: apperr.Failed}
	}
	done, err := p.Registry.Apply(ctx, p.Store, c, time.Now())
	if no, ok := errors.AsType[*prompts.SectionError](err); ok {
		return c, &apperr.Error{What: no.What, Where: c.Version, Remedy: no.Remedy, Code: apperr.Failed}
	}
	if err == nil {
		p.Log.Info("prompt changed", "was", done.Was, "is", done.Version, "agent", done.Agent, "by", done.By)
	}
	return done, err
}

// promptAccess returns the access to the prompts of this process.
func (s *Server) promptAccess() PromptAccess {
	return PromptAccess{Registry: s.prompts, Store: s.Store.Prompts(), Config: s.Config, Log: s.Log}
}

// jobsBackend reads and changes jobs for the console.
type jobsBackend struct {
	jobs.JobReader
	s *Server
}

var _ console.Jobs = jobsBackend{}

// Ask implements [console.Jobs].
func (w jobsBackend) Ask(ctx context.Context, id int64, want jobs.JobState) (jobs.Job, error) {
	j, err := w.s.Store.Jobs().Ask(ctx, id, want, time.Now())
	if err == nil {
		w.s.notifier.Ring(jobsKey)
	}
	return j, err
}

// Banner returns one line with what runs and the address of the console.
func (s *Server) Banner() string {
	text := "trestle " + buildinfo.Current().Version
	if s.ListenAt != "" {
		text += "   console http://" + s.ListenAt
	}
	return text + "   data " + s.Config().Data
}

// LoginAddress returns the address of the console, if possible with a link key that opens it in
// one browser within ten minutes.
func (s *Server) LoginAddress(ctx context.Context) string {
	address := "http://" + LocalAddress(s.ListenAt)
	made, err := s.Console.NewLink(ctx)
	if err != nil {
		return address
	}
	return address + made.Path + "   (once, within 10 minutes; `trestle open --data " + s.Config().Data + "` makes another)"
}

// ConsoleSettings implements [console.Settings] over a configuration.
type ConsoleSettings struct {
	Current func() *config.Config       // the one in force
	EntryOf func(spaces.SpaceID) string // that a space comes from, as far as it is known
	told    toldFacts                   // what endpoints told; nil without a running process
}

// Rows implements [console.Settings].
func (s ConsoleSettings) Rows() []console.SettingRow {
	var rows []console.SettingRow
	for _, r := range s.Current().Rows(config.ShowOptions{All: true}) {
		about, _ := config.DescribeKey(r.Path)
		rows = append(rows, console.SettingRow{Path: r.Path, Value: r.Value, Origin: r.Origin, Meaning: about.Meaning, Default: about.Default})
	}
	return rows
}

// Schema implements [console.Settings].
func (s ConsoleSettings) Schema() []byte { return config.JSONSchema() }

// Budget implements [console.Settings].
func (s ConsoleSettings) Budget(agent spaces.AgentID, space spaces.SpaceID) money.SpendLimit {
	return s.Current().SettingsFor(string(agent), s.EntryOf(space)).Budget.PerCycle
}

// Currency implements [console.Settings].
func (s ConsoleSettings) Currency() string { return s.Current().SettingsFor("", "").Price.Currency }

// Model implements [console.Settings].
func (s ConsoleSettings) Model(agent spaces.AgentID) console.ModelUse {
	a, ok := s.Current().Agent(string(agent))
	if !ok || a.Model.Offline {
		return console.ModelUse{}
	}
	return modelUse(s.Current(), a, s.told)
}

// answerCommand answers a reading command, or returns [console.ErrUnknown].
func (s *Server) answerCommand(ctx context.Context, command string, q url.Values) (any, error) {
	if s.Answers == nil {
		return nil, console.ErrUnknown
	}
	return s.Answers(ctx, s, command, q)
}

// changeSend has a message that was not delivered be sent again, or drops one that waits.
func (d consoleBackend) changeSend(ctx context.Context, a spaces.Action, verb console.SendVerb) error {
	defer d.s.notifyOutbox()
	now, taken := time.Now(), false
	var err error
	switch verb {
	case console.SendAgain:
		var expires time.Time
		if age := d.s.Config().SettingsFor(string(a.Agent), d.s.keyOf(a.Space)).Expires; age > 0 {
			expires = now.Add(age)
		}
		var account string
		account, err = d.s.border.ResendAction(ctx, a.ID, now, expires)
		taken = account != ""
	case console.SendDrop:
		taken, err = d.s.border.DropAction(ctx, a.ID, now)
	}
	if err == nil && !taken {
		return &apperr.Error{What: "nothing can be done about a message that is " + string(a.State) + " or whose run was stopped", Where: "message to " + a.Chat, Remedy: "look at the run again", Code: apperr.Failed}
	}
	return err
}

// rehearse implements [console.RehearseFunc].
func (s *Server) rehearse(ctx context.Context, q console.RehearsalRequest) (console.RehearsedRun, error) {
	if s.Rehearse == nil {
		return console.RehearsedRun{}, console.ErrUnknown
	}
	return s.Rehearse(ctx, s, q)
}

// LocalAddress returns an address of this machine that reaches a listener.
func LocalAddress(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return listen
}
