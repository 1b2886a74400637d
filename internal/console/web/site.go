package web

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"html/template"
	"net/http"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/console/api"
	"github.com/trestle-bridge/trestle/spaces"
)

// A Site serves the HTML pages of the console. Make one with [New].
type Site struct {
	console.Options
	api     *api.API
	respond console.Responder
	views   func() map[string]*template.Template // by page
	names   nameCache
}

// New returns the pages of a console. They show what the API returns.
func New(o console.Options, a *api.API) *Site {
	site := &Site{Options: o, api: a, names: nameCache{read: func(ctx context.Context) (map[spaces.SpaceID]string, error) { return o.Store.RoomNames(ctx) }}}
	site.respond = console.Responder{Logger: o.Logger, Pages: site}
	site.views = sync.OnceValue(site.parseTemplates)
	return site
}

// ShowLogin implements [Pages].
func (site *Site) ShowLogin(w http.ResponseWriter, r *http.Request, code int, wrong string) {
	site.render(w, r, code, "login", &loginPage{Wrong: wrong})
}

// ShowOpened implements [Pages].
func (site *Site) ShowOpened(w http.ResponseWriter, r *http.Request) {
	site.render(w, r, http.StatusOK, "opened", &openedPage{})
}

// ShowNotFound implements [Pages].
func (site *Site) ShowNotFound(w http.ResponseWriter, r *http.Request) {
	site.render(w, r, http.StatusNotFound, "missing", &notFoundPage{})
}

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed static
var staticFiles embed.FS

