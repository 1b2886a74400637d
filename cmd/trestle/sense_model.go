package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/model"
	"github.com/trestle-bridge/trestle/internal/problems"
	"github.com/trestle-bridge/trestle/shell"
)

// Signs of an endpoint that reads less than it is sent. No tokenizer makes one
// token of so many bytes of ordinary text, and no two prompts of different
// lengths have the same number of tokens again and again.
const (
	thinTokens = 10   // bytes for each token
	apart      = 0.05 // by how much two prompts differ in length at least
	convinced  = 3    // answers in a row
	downAfter  = time.Minute
	wordy      = 5 // answers in a row, for words alone may now and then be meant
)

// endpointSense follows what becomes of the calls of one endpoint.
type endpointSense struct {
	name string // of the model's entry

	mu     sync.Mutex // guards what follows
	failed error      // of the newest call; nil when it was answered
	since  time.Time  // when calls began to fail
	bad    int        // calls since the last answer that were rejected
	thin   int        // answers in a row that show a cut
	size   int        // of the last request that was answered, in bytes
	read   int        // tokens the endpoint said it had read of it
	words  int        // answers since the last act that were words which nobody sees
}

// saw takes in one call.
func (e *endpointSense) saw(r model.Request, resp model.Response, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err != nil {
		if e.failed == nil {
			e.since = time.Now()
		}
		if e.failed = err; model.KindOf(err) == model.Rejected {
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

// see returns what is wrong with the endpoint now.
func (e *endpointSense) see(now time.Time) []problems.Sighting {
	e.mu.Lock()
	defer e.mu.Unlock()
	var all []problems.Sighting
	add := func(code problems.Code, evidence string) {
		all = append(all, problems.Sighting{Code: code, Subject: e.name, Evidence: evidence})
	}
	if e.thin >= convinced {
		add(problems.Truncates, fmt.Sprintf("of a prompt of %s it read %d tokens", console.Size(int64(e.size)), e.read))
	}
	if e.words >= wordy {
		add(problems.NoActs, fmt.Sprintf("its last %d answers were words alone", e.words))
	}
	if e.failed == nil {
		return all
	}
	switch model.KindOf(e.failed) {
	case model.Denied:
		add(problems.ModelKey, e.failed.Error())
	case model.NoModel:
		add(problems.NoModel, e.failed.Error())
	case model.Unavailable, model.Timeout, model.Garbled:
		if now.Sub(e.since) >= downAfter {
			add(problems.ModelDown, e.failed.Error())
		}
	case model.Rejected:
		if e.bad >= convinced {
			add(problems.Rejects, e.failed.Error())
		}
	case model.Limited, model.TooLong: // of one request, not of the endpoint
	}
	return all
}

// lookAtModels sees what became of the calls of every endpoint.
func (p *parts) lookAtModels() problems.Look {
	return problems.Look{
		Codes: []problems.Code{problems.ModelKey, problems.NoModel, problems.ModelDown, problems.Rejects, problems.Truncates, problems.NoActs},
		See: func(context.Context) ([]problems.Sighting, error) {
			var all []problems.Sighting
			p.sensed.Range(func(_, e any) bool {
				all = append(all, e.(*endpointSense).see(time.Now())...)
				return true
			})
			return all, nil
		},
	}
}

// sense returns what follows the calls of an endpoint, which an entry names.
func (p *parts) sense(entry string, m config.Model) *endpointSense {
	e, _ := p.sensed.LoadOrStore(m, &endpointSense{name: entry})
	return e.(*endpointSense)
}

// failingStates are what an endpoint is called that cannot be asked.
var failingStates = map[problems.Code]string{
	problems.ModelKey: "refused", problems.NoModel: "missing", problems.ModelDown: "down", problems.Rejects: "rejects",
}

// modelExtensions says how the configured model stands, and which endpoints of agents
// cannot be asked.
func (p *parts) modelExtensions(now time.Time) []extension {
	all := []extension{modelExtension(p.config().Model, p.modelFailed())}
	p.sensed.Range(func(_, e any) bool {
		for _, s := range e.(*endpointSense).see(now) {
			state, fails := failingStates[s.Code]
			x := extension{Name: s.Subject, Kind: "model", State: state, Reason: s.Evidence}
			switch {
			case fails && x.Name == all[0].Name:
				all[0] = x
			case fails:
				all = append(all, x)
			}
		}
		return true
	})
	slices.SortFunc(all[1:], func(a, b extension) int { return cmp.Compare(a.Name, b.Name) })
	return all
}
