package api

import (
	_ "embed"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/spaces"
)

// An API serves the JSON routes of the console. Make one with [New].
type API struct {
	backend
	Runs    *RunAPI
	Memory  *MemoryAPI
	Control *ControlAPI
}

// backend is what the handlers of every route work with.
type backend struct {
	console.Options
	respond console.Responder
}

// New returns an API over the parts of a console.
func New(o console.Options) *API {
	b := backend{o, console.Responder{Logger: o.Logger}}
	return &API{backend: b, Runs: &RunAPI{b}, Memory: &MemoryAPI{b}, Control: &ControlAPI{b}}
}

// Routes returns the routes of the API.
func (api *API) Routes() []console.Route {
	return slices.Concat([]console.Route{
		{Pattern: "GET /api/openapi.json", Access: console.ForCredential, Handle: api.serveOpenAPI},
		{Pattern: "GET /api/status", Access: console.ForCredential, Handle: console.JSONHandler(api.respond, api.serveStatus)},
		{Pattern: "GET /api/figures", Access: console.ForCredential, Handle: console.JSONHandler(api.respond, api.ListFigures)},
		{Pattern: "GET /api/spaces", Access: console.ForCredential, Handle: console.JSONHandler(api.respond, api.serveSpaces)},
		{Pattern: "GET /api/spaces/{id}", Access: console.ForCredential, Handle: console.JSONHandler(api.respond, api.ReadSpace)},
		{Pattern: "GET /api/minds", Access: console.ForCredential, Handle: console.JSONHandler(api.respond, api.Memory.serveMinds)},
		{Pattern: "GET /api/memory/{agent}/{circle...}", Access: console.ForCredential, Handle: console.JSONHandler(api.respond, api.Memory.serveMemory)},
		{Pattern: "DELETE /api/memory/{agent}/{circle...}", Access: console.ForCredential, Handle: api.Memory.serveForget},
		{Pattern: "PATCH /api/memory/{agent}/{circle...}", Access: console.ForCredential, Handle: api.Memory.serveCorrect},
		{Pattern: "GET /api/runs", Access: console.ForCredential, Handle: console.JSONHandler(api.respond, api.Runs.serveRuns)},
		{Pattern: "GET /api/runs/{id}", Access: console.ForCredential, Handle: console.JSONHandler(api.respond, api.Runs.serveRun)},
		{Pattern: "GET /api/runs/{id}/steps/{n}", Access: console.ForCredential, Handle: console.JSONHandler(api.respond, api.Runs.serveFrame)},
		{Pattern: "POST /api/runs/{id}/deliveries/{action}/{verb}", Access: console.ForCredential, Handle: console.JSONHandler(api.respond, api.Runs.ChangeDelivery)},
		{Pattern: "POST /api/runs/{id}/cancel", Access: console.ForCredential, Handle: api.Runs.serveCancel},
		{Pattern: "GET /api/tools", Access: console.ForCredential, Handle: console.JSONHandler(api.respond, api.serveTools)},
		{Pattern: "GET /api/tools/diff", Access: console.ForCredential, Handle: console.JSONHandler(api.respond, api.serveToolsDiff)},
		{Pattern: "GET /api/tools/outside", Access: console.ForCredential, Handle: console.JSONHandler(api.respond, api.OutsideTools)},
		{Pattern: "POST /api/tools/accept", Access: console.ForCredential, Handle: console.JSONHandler(api.respond, api.serveAcceptTools)},
		{Pattern: "GET /api/approvals", Access: console.ForCredential, Handle: console.JSONHandler(api.respond, api.ListApprovals)},
		{Pattern: "POST /api/approvals", Access: console.ForCredential, Handle: console.JSONHandler(api.respond, api.serveDecide)},
		{Pattern: "GET /api/missions", Access: console.ForCredential, Handle: console.JSONHandler(api.respond, api.ListMissions)},
		{Pattern: "GET /api/missions/{id}", Access: console.ForCredential, Handle: console.JSONHandler(api.respond, api.ReadMission)},
		{Pattern: "GET /api/missions/{id}/checkpoints", Access: console.ForCredential, Handle: console.JSONHandler(api.respond, api.ListCheckpoints)},
		{Pattern: "POST /api/missions/{id}/{verb}", Access: console.ForCredential, Handle: console.JSONHandler(api.respond, api.StepMission)},
		{Pattern: "GET /api/denials", Access: console.ForCredential, Handle: console.JSONHandler(api.respond, api.ListDenials)},
		{Pattern: "GET /api/search", Access: console.ForCredential, Handle: console.JSONHandler(api.respond, api.serveSearch)},
		{Pattern: "GET /api/answers/{command}", Access: console.ForCredential, Handle: api.serveAnswer},
		{Pattern: "GET /api/problems", Access: console.ForCredential, Handle: console.JSONHandler(api.respond, api.serveProblems)},
		{Pattern: "GET /api/jobs", Access: console.ForCredential, Handle: console.JSONHandler(api.respond, api.ListJobs)},
		{Pattern: "POST /api/jobs/{id}/{verb}", Access: console.ForCredential, Handle: api.serveChangeJob},
		{Pattern: "GET /api/prompts", Access: console.ForCredential, Handle: console.JSONHandler(api.respond, api.ListPrompts)},
		{Pattern: "GET /api/prompts/diff", Access: console.ForCredential, Handle: console.JSONHandler(api.respond, api.DiffPrompts)},
		{Pattern: "GET /api/prompts/{version}", Access: console.ForCredential, Handle: console.JSONHandler(api.respond, api.ReadPrompt)},
		{Pattern: "POST /api/prompts/{version}/{verb}", Access: console.ForCredential, Handle: console.JSONHandler(api.respond, api.serveChangePrompt)},
		{Pattern: "GET /api/adapters", Access: console.ForCredential, Handle: api.serveAdapters},
		{Pattern: "GET /api/config", Access: console.ForCredential, Handle: api.serveConfig},
		{Pattern: "GET /api/config/schema", Access: console.ForCredential, Handle: api.serveSchema},
	}, api.Control.routes())
}