// Routes returns the routes of the pages and of the files that they load.
func (site *Site) Routes() []console.Route {
	runs, minds, desk, missions, figures := runPages{site}, mindPages{site}, deskPages{site}, missionPages{site}, figurePages{site}
	control, settings, chat, rehearsal := controlPages{desk}, settingPages{desk}, chatPages{site}, rehearsalPages{site, new(sync.Mutex)}
	return []console.Route{
		{Pattern: "GET /static/{file}", Access: console.ForAnyone, Handle: site.serveStatic},
		{Pattern: "GET /{$}", Access: console.ForCredential, Handle: site.page("now", site.pageNow)},
		{Pattern: "GET /figures", Access: console.ForCredential, Handle: site.page("figures", figures.pageFigures)},
		{Pattern: "GET /spaces", Access: console.ForCredential, Handle: site.page("spaces", site.pageSpaces)},
		{Pattern: "GET /spaces/{id}", Access: console.ForCredential, Handle: site.page("space", site.pageSpace)},
		{Pattern: "GET /uplinks", Access: console.ForCredential, Handle: site.page("uplinks", site.pageConnections)},
		{Pattern: "GET /minds", Access: console.ForCredential, Handle: site.page("minds", minds.pageMinds)},
		{Pattern: "GET /minds/{agent}/{circle...}", Access: console.ForCredential, Handle: site.page("mind", minds.pageMind)},
		{Pattern: "GET /memory", Access: console.ForCredential, Handle: site.page("memory", minds.pageMemories)},
		{Pattern: "GET /memory/{agent}/{circle...}", Access: console.ForCredential, Handle: site.page("memory", minds.pageMemory)},
		{Pattern: "POST /memory/{agent}/{circle...}", Access: console.ForCredential, Handle: minds.pageChangeMemory},
		{Pattern: "GET /runs", Access: console.ForCredential, Handle: site.page("runs", runs.pageRuns)},
		{Pattern: "GET /runs/{id}", Access: console.ForCredential, Handle: site.page("run", runs.pageRun)},
		{Pattern: "POST /runs/{id}/cancel", Access: console.ForCredential, Handle: runs.pageCancelRun},
		{Pattern: "POST /runs/{id}/deliveries/{action}/{verb}", Access: console.ForCredential, Handle: control.pageChangeSend},
		{Pattern: "POST /runs/{id}/rehearse", Access: console.ForCredential, Handle: rehearsal.pageRehearse},
		{Pattern: "GET /runs/{id}/steps/{n}", Access: console.ForCredential, Handle: site.page("frame", runs.pageFrame)},
		{Pattern: "GET /missions", Access: console.ForCredential, Handle: site.page("missions", missions.pageMissions)},
		{Pattern: "GET /missions/{id}", Access: console.ForCredential, Handle: site.page("mission", missions.pageMission)},
		{Pattern: "POST /missions/{id}/{verb}", Access: console.ForCredential, Handle: missions.pageStepMission},
		{Pattern: "GET /prompts", Access: console.ForCredential, Handle: site.page("prompts", site.pagePrompts)},
		{Pattern: "GET /prompts/{version}", Access: console.ForCredential, Handle: site.page("prompt", site.pagePrompt)},
		{Pattern: "POST /prompts/{version}/{verb}", Access: console.ForCredential, Handle: site.pageChangePrompt},
		{Pattern: "GET /tools", Access: console.ForCredential, Handle: site.page("tools", desk.pageTools)},
		{Pattern: "POST /tools/{server}/accept", Access: console.ForCredential, Handle: desk.pageAcceptTools},
		{Pattern: "GET /approvals", Access: console.ForCredential, Handle: site.page("approvals", desk.pageApprovals)},
		{Pattern: "POST /approvals/revoke", Access: console.ForCredential, Handle: desk.pageRevoke},
		{Pattern: "POST /approvals/{code}/{verb}", Access: console.ForCredential, Handle: desk.pageDecide},
		{Pattern: "GET /people", Access: console.ForCredential, Handle: site.page("people", control.pagePeople)},
		{Pattern: "POST /people/admit", Access: console.ForCredential, Handle: control.pageAdmit},
		{Pattern: "POST /people/revoke", Access: console.ForCredential, Handle: control.pageShutOut},
		{Pattern: "POST /spaces/{id}/agents/{agent}/{verb}", Access: console.ForCredential, Handle: control.pageSteer},
		{Pattern: "POST /problems/{id}/ack", Access: console.ForCredential, Handle: control.pageQuiet},
		{Pattern: "GET /chat", Access: console.ForCredential, Handle: site.page("chats", chat.pageChats)},
		{Pattern: "GET /chat/{room}", Access: console.ForCredential, Handle: site.page("chat", chat.pageChat)},
		{Pattern: "POST /chat/{room}", Access: console.ForCredential, Handle: chat.pageSay},
		{Pattern: "POST /chat/{room}/press", Access: console.ForCredential, Handle: chat.pagePress},
		{Pattern: "GET /files/{event}/{n}", Access: console.ForCredential, Handle: chat.pageFile},
		{Pattern: "GET /denials", Access: console.ForCredential, Handle: site.page("denials", runs.pageDenials)},
		{Pattern: "GET /live", Access: console.ForCredential, Handle: site.page("live", site.pageLive)},
		{Pattern: "GET /jobs", Access: console.ForCredential, Handle: site.page("jobs", site.pageJobs)},
		{Pattern: "GET /jobs/{id}", Access: console.ForCredential, Handle: site.page("jobs", site.pageJob)},
		{Pattern: "POST /jobs/{id}/{verb}", Access: console.ForCredential, Handle: site.pageChangeJob},
		{Pattern: "GET /problems", Access: console.ForCredential, Handle: site.page("problems", site.pageProblems)},
		{Pattern: "GET /settings", Access: console.ForCredential, Handle: site.page("settings", settings.pageSettings)},
		{Pattern: "GET /settings/change", Access: console.ForCredential, Handle: site.page("setting", settings.pageSetting)},
		{Pattern: "POST /settings/change", Access: console.ForCredential, Handle: settings.pageChangeSetting},
		{Pattern: "POST /settings/undo", Access: console.ForCredential, Handle: settings.pageUndoSetting},
		{Pattern: "GET /search", Access: console.ForCredential, Handle: site.page("search", site.pageSearch)},
		{Pattern: "GET /", Access: console.ForCredential, Handle: site.respond.NotFound},
	}
}

