package server

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/shell"
)

// Signs of an endpoint that truncates prompts: no tokenizer makes one token of so many bytes of
// ordinary text, and no two prompts of different lengths have the same number of tokens again
// and again.
const (
	thinTokens = 10   // bytes for each token
	apart      = 0.05 // by how much two prompts differ in length at least
	convinced  = 3    // answers in a row
	downAfter  = time.Minute
	wordy      = 5 // answers in a row, for words alone may now and then be meant
)

// endpointHealth observes the results of the calls of one endpoint.
type endpointHealth struct {
	name string // of the model's entry

	mu     sync.Mutex // guards what follows
	client llm.ChatModel
	failed error     // of the newest call; nil when it was answered
	since  time.Time // when calls began to fail
	bad    int       // calls since the last answer that were rejected
	thin   int       // answers in a row that show a cut
	size   int       // of the last request that was answered, in bytes
	read   int       // tokens the endpoint said it had read of it
	words  int       // answers since the last tool call that were text alone
}

// saw observes one call.
func (e *endpointHealth) saw(r llm.ModelRequest, resp llm.ModelResponse, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err != nil {
		if e.failed == nil {
			e.since = time.Now()
		}
		if e.failed = err; llm.KindOf(err) == llm.Rejected {
			e.bad++
		}
		return
	}
	e.failed, e.bad = nil, 0
	switch {
	case len(resp.Calls) > 0:
		e.words = 0
	case shell.IsUnheard(r, resp):
		e.words++
	}
	if resp.Usage.Estimated || resp.Usage.Prompt <= 0 {
		return
	}
	size := r.Size()
	longer := float64(max(size, e.size)-min(size, e.size)) > apart*float64(max(size, 1))
	if size/resp.Usage.Prompt > thinTokens || resp.Usage.Prompt == e.read && longer {
		e.thin++
	} else {
		e.thin = 0
	}
	e.size, e.read = size, resp.Usage.Prompt
}

// see returns the problems of the endpoint now.
func (e *endpointHealth) see(now time.Time) []alerts.Observation {
	e.mu.Lock()
	defer e.mu.Unlock()
	var all []alerts.Observation
	add := func(code alerts.ProblemCode, evidence string) {
		all = append(all, alerts.Observation{Code: code, Subject: e.name, Evidence: evidence})
	}
	if e.thin >= convinced {
		add(alerts.Truncates, fmt.Sprintf("of a prompt of %s it read %d tokens", console.Size(int64(e.size)), e.read))
	}
	if e.words >= wordy {
		add(alerts.NoActs, fmt.Sprintf("its last %d answers were words alone", e.words))
	}
	silent := e.silentSince(now)
	if e.failed == nil {
		if !silent.IsZero() {
			add(alerts.ModelDown, "a call has waited for a word of its answer since "+silent.UTC().Format("15:04:05 MST"))
		}
		return all
	}
	switch llm.KindOf(e.failed) {
	case llm.Denied:
		add(alerts.ModelKey, e.failed.Error())
	case llm.NoModel:
		add(alerts.NoModel, e.failed.Error())
	case llm.Unavailable, llm.Timeout, llm.Garbled:
		if now.Sub(e.since) >= downAfter || !silent.IsZero() {
			add(alerts.ModelDown, e.failed.Error())
		}
	case llm.Rejected:
		if e.bad >= convinced {
			add(alerts.Rejects, e.failed.Error())
		}
	case llm.Limited, llm.TooLong: // of one request, not of the endpoint
	}
	return all
}

// probeModels observes the calls of every endpoint.
func (as *agentSet) probeModels() alerts.ConditionProbe {
	return alerts.ConditionProbe{
		Codes: []alerts.ProblemCode{alerts.ModelKey, alerts.NoModel, alerts.ModelDown, alerts.Rejects, alerts.Truncates, alerts.NoActs, alerts.FellBack},
		See: func(context.Context) ([]alerts.Observation, error) {
			var all []alerts.Observation
			as.health.Range(func(m, e any) bool {
				all = append(all, e.(*endpointHealth).see(time.Now())...)
				all = append(all, e.(*endpointHealth).seeWindow(m.(config.ModelEndpoint).Name, as.usedWindow(m.(config.ModelEndpoint)))...)
				return true
			})
			as.fallbacks.Range(func(_, f any) bool {
				all = append(all, f.(*fallbackModel).seeFallback()...)
				return true
			})
			return all, nil
		},
	}
}

// silentSince returns since when the endpoint has been silent to a call for too long; zero
// when it has not. e.mu is held.
func (e *endpointHealth) silentSince(now time.Time) time.Time {
	if m, ok := e.client.(*llm.RetryingModel); ok {
		return m.SilentSince(now)
	}
	return time.Time{}
}

