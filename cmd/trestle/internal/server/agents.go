package server

import (
	"cmp"
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/buildinfo"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/toolbox"
	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/offline"
	"github.com/trestle-bridge/trestle/internal/llm/provider"
	"github.com/trestle-bridge/trestle/internal/money"
	"github.com/trestle-bridge/trestle/internal/timezone"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/shell/prompts"
	"github.com/trestle-bridge/trestle/spaces"
)

// agents returns the agents that can run, with their models.
func (as *agentSet) agents() []shell.Agent {
	as.modelFailure.Store("")
	clients := map[config.ModelEndpoint]llm.ChatModel{}
	var all []shell.Agent
	for _, a := range as.Config().Agents {
		if a.Misconfigured {
			continue
		}
		entry := entryOf(as.Config(), a)
		model := as.withFallbacks(entry, a.Model, as.clientOf(clients, entry, a.Model), clients)
		all = append(all, shell.Agent{ID: spaces.AgentID(a.ID), Name: a.Name, Persona: a.Persona, Model: model, Embedder: as.embedder(a), Price: as.agentPrice(a.ID)})
	}
	as.clients = clients
	as.health.Range(func(m, _ any) bool {
		if clients[m.(config.ModelEndpoint)] == nil { // no agent has it any more
			as.health.Delete(m)
		}
		return true
	})
	as.fallbacks.Range(func(m, _ any) bool {
		if clients[m.(config.ModelEndpoint)] == nil {
			as.fallbacks.Delete(m)
		}
		return true
	})
	return all
}

// clientOf returns the client of an endpoint among clients, which it is added to. One of
// before keeps what it knows of its endpoint.
func (as *agentSet) clientOf(clients map[config.ModelEndpoint]llm.ChatModel, entry string, m config.ModelEndpoint) llm.ChatModel {
	if clients[m] == nil {
		if client, known := as.clients[m].(*llm.RetryingModel); known {
			clients[m] = client
		} else {
			clients[m] = as.model(entry, m)
		}
	}
	return clients[m]
}

// model returns the client of an endpoint, one for each credential, so that a refused key
// pauses only its own calls. Without a usable endpoint it returns the built-in model, and
// health reports that.
func (as *agentSet) model(entry string, m config.ModelEndpoint) llm.ChatModel {
	retrying := &llm.RetryingModel{}
	var client llm.ChatModel
	switch {
	case as.Models != nil:
		client, retrying.Attempts = as.Models(m), 1
	case m.Offline:
		return offline.EchoModel{}
	default:
		var err error
		if client, err = as.OpenEndpoint(m); err != nil {
			as.modelFailure.Store(err.Error())
			return offline.EchoModel{}
		}
	}
	health := as.healthOf(entry, m)
	health.setClient(retrying)
	retrying.Model = llm.CallObserver{Model: client, Saw: as.observeCall(health)}
	if m.Fallbacks != "" {
		retrying.Limit = fallbackAfter
	}
	return retrying
}

// OpenEndpoint makes the client of an endpoint without calling it.
func (as *agentSet) OpenEndpoint(m config.ModelEndpoint) (llm.ChatModel, error) {
	o := provider.ClientOptions{
		BaseURL: m.BaseURL, APIKey: string(m.APIKey), Around: as.clock.Around,
		FirstToken: m.Timeout.FirstToken, Idle: m.Timeout.Idle, Total: m.Timeout.Total, Compat: strings.Fields(m.Compat),
	}
	if as.learned != nil {
		o.Learned = &learnedModels{as.learned, as.Log}
	}
	return provider.OpenModel(m.Provider, o)
}

// LearnedFile is the file of the data folder that holds what was learned of models.
const LearnedFile = "models.json"

// learnedModels keeps what is learned of models in a file, and logs it.
type learnedModels struct {
	*llm.CapabilityFile
	log *slog.Logger
}