func (api *API) serveStatus(r *http.Request) (statusAnswer, error) {
	t, err := api.Store.Tally(r.Context(), time.Now())
	h := api.Process.Health()
	return statusAnswer{h, console.Indicators(h, t, time.Now()), t}, err
}

// statusAnswer is everything the first page shows.
type statusAnswer struct {
	Health console.Health      `json:"health"`
	Lights []console.Indicator `json:"lights"`
	Tally  console.Totals      `json:"tally"`
}

func (api *API) serveAnswer(w http.ResponseWriter, r *http.Request) {
	if api.Answers == nil {
		api.respond.NotFound(w, r)
		return
	}
	a, err := api.Answers(r.Context(), r.PathValue("command"), r.URL.Query())
	if no, ok := errors.AsType[console.UserError](err); ok {
		console.WriteJSON(w, http.StatusUnprocessableEntity, no.Refusal())
		return
	}
	if err != nil {
		api.respond.FailInternal(w, r, err)
		return
	}
	console.WriteJSON(w, http.StatusOK, a)
}

func (api *API) serveProblems(r *http.Request) (problemsAnswer, error) {
	found, err := api.Process.Problems(r.Context())
	a := problemsAnswer{Problems: []problemRow{}}
	for _, p := range found {
		a.Problems = append(a.Problems, problemRow{p.ID, p.Code, p.Severity, p.Subject, p.What(), p.Evidence, p.Remedy(), p.Opened, p.Seen, p.Count, p.Acked})
	}
	return a, err
}

type problemsAnswer struct {
	Problems []problemRow `json:"problems"`
}

// A problemRow is one open problem.
type problemRow struct {
	ID       alerts.AlertID       `json:"id"`
	Code     alerts.ProblemCode   `json:"code"`
	Severity alerts.AlertSeverity `json:"severity"` // warn, fail
	Subject  string               `json:"subject"`
	Says     string               `json:"says"`
	Evidence string               `json:"evidence,omitempty"`
	Remedy   string               `json:"remedy,omitempty"`
	Opened   time.Time            `json:"opened,omitzero"`
	Seen     time.Time            `json:"seen,omitzero"`
	Count    int                  `json:"count,omitempty"`
	Quiet    time.Time            `json:"quiet,omitzero"` // not told again before this
}

func (api *API) serveAdapters(w http.ResponseWriter, _ *http.Request) {
	console.WriteJSON(w, http.StatusOK, adaptersAnswer{console.NonNil(api.Process.Adapters())})
}

type adaptersAnswer struct {
	Adapters []console.Adapter `json:"adapters"`
}

func (api *API) serveConfig(w http.ResponseWriter, _ *http.Request) {
	console.WriteJSON(w, http.StatusOK, configAnswer{console.NonNil(api.Settings.Rows())})
}

type configAnswer struct {
	Rows []console.SettingRow `json:"rows"`
}

func (api *API) serveSchema(w http.ResponseWriter, _ *http.Request) {
	console.WriteJSON(w, http.StatusOK, json.RawMessage(api.Settings.Schema()))
}

// ListFigures returns what happened over the time that a request asks for; a week when it
// does not say.
func (api *API) ListFigures(r *http.Request) (FiguresAnswer, error) {
	get := r.URL.Query().Get
	a := FiguresAnswer{
		Range: get("range"), Space: spaces.SpaceID(get("space")), Agent: spaces.AgentID(get("agent")), Platform: get("platform"),
		Currency: api.Settings.Currency(), Agents: []FigurePart{}, Platforms: []FigurePart{},
	}
	if a.Range == "" {
		a.Range = "week"
	}
	for _, f := range FigureRanges {
		if f.Name == a.Range {
			return a, a.fill(r, api.Figures, f, time.Now())
		}
	}
	return a, console.ErrParameter
}

func (api *API) serveOpenAPI(w http.ResponseWriter, _ *http.Request) {
	console.WriteJSON(w, http.StatusOK, json.RawMessage(openAPI))
}

//go:embed openapi.json
var openAPI []byte
