package console

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/jobs"
	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/spaces"
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed static
var staticFiles embed.FS

// pages are the routes of the HTML pages.
func (c *Console) pages() []route {
	return []route{
		{"GET /{$}", holder, c.page("now", c.pageNow)},
		{"GET /spaces", holder, c.page("spaces", c.pageSpaces)},
		{"GET /spaces/{id}", holder, c.page("space", c.pageSpace)},
		{"GET /uplinks", holder, c.page("uplinks", c.pageUplinks)},
		{"GET /minds", holder, c.page("minds", c.pageMinds)},
		{"GET /minds/{agent}/{circle...}", holder, c.page("mind", c.pageMind)},
		{"GET /memory", holder, c.page("memory", c.pageMemories)},
		{"GET /memory/{agent}/{circle...}", holder, c.page("memory", c.pageMemory)},
		{"POST /memory/{agent}/{circle...}", holder, c.pageChangeMemory},
		{"GET /runs", holder, c.page("runs", c.pageRuns)},
		{"GET /runs/{id}", holder, c.page("run", c.pageRun)},
		{"POST /runs/{id}/cancel", holder, c.pageCancel},
		{"GET /runs/{id}/steps/{n}", holder, c.page("frame", c.pageFrame)},
		{"GET /denials", holder, c.page("denials", c.pageDenials)},
		{"GET /live", holder, c.page("live", c.pageLive)},
		{"GET /jobs", holder, c.page("jobs", c.pageJobs)},
		{"GET /jobs/{id}", holder, c.page("jobs", c.pageJob)},
		{"POST /jobs/{id}/{verb}", holder, c.pageAskJob},
		{"GET /problems", holder, c.page("problems", c.pageProblems)},
		{"GET /settings", holder, c.page("settings", c.pageSettings)},
		{"GET /search", holder, c.page("search", c.pageSearch)},
		{"GET /", holder, c.missing},
	}
}

