package server

import (
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/llm"
)

// fallbackAfter is the time after which no attempt of a request starts at an endpoint
// that others can stand in for.
const fallbackAfter = 5 * time.Second

// fallbackModel is a model with fallbacks, and the entry of its first choice.
type fallbackModel struct {
	*llm.FallbackModel
	entry, name string
}

// withFallbacks returns the model of an agent: its client, or with the fallbacks that the
// configuration names a model that asks them when the client cannot answer. One of before
// with the same choices keeps what it knows of them.
func (as *agentSet) withFallbacks(entry string, m config.ModelEndpoint, client llm.ChatModel, clients map[config.ModelEndpoint]llm.ChatModel) llm.ChatModel {
	named := as.Config().FallbacksOf(m)
	if len(named) == 0 || m.Offline && as.Models == nil {
		return client
	}
	choices := []llm.FallbackChoice{{Model: client, Name: m.Name, Window: as.usedWindow(m), Patience: m.Timeout.FirstToken}}
	for _, f := range named {
		choices = append(choices, llm.FallbackChoice{
			Model: as.clientOf(clients, "models."+f.Key, f.Model), Name: f.Model.Name, Window: f.Model.Window, Patience: f.Model.Timeout.FirstToken,
		})
	}
	if before, ok := as.fallbacks.Load(m); ok && before.(*fallbackModel).Prefers(choices) {
		return before.(*fallbackModel).FallbackModel
	}
	model := &fallbackModel{llm.NewFallback(choices...), entry, m.Name}
	as.fallbacks.Store(m, model)
	return model.FallbackModel
}

// seeFallback returns a problem while another model answers in place of the first one.
func (f *fallbackModel) seeFallback() []alerts.Observation {
	name, cause := f.StandIn()
	if name == "" {
		return nil
	}
	return []alerts.Observation{{Code: alerts.FellBack, Subject: f.entry, Evidence: fmt.Sprintf("%s answers in place of %s: %v", name, f.name, cause)}}
}

// fallbackComponents returns the models that others answer in place of.
func (as *agentSet) fallbackComponents() (all []console.Component) {
	as.fallbacks.Range(func(_, f any) bool {
		for _, s := range f.(*fallbackModel).seeFallback() {
			all = append(all, console.Component{Name: s.Subject, Kind: "model", State: "fallback", Reason: s.Evidence})
		}
		return true
	})
	return all
}
