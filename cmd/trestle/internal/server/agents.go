package server

import (
	"cmp"
	"log/slog"
	"strings"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/offline"
	"github.com/trestle-bridge/trestle/internal/llm/openai"
	"github.com/trestle-bridge/trestle/internal/timezone"
	"github.com/trestle-bridge/trestle/shell"
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
		all = append(all, shell.Agent{ID: spaces.AgentID(a.ID), Name: a.Name, Persona: a.Persona, Model: model, Embedder: as.embedder(a)})
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
	switch {
	case as.Models != nil:
		return as.Models(m)
	case m.Offline:
		return offline.EchoModel{}
	}
	client, err := as.OpenEndpoint(m)
	if err != nil {
		as.modelFailure.Store(err.Error())
		return offline.EchoModel{}
	}
	health := as.healthOf(entry, m)
	health.setClient(client)
	retrying := &llm.RetryingModel{Model: llm.CallObserver{Model: client, Saw: as.observeCall(health)}}
	if m.Fallbacks != "" {
		retrying.Limit = fallbackAfter
	}
	return retrying
}

// OpenEndpoint makes the client of an endpoint without calling it.
func (as *agentSet) OpenEndpoint(m config.ModelEndpoint) (*openai.Client, error) {
	o := openai.Options{
		BaseURL: m.BaseURL, APIKey: string(m.APIKey), Around: as.clock.Around,
		FirstToken: m.Timeout.FirstToken, Idle: m.Timeout.Idle, Total: m.Timeout.Total, Compat: strings.Fields(m.Compat),
	}
	if as.learned != nil {
		o.Learned = &learnedModels{as.learned, as.Log}
	}
	return openai.New(o)
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
		Agents: am.agents(), Settings: am.shellSettings, Bus: clusterBus{am.clusterNode}, Presence: newTypingNotifier(am.connectionSet), Drafts: drafts{am.connectionSet},
		Counter: new(hud.TokenCounter), Holder: cmp.Or(am.Store.Process(), am.Mint()), NewID: am.Mint, Nonce: am.nonce, Logger: am.Log,
	}
	if am.files != nil {
		o.Sight = newImageLoader(am.border, am.files)
		o.Files = am.Config().SettingsFor("", "").Attachments.Send
		if am.transcribes() {
			o.Ears = transcriptionStatus{am.border}
		}
	}
	return shell.New(o)
}

// settingsKey names the settings of an agent in an entry of a configuration.
type settingsKey struct {
	of           *config.Config
	agent, entry string
}

// shellSettings returns the settings of an agent in a space. They are computed once for each
// entry of a configuration.
func (as *agentSet) shellSettings(agent spaces.AgentID, space spaces.SpaceID) shell.AgentSettings {
	key := settingsKey{as.Config(), string(agent), as.keyOf(space)}
	if known, ok := as.settings.Load(key); ok {
		return known.(shell.AgentSettings)
	}
	a, _ := key.of.Agent(key.agent)
	s := ShellSettings(a, key.of.SettingsFor(key.agent, key.entry))
	s.Told, s.Wake = key.of.HasEntry(key.entry), key.of.AgentWakePolicy(key.agent, key.entry)
	as.settings.Store(key, s)
	return s
}

// focusWeights maps the words of `focus` to weights; usualPriority is the `render_priority`
// that changes nothing.
var focusWeights = map[string]float64{"low": 0.5, "normal": 1, "high": 2}

const usualPriority = 5

// ShellSettings converts the settings of the configuration to those of the shell.
func ShellSettings(a config.AgentEntry, s config.ResolvedSettings) shell.AgentSettings {
	return shell.AgentSettings{
		ModelName: a.Model.Name, ContextTokens: s.ContextTokens, MaxOutput: s.MaxOutputTokens,
		MaxSteps: s.MaxSteps, MaxRoomActs: s.MaxSpaceActs,
		Links: s.Links, LinkHosts: s.LinkHosts, Zone: timezone.Named(s.Timezone),
		Without: withheldTools(s), GreetPlainly: !s.Greeting.LookUp,
		Phases: shell.PhasePolicy(s.Phases), PlainText: shell.PlainTextPolicy(s.PlainText), Tags: s.Dialect == "tags", SendStale: s.OnStale == "send", Drafts: s.Streaming != "off", DraftMessages: s.Streaming == "edits", WaitTimeout: s.Wait.Timeout,
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
		CycleTokens: s.Budget.PerCycle, RootTokens: s.Budget.PerRoot, SenderTokens: s.Budget.SenderPerDay,
		AgentTokens: s.Budget.AgentPerDay, SpaceTokens: s.Budget.SpacePerDay, AllTokens: s.Budget.PerDay,
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
	return client
}

// withheldTools returns the tools that the configuration takes from an agent. An agent that may
// not speak may neither reply nor send a file.
func withheldTools(s config.ResolvedSettings) []string {
	var off []string
	for _, a := range []struct {
		on   bool
		acts []string
	}{
		{s.Acts.SendMessage, []string{"send_message", "send_reply"}},
		{s.Acts.SendMessage && s.Acts.SendFile, []string{"send_file"}},
		{s.Acts.React, []string{"react"}},
		{s.Acts.EditMessage, []string{"edit_message"}},
		{s.Acts.DeleteMessage, []string{"delete_message"}},
		{s.Acts.ReadMessages, []string{"read_messages"}},
		{s.Acts.Search, []string{"search"}},
		{s.Acts.SetUp && s.Acts.SendMessage, []string{"set_up"}},
	} {
		if !a.on {
			off = append(off, a.acts...)
		}
	}
	return off
}
