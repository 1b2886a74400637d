package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/backup"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/control"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/toolbox"
	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/clockskew"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/doctor"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/store/postgres"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/spaces"
)

// Parts returns what there is to examine, in the order of the report.
func (x *examination) Parts() []doctor.Check {
	setup := x.setup()
	all := []doctor.Check{
		{Name: "config", Examine: setup.Examine, Fix: setup.Fix},
		{Name: "data", Examine: x.examineRecord, Last: true},
	}
	if x.conf.Listen != "" {
		all = append(all, doctor.Check{Name: "console", Examine: x.examineConsole})
	}
	if at := x.conf.WebhookListen; at != "" && x.running == nil {
		all = append(all, doctor.Check{Name: "webhooks", Examine: func(ctx context.Context) []adapters.AccountDiagnosis {
			if err := doctor.Listenable(ctx, at); err != nil {
				return []adapters.AccountDiagnosis{doctor.Fail("TRS-C05", "the next start cannot listen on "+at+" for calls of platforms: "+err.Error(), "stop what uses the address, or set webhook_listen to another port")}
			}
			return []adapters.AccountDiagnosis{doctor.Fine(at + " is free for calls of platforms; nothing runs now")}
		}})
	}
	if x.conf.Redis != "" {
		all = append(all, doctor.Check{Name: "redis", Examine: x.examineRedis})
	}
	all = append(all, x.endpoints()...)
	if t := x.conf.Tools; len(t.Servers)+len(t.Commands)+len(t.Skills) > 0 || t.Web.SearchKind != "" {
		all = append(all, doctor.Check{Name: toolsPart, Examine: x.examineTools})
	}
	for _, a := range x.conf.Adapters {
		if !a.Misconfigured {
			all = append(all, doctor.Check{Name: a.Name, Examine: func(ctx context.Context) []adapters.AccountDiagnosis { return x.examineAccount(ctx, a) }})
		}
	}
	for _, w := range x.conf.Warnings {
		if x.isUnusedToken(w) {
			all = append(all, doctor.Check{Name: w.UnusedPlatform, Examine: func(context.Context) []adapters.AccountDiagnosis {
				return []adapters.AccountDiagnosis{doctor.Warn("TRS-C03", w.Err.What, w.Err.Remedy)}
			}})
		}
	}
	return all
}

// isUnusedToken reports whether a warning is the finding of a check of its own: people ask for
// the platform by its name.
func (x *examination) isUnusedToken(w config.EntryWarning) bool {
	return w.UnusedPlatform != "" && !slices.ContainsFunc(x.conf.Adapters, func(a config.AdapterEntry) bool { return a.Name == w.UnusedPlatform })
}

func (x *examination) setup() doctor.CheckedSetup {
	s := doctor.CheckedSetup{Folder: x.conf.Data, Summary: x.conf.SourceName() + ": " + x.conf.Summary()}
	for _, f := range x.conf.Problems {
		s.Entries = append(s.Entries, doctor.BrokenEntry{Path: f.Entry, What: f.Err.What, Mend: f.Err.Remedy})
	}
	for _, w := range x.conf.Warnings {
		if x.isUnusedToken(w) {
			continue
		}
		c := doctor.SetupWarning{What: strings.TrimPrefix(w.Entry+": "+w.Err.What, ": "), Mend: w.Err.Remedy, Grave: w.Serious}
		if w.ReadableFile != "" {
			c.File, c.Name = x.absolute(w.ReadableFile), w.ReadableFile
		}
		s.Warnings = append(s.Warnings, c)
	}
	return s
}

