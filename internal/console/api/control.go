package api

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/spaces"
)

// A ControlAPI does what an operator asks for: it lets people in and shuts them out, stops and
// mutes agents, and quietens problems.
type ControlAPI struct{ backend }

func (api *ControlAPI) routes() []console.Route {
	return []console.Route{
		{Pattern: "GET /api/pairings", Access: console.ForCredential, Handle: console.JSONHandler(api.respond, api.ListAdmissions)},
		{Pattern: "POST /api/pairings", Access: console.ForCredential, Handle: console.JSONHandler(api.respond, api.serveAdmit)},
		{Pattern: "POST /api/pairings/revoke", Access: console.ForCredential, Handle: console.JSONHandler(api.respond, api.serveShutOut)},
		{Pattern: "POST /api/spaces/{id}/agents/{agent}/{verb}", Access: console.ForCredential, Handle: console.JSONHandler(api.respond, api.Steer)},
		{Pattern: "POST /api/problems/{id}/ack", Access: console.ForCredential, Handle: console.JSONHandler(api.respond, api.QuietProblem)},
	}
}

// A pairingsAnswer is who waits to be let in, who was let in, and who was refused.
type pairingsAnswer struct {
	Pairings []console.Pairing        `json:"pairings"` // who waits
	Admitted []console.AdmittedPerson `json:"admitted"`
	Refused  []console.RefusedSender  `json:"refused"` // the last ones
}

// ListAdmissions returns who waits, who was let in, and who was refused.
func (api *ControlAPI) ListAdmissions(r *http.Request) (pairingsAnswer, error) {
	all, err := api.People.Admissions(r.Context())
	return pairingsAnswer{console.NonNil(all.Waiting), console.NonNil(all.Admitted), console.NonNil(all.Refused)}, err
}

func (api *ControlAPI) serveAdmit(r *http.Request) (console.AdmittedPerson, error) {
	q, err := questionOf[console.PairRequest](r)
	if err != nil {
		return console.AdmittedPerson{}, err
	}
	return api.People.Admit(r.Context(), q)
}

// A revokedAnswer lists what was taken back.
type revokedAnswer struct {
	Revoked []console.AdmittedPerson `json:"revoked"`
}

func (api *ControlAPI) serveShutOut(r *http.Request) (revokedAnswer, error) {
	q, err := questionOf[console.RevokeRequest](r)
	if err != nil {
		return revokedAnswer{}, err
	}
	gone, err := api.People.ShutOut(r.Context(), q)
	return revokedAnswer{console.NonNil(gone)}, err
}

// A SteerAnswer says what came of a word to an agent in a space.
type SteerAnswer struct {
	Space   spaces.SpaceID   `json:"space"`
	Changed []spaces.AgentID `json:"changed"` // agents that were muted, or may speak again
	Runs    []spaces.CycleID `json:"runs"`    // that ended
	Unsent  int              `json:"unsent"`  // messages that are not sent any more
}

// Steer stops, mutes or unmutes an agent in a space, as the path says. Agents that are not
// there are [console.ErrUnknown].
func (api *ControlAPI) Steer(r *http.Request) (SteerAnswer, error) {
	space, agent := spaces.SpaceID(r.PathValue("id")), spaces.AgentID(r.PathValue("agent"))
	a := SteerAnswer{Space: space, Changed: []spaces.AgentID{}, Runs: []spaces.CycleID{}}
	room, _, err := api.Store.Room(r.Context(), space)
	if err != nil {
		return a, err
	}
	if !slices.Contains(room.Agents, agent) {
		return a, console.ErrUnknown
	}
	switch verb := r.PathValue("verb"); verb {
	case "stop":
		done, err := api.Agents.Stop(r.Context(), spaces.StopRequest{Space: space, Agent: agent, Unsent: true, At: time.Now()})
		for _, run := range done.Runs {
			a.Runs = append(a.Runs, run.Run)
		}
		a.Unsent = done.Unsent
		return a, err
	case "mute", "unmute":
		changed, err := api.Agents.Mute(r.Context(), spaces.MuteRequest{Space: space, Agent: agent, Lifted: verb == "unmute", At: time.Now()})
		a.Changed = console.NonNil(changed)
		return a, err
	}
	return a, console.ErrUnknown
}

// quietFor is for how long a problem is not told again.
const quietFor = 2 * time.Hour

// A quietAnswer says until when a problem is not told again.
type quietAnswer struct {
	Until time.Time `json:"until"`
}

// QuietProblem has a problem not be told again for two hours.
func (api *ControlAPI) QuietProblem(r *http.Request) (quietAnswer, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil || id <= 0 {
		return quietAnswer{}, console.ErrUnknown
	}
	until := time.Now().Add(quietFor)
	return quietAnswer{until.UTC()}, api.Agents.Quiet(r.Context(), alerts.AlertID(id), until)
}