// SaveCapability implements [llm.CapabilityStore].
func (l *learnedModels) SaveCapability(endpoint, model string, c llm.ModelCapability) error {
	l.log.Info("learned of a model", "endpoint", endpoint, "model", model, "demands", c.Demands, "window", c.Window, "max_output", c.MaxOutput)
	err := l.CapabilityFile.SaveCapability(endpoint, model, c)
	if err != nil {
		l.log.Warn("what was learned of a model is not kept", "error", err)
	}
	return err
}

// newShell returns the shell that runs the agents over the store.
func (am *AccountManager) newShell() *shell.Shell {
	view := am.Store.Shell()
	o := shell.Options{
		Inbox: serverAwareQueue{view, am.loadServersOf}, Journal: directSendStore{view, am.egress, am.notifyAccount}, Record: view, Halter: view, Forgetter: view, Digests: view, Meanings: view,
		Agents: am.agents(), Settings: am.shellSettings, Bus: clusterBus{am.clusterNode}, ProgressDisplay: shell.ProgressDisplay{Presence: newTypingNotifier(am.connectionSet), Drafts: drafts{am.connectionSet}},
		Counter: new(hud.TokenCounter), Holder: cmp.Or(am.Store.Process(), am.Mint()), NewID: am.Mint, Nonce: am.nonce, Logger: am.Log,
	}
	o.SamePerson = am.samePerson
	am.tools = toolbox.New(am.Config(), toolOptions(am.Config(), am.Log))
	am.prompts = &prompts.PromptRegistry{Folder: am.Config().PromptFolder, Reader: am.Store.Prompts()}
	o.Prompts = am.prompts
	o.Outside = shell.OutsideAccess{Box: am.tools, Runner: view, Reader: view}
	if am.files != nil {
		o.Sight, o.Texts = newImageLoader(am.border, am.files), newDocumentReader(am.border, am.files)
		o.Files = am.Config().SettingsFor("", "").Attachments.Send
		if am.transcribes() {
			o.Ears = transcriptionStatus{am.border}
		}
	}
	return shell.New(o)
}

// toolOptions returns what the box of tools of a configuration needs.
func toolOptions(c *config.Config, log *slog.Logger) toolbox.Options {
	return toolbox.Options{Data: c.Data, Base: filepath.Dir(c.Path), Version: buildinfo.Current().Version, Log: log, BuiltIn: shell.IsBuiltIn}
}

// settingsKey names the settings of an agent in an entry of a configuration.
type settingsKey struct {
	of           *config.Config
	agent, entry string
	facts        int64 // how often what endpoints tell had changed
}

// shellSettings returns the settings of an agent in a space. They are computed once for each
// entry of a configuration, and again when its endpoint tells something else of its model.
func (as *agentSet) shellSettings(agent spaces.AgentID, space spaces.SpaceID) shell.AgentSettings {
	key := settingsKey{as.Config(), string(agent), as.keyOf(space), as.factsChanged.Load()}
	if known, ok := as.settings.Load(key); ok {
		return known.(shell.AgentSettings)
	}
	a, _ := key.of.Agent(key.agent)
	s := ShellSettings(a, key.of.SettingsFor(key.agent, key.entry))
	if tokens, from := windowOf(key.of, key.agent, key.entry, a.Model, as.told); from != fromFile {
		s.ContextTokens, s.MaxOutput = tokens, min(s.MaxOutput, tokens/4)
	}
	s.DeniedTools = key.of.DeniedTools(key.entry)
	s.Budget = s.Budget.Priced(priced(key.of, a, as.told))
	s.Told, s.Wake = key.of.HasEntry(key.entry), key.of.AgentWakePolicy(key.agent, key.entry)
	as.settings.Store(key, s)
	return s
}

// focusWeights maps the words of `focus` to weights; usualPriority is the `render_priority`
// that changes nothing.
var focusWeights = map[string]float64{"low": 0.5, "normal": 1, "high": 2}

const usualPriority = 5