// A pageLayout is what every page has around its own.
type pageLayout struct {
	Title    string
	Terminal string // the same in the terminal
	Query    string // what was searched for
	Nav      []navItem
	Seldom   []navItem // pages that are looked at less often
	Here     string    // the name of the one among them that this is
	Lights   []console.Indicator
	Bare     bool // nothing but the page: the reader has no credential yet
	Charts   bool // draws charts
	Chat     bool // is a room to talk in
	Moves    bool // goes on to the first page by itself
}

type navItem struct {
	Name, Path string
	Here       bool
	Count      int
}

func (c *pageLayout) top() *pageLayout { return c }

// A view is the data of one page.
type view interface{ top() *pageLayout }

type loginPage struct {
	pageLayout
	Wrong string
}

type openedPage struct{ pageLayout }

type notFoundPage struct{ pageLayout }

// leadsTo reports whether the page at path is of the section. Frames are of the minds.
func (n navItem) leadsTo(path string) bool {
	if strings.Contains(path, "/steps/") {
		return n.Path == "/minds"
	}
	return path == n.Path || n.Path != "/" && strings.HasPrefix(path, n.Path+"/")
}

// sections are the pages of the first level, and seldom those of them that a menu of its own has.
var (
	sections = []navItem{
		{Name: "Now", Path: "/"},
		{Name: "Chat", Path: "/chat"},
		{Name: "Spaces", Path: "/spaces"},
		{Name: "Runs", Path: "/runs"},
		{Name: "Missions", Path: "/missions"},
		{Name: "Memory", Path: "/memory"},
		{Name: "Tools", Path: "/tools"},
		{Name: "Approvals", Path: "/approvals"},
		{Name: "People", Path: "/people"},
		{Name: "Figures", Path: "/figures"},
		{Name: "Problems", Path: "/problems"},
		{Name: "Settings", Path: "/settings"},
	}
	seldom = []navItem{
		{Name: "Minds", Path: "/minds"},
		{Name: "Uplinks", Path: "/uplinks"},
		{Name: "Denials", Path: "/denials"},
		{Name: "Prompts", Path: "/prompts"},
		{Name: "Live", Path: "/live"},
		{Name: "Jobs", Path: "/jobs"},
	}
)

// parseTemplates reads the templates, each page with what all share. It runs once, when the
// first page is asked for, as mostly none ever is; it panics on our own mistakes.
func (site *Site) parseTemplates() map[string]*template.Template {
	shared := template.New("").Funcs(site.templateFuncs())
	template.Must(shared.ParseFS(templateFiles, "templates/layout.html", "templates/denial_rows.html"))
	all := map[string]*template.Template{}
	for _, name := range []string{
		"login", "opened", "missing", "now", "figures", "chats", "chat", "spaces", "space", "uplinks", "minds", "mind", "memory", "frame", "runs", "run", "rehearsal", "missions", "mission", "prompts", "prompt",
		"tools", "approvals", "people", "denials", "live", "jobs", "problems", "settings", "setting", "search",
	} {
		all[name] = template.Must(template.Must(shared.Clone()).ParseFS(templateFiles, "templates/"+name+".html"))
	}
	return all
}

// page serves what a request asks for as the page of that name.
func (site *Site) page(name string, ask func(*http.Request) (view, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var several console.AmbiguousNameError
		switch v, err := ask(r); {
		case err == nil:
			site.render(w, r, http.StatusOK, name, v)
		case errors.As(err, &several):
			site.respond.Fail(w, r, http.StatusNotFound, several.Error()+"\n"+several.Refusal().Do)
		case errors.Is(err, console.ErrParameter):
			site.respond.NotFound(w, r)
		default:
			site.respond.FailFor(w, r, err)
		}
	}
}

