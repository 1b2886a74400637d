package console

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"

	"github.com/trestle-bridge/trestle/spaces"
)

// Options are the parts a console is made of. All of them are needed.
type Options struct {
	Store    Store
	Figures  FigureReader
	Keys     Keys
	Process  Process
	Jobs     Jobs
	Settings Settings
	Editor   SettingsDesk
	Prompts  Prompts
	Live     EventSource
	Desk     ToolDesk
	People   AdmissionDesk
	Agents   AgentControl
	Chat     ChatDesk
	Rehearse RehearseFunc
	// ChangeSend has a message that was not delivered be sent again, or drops one that waits. One that is in
	// no such state is a [UserError].
	ChangeSend func(ctx context.Context, action spaces.Action, verb SendVerb) error
	// ReasonWords returns in words why the gate let a message wake no agent, by its reason.
	ReasonWords func(reason string) string
	// OpenFile opens the nth file of a message, from 0. One that does not exist, or is not here
	// any more, is [ErrUnknown].
	OpenFile func(ctx context.Context, message spaces.EventID, n int) (MessageFile, error)
	// Tools returns the acts that agents have now.
	Tools func() spaces.ToolManifest
	// Answers returns what a reading command of the program answers with -o json, by
	// the command's name; none of that name is [ErrUnknown], and a [UserError] is shown
	// to the caller. Default: no command is answered.
	Answers func(ctx context.Context, command string, q url.Values) (any, error)
	// PersonTools serves an MCP client the rooms of the person of the request, see [AccessOf].
	PersonTools http.Handler
	// Grant returns what a token that is asked for with As may open. A request that cannot
	// be granted is a [UserError].
	Grant func(ctx context.Context, q TokenRequest) (PersonAccess, error)
	// Metrics answers in the exposition format of Prometheus.
	Metrics http.Handler
	// Access returns from where the console may be called. It is asked at every
	// request, so that a change counts at once.
	Access func() Access
	Logger *slog.Logger
}

// A Console authenticates requests and serves the routes of the API and the pages,
// live events, metrics, tokens and sessions. Make one with [New].
type Console struct {
	Options
	respond Responder
	pages   Pages
	routes  []Route
	limiter loginLimiter
	bodies  bodyGate
	streams atomic.Int64 // open streams of live events
	revoked atomic.Int64 // incremented when a token is revoked
}

// New returns a console that serves its own routes and these. Pages writes the HTML
// pages that need no credential.
func New(o Options, pages Pages, routes ...[]Route) *Console {
	c := &Console{Options: o, respond: Responder{Logger: o.Logger, Pages: pages}, pages: pages}
	c.routes = slices.Concat(append([][]Route{c.ownRoutes()}, routes...)...)
	return c
}

// Routes returns every route that the console serves.
func (c *Console) Routes() []Route { return c.routes }

// A RouteAccess is who may call a route. Its zero value is invalid, so that a
// route that does not declare it is found at start.
type RouteAccess int

// Who may call a route.
const (
	undeclared    RouteAccess = iota
	ForAnyone                 // without a credential
	ForCredential             // with a token or a session
	ForPerson                 // with a token for the rooms of a person, see [AccessOf]
	ForOwner                  // over the control socket only
)

// A Route is a pattern of [http.ServeMux], who may call it, and its handler.
type Route struct {
	Pattern string
	Access  RouteAccess
	Handle  http.HandlerFunc
}

// Handler returns the handler for the network.
func (c *Console) Handler() http.Handler {
	return c.guard(newMux(c.routes, func(r Route) http.HandlerFunc {
		return func(w http.ResponseWriter, q *http.Request) {
			switch r.Access {
			case ForAnyone:
				r.Handle(w, q)
			case ForCredential:
				c.requireCredential(r.Handle)(w, q)
			case ForPerson:
				c.requirePerson(r.Handle)(w, q)
			case ForOwner, undeclared:
				c.respond.Fail(w, q, http.StatusForbidden, "this is only served on the control socket; use the trestle command on this machine")
			}
		}
	}))
}

// Socket returns the handler for the control socket. It serves every route without a
// credential: only the owner of the data folder can open the socket.
func (c *Console) Socket() http.Handler {
	return newMux(c.routes, func(r Route) http.HandlerFunc {
		return func(w http.ResponseWriter, q *http.Request) {
			c.serveNoted(r.Handle, w, q.WithContext(context.WithValue(q.Context(), ownerKey{}, true)), "the owner of this machine's socket")
		}
	})
}

// ownerKey marks the context of a request that came over the control socket.
type ownerKey struct{}

func fromOwner(r *http.Request) bool { return r.Context().Value(ownerKey{}) != nil }

// newMux registers routes, each with its handler wrapped. It panics on a route that
// does not declare who may call it.
func newMux(routes []Route, wrap func(Route) http.HandlerFunc) *http.ServeMux {
	mux := http.NewServeMux()
	for _, r := range routes {
		if r.Access == undeclared {
			panic("console: route " + r.Pattern + " does not declare who may call it")
		}
		mux.HandleFunc(r.Pattern, wrap(r))
	}
	return mux
}

func (c *Console) servePersonTools(w http.ResponseWriter, r *http.Request) {
	c.PersonTools.ServeHTTP(w, r)
}

// ownRoutes returns the routes of health, live events, metrics, tokens and sessions.
func (c *Console) ownRoutes() []Route {
	return []Route{
		{"GET /health", ForAnyone, c.serveHealth},
		{"GET /health/bootstrap", ForCredential, c.serveBoot},
		{"GET /events", ForCredential, c.streamEvents},
		{"GET /chat/{room}/events", ForCredential, c.streamChat},
		{"GET /metrics", ForCredential, func(w http.ResponseWriter, r *http.Request) { c.Metrics.ServeHTTP(w, r) }},

		{"GET /api/tokens", ForCredential, JSONHandler(c.respond, c.serveTokens)},
		{"POST /api/tokens", ForOwner, c.serveAddToken},
		{"DELETE /api/tokens/{id}", ForOwner, c.serveDropToken},
		{"POST /api/links", ForOwner, JSONHandler(c.respond, c.serveAddLink)},

		{"POST /mcp", ForPerson, c.servePersonTools},
		{"GET /mcp", ForPerson, c.servePersonTools}, // a client asks with GET for a stream, and is told that there is none

		{"GET /login", ForAnyone, c.showLogin},
		{"POST /login", ForAnyone, c.login},
		{"GET /open", ForAnyone, c.openLink},
		{"POST /logout", ForCredential, c.logout},
	}
}