func (x *examination) examineRecord(ctx context.Context) []adapters.AccountDiagnosis {
	if x.running == nil {
		if err := doctor.Writable(x.conf.Data); err != nil {
			return []adapters.AccountDiagnosis{doctor.Fail("TRS-R10", "the data folder cannot be written: "+err.Error(), strings.TrimSuffix(storeopen.FixReadOnly, " (TRS-R10)"))}
		}
	}
	clocks := slices.Concat(x.clock.Readings(), x.there.clocks())
	if x.conf.Database != "" {
		return x.examineDatabase(ctx).Examine(clocks, x.now)
	}
	r, err := sqlite.DataDirCheck{Dir: x.conf.Data, Disk: x.disk}.Run(ctx)
	switch {
	case errors.Is(err, sqlite.ErrReadOnly):
		return []adapters.AccountDiagnosis{doctor.Fail("TRS-R10", err.Error(), strings.TrimSuffix(storeopen.FixReadOnly, " (TRS-R10)"))}
	case err != nil:
		return []adapters.AccountDiagnosis{doctor.Fail("TRS-R10", err.Error(), "see that this user may read the data folder")}
	}
	r.Answers, r.Backup, r.MaxAge = x.running != nil, backup.LastBackup(x.conf.Data), x.conf.Alerts.BackupAge
	return r.Examine(clocks, x.now)
}

// examineDatabase examines the database server. Backups that its own tools make are not visible
// here.
func (x *examination) examineDatabase(ctx context.Context) doctor.DataDir {
	r := doctor.DataDir{Folder: x.conf.Data}
	if info, err := os.Stat(x.conf.Data); err == nil {
		r.Mode = info.Mode().Perm()
	}
	postgres.Examine(ctx, string(x.conf.Database), &r)
	return r
}

func (x *examination) examineConsole(ctx context.Context) []adapters.AccountDiagnosis {
	c := doctor.ConsoleAddress{Listen: x.conf.Listen, Running: x.running != nil, Addresses: doctor.Addresses}
	if x.running != nil {
		var h console.Health
		if err := x.running.Get(ctx, "/health", &h); err != nil {
			return []adapters.AccountDiagnosis{doctor.Fail("TRS-C05", "the running process does not say where its console is: "+err.Error(), "see its log")}
		}
		c.Listen = h.Listen
	}
	return c.Examine(ctx)
}

// endpoints returns a check for each model that agents use.
func (x *examination) endpoints() []doctor.Check {
	var all []doctor.Check
	add := func(name, entry string, a config.AgentEntry, s config.ResolvedSettings) {
		m := a.Model
		e := doctor.ModelEndpoint{Name: m.Name, Entry: entry, Tags: tagsAlone(x.conf, m), Embeddings: s.Relevance.Embeddings, Count: new(hud.TokenCounter).Count}
		all = append(all, doctor.Check{Name: name, Card: e.Card, Examine: func(ctx context.Context) []adapters.AccountDiagnosis {
			if m.Offline && x.Models == nil {
				return []adapters.AccountDiagnosis{doctor.Fine("no endpoint is configured; the built-in stand-in answers")}
			}
			var err error
			if e.Model, err = x.endpoint(m); err != nil {
				return []adapters.AccountDiagnosis{doctor.Fail("TRS-C01", entry+" is misconfigured: "+err.Error(), "correct "+entry+".base_url")}
			}
			e.InWords = x.wordyAgents(ctx, m)
			x.weigh(ctx, &e, a)
			return e.Examine(ctx)
		}})
	}
	add("model", "model", config.AgentEntry{Model: x.conf.Model}, x.conf.SettingsFor("", ""))
	for _, e := range x.conf.Models {
		if s := x.conf.SettingsFor("", ""); !e.Misconfigured {
			s.Relevance.Embeddings = "" // are computed at the endpoint of the agent's own model
			add("models."+e.Key, "models."+e.Key, config.AgentEntry{Model: e.Model}, s)
		}
	}
	for _, a := range x.conf.Agents {
		if a.Model != x.conf.Model && !a.Misconfigured {
			add("agents."+a.ID, "agents."+a.ID+".model", a, x.conf.SettingsFor(a.ID, ""))
		}
	}
	return all
}

// weigh fills in the window and the price of an agent's model, and where they are from. An
// endpoint that does not answer is another finding.
func (x *examination) weigh(ctx context.Context, e *doctor.ModelEndpoint, a config.AgentEntry) {
	_ = llm.LearnFacts(ctx, e.Model, e.Name)
	told := func(_ config.ModelEndpoint, name string) llm.ModelFacts { return llm.CapabilityOf(e.Model, name).Told }
	use := modelUse(x.conf, a, told)
	e.Window, e.WindowFrom, e.Price, e.PriceFrom = use.Window, use.WindowFrom, use.Price, use.PriceFrom
}