// acknowledgement returns the emoji that shows people that their message is worked on, or "".
func acknowledgement(s config.ResolvedSettings) string {
	if s.Acknowledge == "off" {
		return ""
	}
	return s.Acknowledge
}

// ShellSettings converts the settings of the configuration to those of the shell.
func ShellSettings(a config.AgentEntry, s config.ResolvedSettings) shell.AgentSettings {
	return shell.AgentSettings{
		ModelName: a.Model.Name, ContextTokens: s.ContextTokens, MaxOutput: s.MaxOutputTokens,
		MaxSteps: s.MaxSteps, MaxRoomActs: s.MaxSpaceActs,
		Links: s.Links, LinkHosts: s.LinkHosts, Zone: timezone.Named(s.Timezone),
		Without: withheldTools(s), GreetPlainly: !s.Greeting.LookUp,
		Phases: shell.PhasePolicy(s.Phases), PlainText: shell.PlainTextPolicy(s.PlainText), Tags: s.Dialect == "tags", SendStale: s.OnStale == "send", Streaming: s.Streaming, Feedback: s.Feedback, Acknowledge: acknowledgement(s), WaitTimeout: s.Wait.Timeout,
		Ambient: shell.AmbientPolicy{Debounce: s.Ambient.Debounce, Longest: s.Ambient.Defer, Share: s.Ambient.Sample, InTurn: s.Floor == "queue"},
		Histories: hud.HistoryLimits{
			Origin: s.CrossSpace.OriginLimit, Target: s.CrossSpace.TargetLimit,
			LongOrigin: s.CrossSpace.LongOriginLimit, LongTarget: s.CrossSpace.LongTargetLimit,
		},
		Parallel: s.Parallel, Expires: s.Expires, OnUnknown: s.OnUnknown, RecallTokens: s.RecallTokens, Across: s.Across,
		Pictures: s.Images.Most, PictureSide: s.Images.Side,
		HighWater: s.HighWater, LowWater: s.LowWater, FullCycles: s.Consciousness.FullCycles, MinCycles: s.Consciousness.MinRecentCycles,
		LogTokens: s.Consciousness.MaxTokens, SingleCycles: s.Consciousness.SingleCycles, GroupSize: s.Consciousness.GroupSize,
		SpansShown: s.Spans.Limit, SpanBeside: !s.Spans.IncludeActive, KeepRecent: s.Chat.KeepRecent, SummariseFrom: s.Chat.SummariseAbove,
		Threads:    hud.ConversationWeights{Keep: s.Threads.Keep, Partial: s.Threads.Partial, Summary: s.Threads.Summary},
		LevelStart: s.Levels.Start, LevelMax: s.Levels.Max, Guard: s.Guard, Snippet: s.Relevance.Snippet,
		Weight: focusWeights[s.Focus] * float64(s.Priority) / usualPriority, ReadLimit: s.Read.Limit, MemoryChars: s.Memory.MaxChars, Onboarding: s.Prompts.Onboarding,
		CompactAfter: s.Compact.AfterTurns, CompactKeep: s.Compact.Keep, SummaryTokens: s.Compact.SummaryTokens, CacheTTL: s.CacheTTL, DigestModel: auxiliaryModel(a, s.Summary.Model), MeaningModel: auxiliaryModel(a, s.Relevance.Embeddings),
		Budget: shell.BudgetLimits{
			Cycle: s.Budget.PerCycle, Root: s.Budget.PerRoot, Sender: s.Budget.SenderPerDay,
			Agent: s.Budget.AgentPerDay, Space: s.Budget.SpacePerDay, All: s.Budget.PerDay,
			ToolsPerDay: s.Budget.ToolsPerDay, ToolsPerMinute: s.Budget.ToolsPerMinute,
		},
	}
}

// auxiliaryModel returns the name of an auxiliary model, or "" when the agent's own model needs
// no endpoint.
func auxiliaryModel(a config.AgentEntry, name string) string {
	if a.Model.Offline {
		return ""
	}
	return name
}