// A pageLayout is what every page has around its own.
type pageLayout struct {
	Title    string
	Terminal string // the same in the terminal
	Query    string // what was searched for
	Nav      []navItem
	Lights   []Indicator
	Bare     bool // nothing but the page: whoever looks has no credential yet
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

type opened struct{ pageLayout }

type missing struct{ pageLayout }

// sections are the pages of the first level.
var sections = []navItem{
	{Name: "Now", Path: "/"},
	{Name: "Spaces", Path: "/spaces"},
	{Name: "Uplinks", Path: "/uplinks"},
	{Name: "Minds", Path: "/minds"},
	{Name: "Memory", Path: "/memory"},
	{Name: "Runs", Path: "/runs"},
	{Name: "Denials", Path: "/denials"},
	{Name: "Live", Path: "/live"},
	{Name: "Jobs", Path: "/jobs"},
	{Name: "Problems", Path: "/problems"},
	{Name: "Settings", Path: "/settings"},
}

// parse reads the templates, each page with what all share. It runs once, when the
// first page is asked for, as mostly none ever is; it panics on our own mistakes.
func (c *Console) parse() map[string]*template.Template {
	shared := template.New("").Funcs(c.words())
	template.Must(shared.ParseFS(templateFiles, "templates/layout.html", "templates/denial_rows.html"))
	all := map[string]*template.Template{}
	for _, name := range []string{
		"login", "opened", "missing", "now", "spaces", "space", "uplinks", "minds", "mind", "memory", "frame", "runs", "run",
		"denials", "live", "jobs", "problems", "settings", "search",
	} {
		all[name] = template.Must(template.Must(shared.Clone()).ParseFS(templateFiles, "templates/"+name+".html"))
	}
	return all
}

// page serves what a request asks for as the page of that name.
func (c *Console) page(name string, ask func(*http.Request) (view, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch v, err := ask(r); {
		case err == nil:
			c.render(w, r, http.StatusOK, name, v)
		case errors.Is(err, errNumber):
			c.missing(w, r)
		default:
			c.broken(w, r, err)
		}
	}
}

// render writes a page whole or not at all.
func (c *Console) render(w http.ResponseWriter, r *http.Request, code int, name string, v view) {
	if err := c.dress(r, name, v.top()); err != nil {
		c.Logger.Error("page not dressed", "page", name, "error", err)
	}
	var page bytes.Buffer
	if err := c.views()[name].ExecuteTemplate(&page, "layout", v); err != nil {
		c.Logger.Error("page not rendered", "page", name, "error", err)
		http.Error(w, "this page can not be shown; the log says why", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write(page.Bytes()) // the reader has gone; the error cannot be reported
}

// dress fills in what every page has around its own.
func (c *Console) dress(r *http.Request, name string, t *pageLayout) error {
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
	problems, problemsErr := c.Process.Problems(r.Context())
	for _, s := range sections {
		s.Here = r.URL.Path == s.Path || s.Path != "/" && strings.HasPrefix(r.URL.Path, s.Path+"/")
		if s.Path == "/minds" && strings.Contains(r.URL.Path, "/steps/") {
			s.Here = true
		} else if strings.Contains(r.URL.Path, "/steps/") {
			s.Here = false
		}
		if s.Path == "/problems" {
			s.Count = len(problems)
		}
		t.Nav = append(t.Nav, s)
	}
	tally, err := c.Record.Tally(r.Context(), time.Now())
	if err == nil {
		t.Lights = lights(c.Process.Health(), tally, time.Now())
		err = c.refreshNames(r)
	}
	if err == nil {
		err = problemsErr
	}
	return err
}

// words are the functions that templates use. What people wrote goes through
// plain or clip, and through html/template's own escaping after that.
func (c *Console) words() template.FuncMap {
	return template.FuncMap{
		"plain": Plain, "clip": func(text string, n int) string { return clipLine(Plain(text), n) },
		"short": func(id spaces.CycleID) string { return shortID(string(id)) },
		"iso":   func(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") },
		"ago":   func(t time.Time) string { return ago(time.Since(t)) },
		"text":  func(raw json.RawMessage) string { return string(raw) },
		"count": textformat.CountNoun,
		"num":   narrowThousands, "num64": func(n int64) string { return narrowThousands(int(n)) }, "bytes": Size,
		"seconds": func(s float64) string { return span(time.Duration(s * float64(time.Second))) },
		"percent": percent[int], "percent64": percent[int64],
		"coded":         coded,
		"next":          func(seq int64) int64 { return seq + 1 },
		"money":         func(v float64) string { return fmt.Sprintf("%.4f", v) },
		"stopClass":     stopClass,
		"deliveryClass": deliveryClass,
		"jobClass":      jobClass,
		"spaceName":     c.spaceName,
		"mindName":      c.mindName,
	}
}

// clipLine returns text on one line, of at most n letters.
func clipLine(text string, n int) string {
	text = strings.Join(strings.Fields(text), " ")
	letters := []rune(text)
	if len(letters) <= n {
		return text
	}
	return string(letters[:n-1]) + "…"
}

// shortID is the end of an id, which tells ids of one moment apart.
func shortID(id string) string {
	if len(id) > 12 {
		return "…" + id[len(id)-8:]
	}
	return id
}

func ago(d time.Duration) string {
	if d < 0 {
		return "in " + span(-d)
	}
	if d < time.Second {
		return "now"
	}
	return span(d) + " ago"
}

func stopClass(s spaces.StopReason) string {
	switch s {
	case spaces.StopCompleted, spaces.StopSilent:
		return "good"
	case spaces.StopSkipped, spaces.StopSuperseded, spaces.StopSleeping, spaces.StopWaitingReply, spaces.StopCancelled:
		return "calm"
	case spaces.StopBudget, spaces.StopMaxRetries, spaces.StopMaxSteps, spaces.StopTimeout, spaces.StopModelError,
		spaces.StopCoordinator, spaces.StopNoCapableAgent, spaces.StopDependencyFailed:
		return "bad"
	}
	return "calm"
}

func deliveryClass(s spaces.ActionState) string {
	switch s {
	case spaces.ActionSent:
		return "good"
	case spaces.ActionReady, spaces.ActionSending:
		return "calm"
	case spaces.ActionUnknown, spaces.ActionFailed, spaces.ActionExpired, spaces.ActionCancelled:
		return "bad"
	}
	return "calm"
}

func jobClass(s jobs.JobState) string {
	switch s {
	case jobs.Done:
		return "good"
	case jobs.Failed:
		return "bad"
	case jobs.Running:
		return "open"
	case jobs.Ready, jobs.Paused, jobs.Cancelled:
	}
	return "calm"
}

// nameAge is how old the names of spaces on a page may be.
const nameAge = 2 * time.Second

// roomNames are the names of spaces as they were at one moment.
type roomNames struct {
	at   time.Time
	name map[spaces.SpaceID]string
}

func (c *Console) refreshNames(r *http.Request) error {
	if known := c.names.Load(); known != nil && time.Since(known.at) < nameAge {
		return nil
	}
	name, err := c.Record.RoomNames(r.Context())
	if err != nil {
		return err
	}
	c.names.Store(&roomNames{at: time.Now(), name: name})
	return nil
}

func (c *Console) spaceName(id spaces.SpaceID) string {
	if known := c.names.Load(); known != nil && known.name[id] != "" {
		return Plain(known.name[id])
	}
	return shortID(string(id))
}

// staticTypes are the files that pages load, with what they are.
var staticTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

func (c *Console) showStatic(w http.ResponseWriter, r *http.Request) {
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

//go:embed openapi.json
var openAPI []byte

func (c *Console) showOpenAPI(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, json.RawMessage(openAPI))
}

// merged returns a query with some of its parameters changed.
func merged(r *http.Request, change map[string]string) string {
	q := maps.Clone(r.URL.Query())
	for name, value := range change {
		q.Set(name, value)
	}
	return r.URL.Path + "?" + q.Encode()
}