// wordyAgents returns the agents of a model that it is known to answer in words for; none
// where the record cannot be read, which is another finding.
func (x *examination) wordyAgents(ctx context.Context, m config.ModelEndpoint) []string {
	r, err := storeopen.OpenReadOnly(ctx, x.conf)
	if err != nil {
		return nil
	}
	defer func() { _ = r.Close() }() // it was only read
	var wordy []string
	for _, a := range x.conf.Agents {
		if a.Model != m {
			continue
		}
		if words, err := r.AnswersInWords(ctx, spaces.AgentID(a.ID), m.Name); err == nil && words {
			wordy = append(wordy, a.ID)
		}
	}
	return wordy
}

// tagsAlone reports whether every agent of a model calls tools by tags in its text.
func tagsAlone(c *config.Config, m config.ModelEndpoint) bool {
	of := slices.DeleteFunc(slices.Clone(c.Agents), func(a config.AgentEntry) bool { return a.Model != m })
	return len(of) > 0 && !slices.ContainsFunc(of, func(a config.AgentEntry) bool { return c.SettingsFor(a.ID, "").Dialect != "tags" })
}

// endpoint returns a client of a model that does not retry, so that the doctor sees failures.
func (x *examination) endpoint(m config.ModelEndpoint) (llm.ChatModel, error) {
	if x.Models != nil {
		return x.Models(m), nil
	}
	return x.OpenEndpoint(m)
}

// examineAccount examines one account, in the process that serves it or else from here.
func (x *examination) examineAccount(ctx context.Context, a config.AdapterEntry) []adapters.AccountDiagnosis {
	if x.running != nil {
		found, err := x.there.over(ctx, x.running, a.Name)
		if err == nil && len(found) > 0 {
			return found
		}
		if err != nil {
			return []adapters.AccountDiagnosis{doctor.Fail("TRS-R08", "the running process does not examine "+a.Name+": "+err.Error(), "see its log")}
		}
	}
	ad, err := x.NewAdapter(a)
	if err != nil {
		return []adapters.AccountDiagnosis{doctor.Fail("TRS-C01", "adapters."+a.Name+" is misconfigured: "+err.Error(), "trestle config check shows the line")}
	}
	return examineAdapter(ctx, ad, namedChats(x.conf, a.Name), x.servedElsewhere(ctx, a.Name))
}

// toolsPart is the name of the check of tools and skills.
const toolsPart = "tools"

// examineTools examines tools and skills, in the process that uses them or else from here.
func (x *examination) examineTools(ctx context.Context) []adapters.AccountDiagnosis {
	if x.running != nil {
		found, err := x.there.over(ctx, x.running, toolsPart)
		if err != nil {
			return []adapters.AccountDiagnosis{doctor.Fail("TRS-R08", "the running process does not examine its tools: "+err.Error(), "see its log")}
		}
		return found
	}
	box := toolbox.New(x.conf, toolOptions(x.conf, x.Log))
	defer box.Close()
	return box.Examine(ctx)
}

// servedElsewhere reports whether another process of the installation serves the account while
// none serves this data folder. It returns true when the database does not answer.
func (x *examination) servedElsewhere(ctx context.Context, name string) bool {
	if x.conf.Database == "" {
		return false
	}
	r, err := storeopen.OpenReadOnly(ctx, x.conf)
	if err != nil {
		found := x.examineDatabase(ctx)
		return found.Exists || found.Refused != ""
	}
	defer func() { _ = r.Close() }() // it was only read
	crew, err := r.Members(ctx)
	return err != nil || ProcessServing(crew, name) != nil
}

func examineAdapter(ctx context.Context, ad adapters.Adapter, chats []string, served bool) []adapters.AccountDiagnosis {
	e, ok := ad.(adapters.AccountDiagnoser)
	if !ok {
		return []adapters.AccountDiagnosis{doctor.Fine("this platform has no examination")}
	}
	return e.Examine(ctx, chats, served)
}