// render writes a page whole or not at all.
func (site *Site) render(w http.ResponseWriter, r *http.Request, code int, name string, v view) {
	if err := site.fillLayout(r, name, v.top()); err != nil && r.Context().Err() == nil { // else the reader has gone
		site.Logger.Error("page not dressed", "page", name, "error", err)
	}
	var page bytes.Buffer
	if err := site.views()[name].ExecuteTemplate(&page, "layout", v); err != nil {
		site.Logger.Error("page not rendered", "page", name, "error", err)
		http.Error(w, "this page can not be shown; the log says why", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write(page.Bytes()) // the reader has gone; the error cannot be reported
}

// fillLayout fills in what every page has around its own.
func (site *Site) fillLayout(r *http.Request, name string, t *pageLayout) error {
	switch name {
	case "login":
		t.Title, t.Bare = "Closed", true
		return nil
	case "opened":
		t.Title, t.Bare, t.Moves = "Open", true, true
		return nil
	case "missing":
		t.Title = "Nothing here"
	}
	problems, problemsErr := site.Process.Problems(r.Context())
	approvals, approvalsErr := site.Desk.Approvals(r.Context())
	people, peopleErr := site.People.Admissions(r.Context())
	for _, s := range seldom {
		if s.Here = s.leadsTo(r.URL.Path); s.Here {
			t.Here = s.Name
		}
		t.Seldom = append(t.Seldom, s)
	}
	for _, s := range sections {
		s.Here = s.leadsTo(r.URL.Path)
		switch s.Path {
		case "/problems":
			s.Count = len(problems)
		case "/approvals":
			s.Count = len(approvals.Waiting)
		case "/people":
			s.Count = len(people.Waiting)
		}
		t.Nav = append(t.Nav, s)
	}
	tally, err := site.Store.Tally(r.Context(), time.Now())
	if err == nil {
		t.Lights = console.Indicators(site.Process.Health(), tally, time.Now())
		err = site.names.refresh(r.Context())
	}
	return errors.Join(err, problemsErr, approvalsErr, peopleErr)
}

// staticTypes are the files that pages load, with what they are.
var staticTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

func (site *Site) serveStatic(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	data, err := staticFiles.ReadFile("static/" + name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", staticTypes[path.Ext(name)])
	w.Header().Set("Cache-Control", "no-cache")
	_, _ = w.Write(data) // the reader has gone; the error cannot be reported
}

// maxNameAge limits the age of the names of spaces on a page.
const maxNameAge = 2 * time.Second

// A nameCache holds the names of spaces. Its methods may be called concurrently.
type nameCache struct {
	read func(context.Context) (map[spaces.SpaceID]string, error)
	last atomic.Pointer[namesRead]
}

// namesRead are the names of spaces as they were at one moment.
type namesRead struct {
	at   time.Time
	name map[spaces.SpaceID]string
}

// refresh reads the names again when they are older than maxNameAge.
func (c *nameCache) refresh(ctx context.Context) error {
	if known := c.last.Load(); known != nil && time.Since(known.at) < maxNameAge {
		return nil
	}
	name, err := c.read(ctx)
	if err != nil {
		return err
	}
	c.last.Store(&namesRead{at: time.Now(), name: name})
	return nil
}

// ofSpace returns the name of a space, or the end of its id.
func (c *nameCache) ofSpace(id spaces.SpaceID) string {
	if known := c.last.Load(); known != nil && known.name[id] != "" {
		return console.Plain(known.name[id])
	}
	return shortID(string(id))
}

// ofMind writes a mind for people: one of a room's own circle is known by the room.
func (c *nameCache) ofMind(text string) string {
	m, _ := spaces.ParseMind(text)
	if room, own := m.Circle.Own(); own {
		return console.Plain(string(m.Agent)) + " in " + c.ofSpace(room)
	}
	return console.Plain(text)
}
