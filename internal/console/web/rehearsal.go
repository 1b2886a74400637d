package web

import (
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/trestle-bridge/trestle/internal/console"
)

// rehearsalPages let an operator live a run once more.
type rehearsalPages struct {
	*Site
	one *sync.Mutex // held while a run is rehearsed: each asks a model
}

type rehearsalPage struct {
	pageLayout
	console.RehearsedRun
	Pairs []console.LinePair
	Asked console.RehearsalRequest
}

// pageRehearse rehearses a run as the form says, and shows it beside what it was.
func (site rehearsalPages) pageRehearse(w http.ResponseWriter, r *http.Request) {
	q := console.RehearsalRequest{Run: r.PathValue("id"), Model: strings.TrimSpace(r.PostFormValue("model")), Prompts: strings.Fields(r.PostFormValue("prompts"))}
	if text := strings.TrimSpace(r.PostFormValue("budget")); text != "" {
		var err error
		if q.Budget, err = strconv.Atoi(text); err != nil || q.Budget <= 0 {
			site.respond.Fail(w, r, http.StatusBadRequest, "the budget is a number of tokens, such as 8000")
			return
		}
	}
	if !site.one.TryLock() {
		site.respond.Fail(w, r, http.StatusServiceUnavailable, "another run is being rehearsed: try again in a moment")
		return
	}
	defer site.one.Unlock()
	done, err := site.Rehearse(r.Context(), q)
	if err != nil {
		site.respond.FailFor(w, r, err)
		return
	}
	site.render(w, r, http.StatusOK, "rehearsal", &rehearsalPage{
		pageLayout{Title: "Rehearsal of run " + shortID(string(done.Run)), Terminal: rehearsalCommand(q)}, done, console.PairLines(done.Was.Lines, done.Now.Lines), q,
	})
}

// rehearsalCommand returns the command that does the same in a terminal.
func rehearsalCommand(q console.RehearsalRequest) string {
	var text strings.Builder
	text.WriteString("trestle rehearse " + q.Run)
	if q.Model != "" {
		text.WriteString(" --model " + q.Model)
	}
	if q.Budget > 0 {
		text.WriteString(" --budget " + strconv.Itoa(q.Budget))
	}
	for _, p := range q.Prompts {
		text.WriteString(" --prompt " + p)
	}
	return text.String()
}