// namedChats returns the chats of an adapter that the configuration names.
func namedChats(c *config.Config, adapter string) []string {
	var ids []string
	for _, s := range c.Spaces {
		for _, chat := range s.Chats {
			if chat.Adapter == adapter && !s.Misconfigured && !slices.Contains(ids, chat.Chat) {
				ids = append(ids, chat.Chat)
			}
		}
	}
	return ids
}

// examined is the answer of GET /doctor on the control socket: the findings of the running
// process about one of its accounts; none for an account that it does not serve.
type examined struct {
	Findings []adapters.AccountDiagnosis `json:"findings"`
	Clocks   []clockskew.ClockOffset     `json:"clocks"`
}

// serveDoctor examines an account with the client that serves it, or would where
// another process does.
func (ctl controlServer) serveDoctor(rw http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("part")
	answer := examined{Findings: []adapters.AccountDiagnosis{}}
	if name == toolsPart {
		answer.Findings = append(answer.Findings, ctl.tools.Examine(r.Context())...)
	}
	if l := ctl.connectionOf(name); l != nil {
		answer.Findings = examineAdapter(r.Context(), l.adapter, namedChats(ctl.Config(), name), l.Status().State == activity.ConnStandby)
	}
	answer.Clocks = ctl.clock.Readings()
	control.WriteJSON(rw, http.StatusOK, answer)
}

// examinedThere holds the clock readings of a running process.
type examinedThere struct {
	mu   sync.Mutex // guards read
	read []clockskew.ClockOffset
}

// over asks the running process for its findings.
func (t *examinedThere) over(ctx context.Context, c *control.Client, name string) ([]adapters.AccountDiagnosis, error) {
	var a examined
	if err := c.Get(ctx, "/doctor?part="+url.QueryEscape(name), &a); err != nil {
		if f, ok := errors.AsType[*apperr.Error](err); ok {
			err = errors.New(f.What)
		}
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.read = a.Clocks
	return a.Findings, nil
}

// examine runs the checks of trestle doctor over the configuration in force.
func (ctl controlServer) examine(ctx context.Context, o doctor.Options) (doctor.CheckReport, error) {
	return NewExamination(ctx, ctl.Config(), func(path string) string { return path }).Report(ctx, o)
}

func (t *examinedThere) clocks() []clockskew.ClockOffset {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.read
}

// Report runs the checks that o chooses.
func (x *examination) Report(ctx context.Context, o doctor.Options) (doctor.CheckReport, error) {
	parts := x.Parts()
	if err := CheckParts(o.Parts, parts); err != nil {
		return doctor.CheckReport{}, err
	}
	return doctor.Examine(ctx, parts, o), nil
}

// CheckParts returns an error for a name that no check has.
func CheckParts(named []string, parts []doctor.Check) error {
	var known []string
	for _, part := range parts {
		known = append(known, part.Name)
	}
	for _, name := range named {
		if slices.Contains([]string{"telegram", "slack", "discord"}, name) && !slices.Contains(known, name) {
			return &apperr.Error{
				What: "no account is called " + name + ", and no token for one is in the environment", Where: "doctor",
				Remedy: "trestle init asks for one, or write it under adapters as docs/" + name + ".md says; parts are " + strings.Join(known, ", "), Code: apperr.Usage,
			}
		}
		if !slices.Contains(known, name) {
			return &apperr.Error{What: fmt.Sprintf("there is no part %q", name), Where: "doctor", Remedy: "parts are " + strings.Join(known, ", "), Code: apperr.Usage}
		}
	}
	return nil
}

// examination is one run of the doctor over a configuration.
type examination struct {
	*Server  // for its wiring; it runs nothing
	conf     *config.Config
	absolute func(path string) string
	running  *control.Client // nil when no process serves the data folder
	there    examinedThere
	now      time.Time
}

// NewExamination returns an examination of what a configuration names, through the
// process that serves its data folder where there is one. absolute resolves paths.
func NewExamination(ctx context.Context, conf *config.Config, absolute func(string) string) *examination {
	x := &examination{Server: NewServer(conf, slog.New(slog.DiscardHandler), io.Discard, true), conf: conf, absolute: absolute, now: time.Now()}
	if c, ok := control.DialSocket(ctx, control.SocketPath(conf)); ok {
		x.running = c
	}
	return x
}
