package console

import (
	"context"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"

	"github.com/trestle-bridge/trestle/spaces"
)

// Options are the parts a console is made of. All of them are needed.
type Options struct {
	Record   Store
	Keys     Keys
	Process  Process
	Jobs     Jobs
	Settings Settings
	Live     EventSource
	// Tools returns the acts that agents have now.
	Tools func() spaces.ToolManifest
	// Answers returns what a reading command of the program answers with -o json, by
	// the command's name; none of that name is [ErrUnknown], and a [UserError] is told
	// to whoever asks. Default: no command is answered.
	Answers func(ctx context.Context, command string, q url.Values) (any, error)
	// Metrics answers in the exposition format of Prometheus.
	Metrics http.Handler
	// Access says from where the console may be called. It is asked at every
	// request, so that a change counts at once.
	Access func() Access
	Logger *slog.Logger
}

// A Console serves pages, API and live events. Make one with [New].
type Console struct {
	Options
	limiter limiter
	views   func() map[string]*template.Template // by page
	names   atomic.Pointer[roomNames]
	streams atomic.Int64 // readers of live events
	revoked atomic.Int64 // rises when a key is gone
}

// New returns a console over its parts.
func New(o Options) *Console {
	c := &Console{Options: o}
	c.views = sync.OnceValue(c.parse)
	return c
}

// An allow says who may call a route. The zero allow is nobody: a route that
// does not say fails at wiring and in a test.
type allow int

const (
	undeclared allow = iota
	anyone
	holder // of a token or a session
	owner  // of the data folder: the control socket alone
)

// A route is one thing that can be asked for.
type route struct {
	pattern string
	allow   allow
	handle  http.HandlerFunc
}

// Handler serves what may be reached over the network.
func (c *Console) Handler() http.Handler {
	return c.guard(serveAll(c.routes(), func(r route) http.HandlerFunc {
		return func(w http.ResponseWriter, q *http.Request) {
			switch r.allow {
			case anyone:
				r.handle(w, q)
			case holder:
				c.forHolders(r.handle)(w, q)
			case owner, undeclared:
				c.fail(w, q, http.StatusForbidden, "this is done on the machine itself, with the trestle command")
			}
		}
	}))
}

// Socket serves the same to those who may open the control socket: the owners
// of the data folder. Nobody asks them who they are.
func (c *Console) Socket() http.Handler {
	return serveAll(c.routes(), func(r route) http.HandlerFunc {
		return func(w http.ResponseWriter, q *http.Request) {
			r.handle(w, q.WithContext(context.WithValue(q.Context(), ownerKey{}, true)))
		}
	})
}

// ownerKey marks a request that came over the control socket.
type ownerKey struct{}

func ownerAsks(r *http.Request) bool { return r.Context().Value(ownerKey{}) != nil }

// serveAll makes routes reachable, each behind what door puts before it.
func serveAll(all []route, door func(route) http.HandlerFunc) *http.ServeMux {
	mux := http.NewServeMux()
	for _, r := range all {
		if r.allow == undeclared {
			panic("console: " + r.pattern + " does not say who may call it")
		}
		mux.HandleFunc(r.pattern, door(r))
	}
	return mux
}

// routes is everything that can be asked for, and by whom.
func (c *Console) routes() []route {
	return append([]route{
		{"GET /health", anyone, c.showHealth},
		{"GET /health/bootstrap", holder, c.showBoot},
		{"GET /events", holder, c.streamEvents},
		{"GET /metrics", holder, func(w http.ResponseWriter, r *http.Request) { c.Metrics.ServeHTTP(w, r) }},

		{"GET /api/openapi.json", holder, c.showOpenAPI},
		{"GET /api/status", holder, told(c, c.status)},
		{"GET /api/spaces", holder, told(c, c.spaces)},
		{"GET /api/spaces/{id}", holder, told(c, c.space)},
		{"GET /api/minds", holder, told(c, c.minds)},
		{"GET /api/memory/{agent}/{circle...}", holder, told(c, c.apiMemory)},
		{"DELETE /api/memory/{agent}/{circle...}", holder, c.apiForget},
		{"PATCH /api/memory/{agent}/{circle...}", holder, c.apiCorrect},
		{"GET /api/runs", holder, told(c, c.apiRuns)},
		{"GET /api/runs/{id}", holder, told(c, c.apiRun)},
		{"GET /api/runs/{id}/steps/{n}", holder, told(c, c.apiFrame)},
		{"POST /api/runs/{id}/cancel", holder, c.apiCancel},
		{"GET /api/tools", holder, told(c, c.apiTools)},
		{"GET /api/tools/diff", holder, told(c, c.apiToolsDiff)},
		{"GET /api/denials", holder, told(c, c.denials)},
		{"GET /api/search", holder, told(c, c.apiSearch)},
		{"GET /api/answers/{command}", holder, c.apiAnswer},
		{"GET /api/problems", holder, told(c, c.problems)},
		{"GET /api/jobs", holder, told(c, c.jobs)},
		{"POST /api/jobs/{id}/{verb}", holder, c.apiAskJob},
		{"GET /api/adapters", holder, c.apiAdapters},
		{"GET /api/config", holder, c.apiConfig},
		{"GET /api/config/schema", holder, c.apiSchema},
		{"GET /api/pairings", holder, told(c, c.pairings)},
		{"GET /api/tokens", holder, told(c, c.tokens)},
		{"POST /api/tokens", owner, c.apiAddToken},
		{"DELETE /api/tokens/{id}", owner, c.apiDropToken},
		{"POST /api/links", owner, told(c, c.addLink)},

		{"GET /login", anyone, c.showLogin},
		{"POST /login", anyone, c.login},
		{"GET /open", anyone, c.open},
		{"POST /logout", holder, c.logout},
		{"GET /static/{file}", anyone, c.showStatic},
	}, c.pages()...)
}
