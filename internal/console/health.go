package console

import (
	"net/http"
	"time"

	"github.com/trestle-bridge/trestle/internal/textformat"
)

// Health is the answer of GET /health to those who may know.
type Health struct {
	Status      string      `json:"status"` // starting, healthy, degraded
	CoreReady   bool        `json:"core_ready"`
	TrustPassed bool        `json:"trust_passed"`
	Version     string      `json:"version"`
	StartedAt   time.Time   `json:"started_at"`
	Listen      string      `json:"listen,omitempty"`
	Extensions  []Component `json:"extensions"`
	Deferred    Deferred    `json:"deferred"`

	Processes []Peer `json:"processes,omitempty"` // that share the database, this one among them
}

// A Peer is one of the processes that share a database.
type Peer struct {
	Host    string    `json:"host"`
	PID     int64     `json:"pid"`
	Version string    `json:"version"`
	Since   time.Time `json:"since"`
	Roles   []string  `json:"roles"` // what it does; empty before it has said
	Has     []string  `json:"has"`   // accounts and duties that it has for itself
}

// Deferred is what the second phase of a start has come to.
type Deferred struct {
	SkillsLoaded       int  `json:"skills_loaded"`
	ToolsSynced        int  `json:"tools_synced"`
	ChannelsConnected  int  `json:"channels_connected"`
	SchedulerStarted   bool `json:"scheduler_started"`
	EmbeddingsComputed bool `json:"embeddings_computed"`
	AllHealthy         bool `json:"all_healthy"`
}

// Summarise fills in the status: starting until the start is over, degraded
// when any part is not healthy or the gate was not passed.
func (h *Health) Summarise(started bool) {
	h.Status, h.Deferred.AllHealthy = "healthy", h.TrustPassed
	for _, x := range h.Extensions {
		switch {
		case !x.Healthy:
			h.Deferred.AllHealthy = false
		case x.Kind == "adapter":
			h.Deferred.ChannelsConnected++
		case x.Kind == "scheduler":
			h.Deferred.SchedulerStarted = true
		}
	}
	if !h.Deferred.AllHealthy {
		h.Status = "degraded"
	}
	if !started {
		h.Status = "starting"
	}
}

// A Component is one part of the program that may fail alone.
type Component struct {
	Name    string     `json:"name"`
	Kind    string     `json:"kind"` // adapter, model, scheduler, entry, record, redis
	State   string     `json:"state"`
	Healthy bool       `json:"healthy"`
	Since   *time.Time `json:"since,omitempty"`
	Heard   *time.Time `json:"heard,omitempty"`
	Account string     `json:"account,omitempty"` // of an adapter; empty before its first connection
	Handle  string     `json:"handle,omitempty"`
	Reason  string     `json:"reason,omitempty"`
}

// Boot is the answer of GET /health/bootstrap.
type Boot struct {
	StartedAt       time.Time  `json:"started_at"`
	ReadyAt         *time.Time `json:"ready_at"` // null until the start is over
	TotalDurationMS int64      `json:"total_duration_ms"`
	CoreReady       bool       `json:"core_ready"`
	TrustPassed     bool       `json:"trust_passed"`
	Stages          []Stage    `json:"stages"`
	Failed          []string   `json:"failed"`
}

// A Stage is one stage of a start.
type Stage struct {
	Stage      string `json:"stage"`
	Status     string `json:"status"` // success, failed, skipped
	DurationMS int64  `json:"duration_ms"`
	Error      string `json:"error,omitempty"`
}

// An Adapter is one account on one platform as it is now.
type Adapter struct {
	Name     string     `json:"name"`
	Account  string     `json:"account,omitempty"` // empty before the first connection
	Handle   string     `json:"handle,omitempty"`
	State    string     `json:"state"`
	Since    *time.Time `json:"since,omitempty"`
	Heard    *time.Time `json:"heard,omitempty"`
	Reason   string     `json:"reason,omitempty"`
	Paused   string     `json:"paused,omitempty"` // why nothing is sent
	Received int64      `json:"received"`         // updates since the start
	Refused  int64      `json:"refused"`          // of them, from senders who are not admitted
}

// A Pairing is a person who waits to be let in.
type Pairing struct {
	Account string    `json:"account"`
	Chat    string    `json:"chat"`
	User    string    `json:"user"`
	Name    string    `json:"name,omitempty"`
	Expires time.Time `json:"expires"`
}

// An Indicator is one of the four signs at the top of every page.
type Indicator struct {
	Name  string `json:"name"`  // hears, thinks, speaks, keeps
	State string `json:"state"` // good, warn, bad
	Why   string `json:"why"`
}

// Indicators returns the four lights of the console.
func Indicators(h Health, t Totals, now time.Time) []Indicator {
	hears := Indicator{"hears", "good", "every account was heard lately"}
	thinks := Indicator{"thinks", "good", "the model is configured"}
	for _, x := range h.Extensions {
		switch {
		case x.Kind == "adapter" && !x.Healthy:
			hears = Indicator{"hears", "bad", x.Name + " is " + x.State + Because(x.Reason)}
		case x.Kind == "model" && !x.Healthy:
			thinks = Indicator{"thinks", "bad", x.Name + " is " + x.State + Because(x.Reason)}
		case x.Kind == "model" && x.State == "offline":
			thinks = Indicator{"thinks", "warn", x.Reason}
		}
	}
	speaks := Indicator{"speaks", "good", "nothing waits to be sent"}
	switch waited := now.Sub(t.Oldest); {
	case t.Outbox > 0 && waited > 5*time.Minute:
		speaks = Indicator{"speaks", "bad", textformat.CountNoun(t.Outbox, "message") + " wait, the oldest for " + Span(waited)}
	case t.Unknown > 0:
		speaks = Indicator{"speaks", "warn", textformat.CountNoun(t.Unknown, "message") + " may not have arrived"}
	case t.Outbox > 0:
		speaks.Why = textformat.CountNoun(t.Outbox, "message") + " under way"
	}
	keeps := Indicator{"keeps", "good", "the record answers, " + Size(t.Bytes)}
	if !h.CoreReady {
		keeps = Indicator{"keeps", "bad", "the record is not open"}
	}
	return []Indicator{hears, thinks, speaks, keeps}
}

// serveHealth answers everybody with one word, and those who may know with more.
func (c *Console) serveHealth(w http.ResponseWriter, r *http.Request) {
	h := c.Process.Health()
	code := http.StatusOK
	if h.Status == "starting" {
		code = http.StatusServiceUnavailable
	}
	if !fromOwner(r) && c.authorised(r) != nil {
		WriteJSON(w, code, briefHealth{h.Status})
		return
	}
	WriteJSON(w, code, h)
}

func (c *Console) serveBoot(w http.ResponseWriter, _ *http.Request) {
	WriteJSON(w, http.StatusOK, c.Process.Boot())
}

// briefHealth is the answer of GET /health without a credential.
type briefHealth struct {
	Status string `json:"status"`
}