// setClient stores the client whose calls are followed.
func (e *endpointHealth) setClient(client llm.ChatModel) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.client = client
}

// seeWindow returns a problem when the window that was learned of a model is smaller
// than what its agents use.
func (e *endpointHealth) seeWindow(name string, used int) []alerts.Observation {
	e.mu.Lock()
	defer e.mu.Unlock()
	window := llm.CapabilityOf(e.client, name).Window
	if window == 0 || window >= used || e.thin >= convinced {
		return nil
	}
	return []alerts.Observation{{
		Code: alerts.Truncates, Subject: e.name,
		Evidence: fmt.Sprintf("it refused a prompt as too long; prompts are cut to its window of %s tokens, and its agents would use %s", textformat.Thousands(window), textformat.Thousands(used)),
	}}
}

// usedWindow returns the largest window that the agents of a model use.
func (as *agentSet) usedWindow(m config.ModelEndpoint) int {
	used := 0
	for _, a := range as.Config().Agents {
		if a.Model == m {
			tokens, _ := windowOf(as.Config(), a.ID, "", m, as.told)
			used = max(used, tokens)
		}
	}
	return used
}

// healthOf returns the health of the endpoint that an entry names.
func (as *agentSet) healthOf(entry string, m config.ModelEndpoint) *endpointHealth {
	e, _ := as.health.LoadOrStore(m, &endpointHealth{name: entry})
	return e.(*endpointHealth)
}

// failingStates maps the problems of endpoints to their states in the health report.
var failingStates = map[alerts.ProblemCode]string{
	alerts.ModelKey: "refused", alerts.NoModel: "missing", alerts.ModelDown: "down", alerts.Rejects: "rejects",
}

// modelComponents returns the state of the configured model, and the endpoints of agents that
// cannot be called.
func (as *agentSet) modelComponents(now time.Time) []console.Component {
	all := []console.Component{modelComponent(as.Config().Model, as.ModelFailed())}
	as.health.Range(func(_, e any) bool {
		for _, s := range e.(*endpointHealth).see(now) {
			state, fails := failingStates[s.Code]
			x := console.Component{Name: s.Subject, Kind: "model", State: state, Reason: s.Evidence}
			switch {
			case fails && x.Name == all[0].Name:
				all[0] = x
			case fails:
				all = append(all, x)
			}
		}
		return true
	})
	for _, x := range as.fallbackComponents() { // its words say why the first does not answer
		if i := slices.IndexFunc(all, func(y console.Component) bool { return y.Name == x.Name }); i >= 0 {
			all[i] = x
		} else {
			all = append(all, x)
		}
	}
	slices.SortFunc(all[1:], func(a, b console.Component) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// told is the [toldFacts] of the endpoints that agents use.
func (as *agentSet) told(m config.ModelEndpoint, name string) llm.ModelFacts {
	e, ok := as.health.Load(m)
	if !ok {
		return llm.ModelFacts{}
	}
	health := e.(*endpointHealth)
	health.mu.Lock()
	defer health.mu.Unlock()
	return llm.CapabilityOf(health.client, name).Told
}

// When endpoints are asked what they tell of their models: those that are new, did not
// answer or are near and did not tell a window, and the others.
const (
	factsInterval = time.Minute
	factsRefresh  = time.Hour
)

// learnFacts asks the endpoints of agents what they tell of their models until ctx is done.
// Agents run meanwhile, with what is assumed.
func (as *agentSet) learnFacts(ctx context.Context) {
	if as.Models != nil {
		return
	}
	next := map[config.ModelEndpoint]time.Time{}
	ticker := time.NewTicker(factsInterval)
	defer ticker.Stop()
	for {
		as.health.Range(func(key, e any) bool {
			m := key.(config.ModelEndpoint)
			if time.Now().Before(next[m]) || ctx.Err() != nil {
				return true
			}
			as.askFacts(ctx, m, e.(*endpointHealth), next)
			return true
		})
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// askFacts asks one endpoint and sets when it is asked next. Settings are computed anew once
// it has told something else.
func (as *agentSet) askFacts(ctx context.Context, m config.ModelEndpoint, e *endpointHealth, next map[config.ModelEndpoint]time.Time) {
	before := as.told(m, m.Name)
	e.mu.Lock()
	client := e.client
	e.mu.Unlock()
	if err := llm.LearnFacts(ctx, client, m.Name); err != nil {
		as.Log.Debug("the endpoint does not tell of its model", "entry", e.name, "error", err)
		return
	}
	if next[m] = time.Now().Add(factsRefresh); as.told(m, m.Name).Window == 0 && isNearby(m.BaseURL) {
		next[m] = time.Time{} // Ollama tells the window that it serves once the model is in memory
	}
	if as.told(m, m.Name) != before {
		as.factsChanged.Add(1)
	}
}