// embedder returns the client that computes embeddings at the endpoint of the agent's
// model, over connections of its own; nil when the agent uses none.
func (as *agentSet) embedder(a config.AgentEntry) llm.Embedder {
	if auxiliaryModel(a, as.Config().SettingsFor(a.ID, "").Relevance.Embeddings) == "" {
		return nil
	}
	client, err := as.OpenEndpoint(a.Model)
	if err != nil {
		as.Log.Error("lines are not found by meaning", "agent", a.ID, "error", err)
		return nil
	}
	embedder, ok := client.(llm.Embedder)
	if !ok {
		as.Log.Error("lines are not found by meaning: the provider has no embeddings", "agent", a.ID, "provider", a.Model.Provider)
		return nil
	}
	return embedder
}

// withheldTools returns the tools that the configuration takes from an agent. An agent that may
// not speak may neither reply nor send a file.
func withheldTools(s config.ResolvedSettings) []string {
	var off []string
	for _, a := range []struct {
		on   bool
		acts []string
	}{
		{s.Acts.SendMessage, []string{"send_message", "send_reply", "ask"}},
		{s.Acts.SendMessage && s.Acts.SendFile, []string{"send_file"}},
		{s.Acts.React, []string{"react"}},
		{s.Acts.EditMessage, []string{"edit_message"}},
		{s.Acts.DeleteMessage, []string{"delete_message"}},
		{s.Acts.ReadMessages, []string{"read_messages"}},
		{s.Acts.Search, []string{"search"}},
		{s.Acts.SetUp && s.Acts.SendMessage, []string{"set_up"}},
		{s.Acts.EditMessage && s.Acts.SendMessage, []string{"checklist", "check"}},
		{s.Acts.Missions && s.Acts.SendMessage, []string{"propose_mission", "mission", "submit_task", "return_task", "verify_task"}},
	} {
		if !a.on {
			off = append(off, a.acts...)
		}
	}
	return off
}

// promptInterval is the time between two looks at the versions of prompts, which an operator
// or another process may have changed.
const promptInterval = time.Second

// runAgents runs the shell, and ends the programs and connections of its tools with it.
func (as *agentSet) runAgents(ctx context.Context) error {
	if _, err := as.prompts.Load(ctx); err != nil && ctx.Err() == nil {
		as.Log.Warn("prompts not read; agents are told what is built in", "error", err)
	}
	as.tools.Start(ctx)
	defer as.tools.Close()
	var learning sync.WaitGroup
	defer learning.Wait()
	learning.Go(func() { as.learnFacts(ctx) })
	return as.shell.Run(ctx)
}

// A priceKey names the price of a model as an agent calls it.
type priceKey struct {
	settingsKey
	model string
}

// agentPrice returns the function that prices the calls of an agent, by the
// configuration in force.
func (as *agentSet) agentPrice(agent string) func(string) money.TokenPrice {
	return func(name string) money.TokenPrice {
		key := priceKey{settingsKey{as.Config(), agent, "", as.factsChanged.Load()}, name}
		if known, ok := as.settings.Load(key); ok {
			return known.(money.TokenPrice)
		}
		a, _ := key.of.Agent(agent)
		p, _ := tokenPriceOf(key.of, a, name, as.told)
		as.settings.Store(key, p)
		return p
	}
}

// usageAt returns the usage of a call at the endpoint of the installation's model.
func (as *agentSet) usageAt(name string, u llm.TokenUsage) spaces.TokenUsage {
	c := as.Config()
	price, _ := tokenPriceOf(c, config.AgentEntry{Model: c.Model}, name, as.told)
	return spaces.TokenUsage{Prompt: u.Prompt, Cached: u.Cached, Output: u.Output, Cost: price.Cost(u.Prompt, u.Cached, u.Written, u.Output)}
}
