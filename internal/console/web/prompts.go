package web

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/console/api"
	"github.com/trestle-bridge/trestle/shell/prompts"
	"github.com/trestle-bridge/trestle/spaces"
)

type promptsPage struct {
	pageLayout
	api.PromptsAnswer
	Done *prompts.PromptChange // that was just made
}

func (site *Site) pagePrompts(r *http.Request) (view, error) {
	a, err := site.api.ListPrompts(r)
	p := &promptsPage{pageLayout: pageLayout{Title: "Prompts", Terminal: "trestle prompts list"}, PromptsAnswer: a}
	if q := r.URL.Query(); q.Get("now") != "" {
		p.Done = &prompts.PromptChange{Version: q.Get("now"), Was: q.Get("was"), Agent: spaces.AgentID(q.Get("agent"))}
	}
	return p, err
}

type promptPage struct {
	pageLayout
	api.PromptText
	Section string
	Active  bool // agents without a version of their own are told it
	Diff    []diffLine
	From    string // what the difference is to: the active version
}

// A diffLine is one line of a unified difference.
type diffLine struct {
	Class string // added, removed, place or same
	Text  string
}

func (site *Site) pagePrompt(r *http.Request) (view, error) {
	text, err := site.api.ReadPrompt(r)
	if err != nil {
		return nil, unknownVersion(err)
	}
	section, _, _ := strings.Cut(text.Name, "@")
	d, err := site.api.DiffActive(r.Context(), text.Name)
	return &promptPage{
		pageLayout: pageLayout{Title: text.Name, Terminal: "trestle prompts diff " + text.Name},
		PromptText: text, Section: section, Active: d.From == text.Name, From: d.From, Diff: diffLines(d.Diff),
	}, err
}

// unknownVersion makes a name that no version has one that leads nowhere.
func unknownVersion(err error) error {
	if _, ok := errors.AsType[console.UserError](err); ok {
		return console.ErrUnknown
	}
	return err
}

// diffLines returns the lines of a unified difference behind its heading.
func diffLines(text string) (lines []diffLine) {
	for line := range strings.Lines(text) {
		class := "same"
		switch {
		case strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
			continue
		case strings.HasPrefix(line, "@@"):
			class = "place"
		case strings.HasPrefix(line, "+"):
			class = "added"
		case strings.HasPrefix(line, "-"):
			class = "removed"
		}
		lines = append(lines, diffLine{class, strings.TrimSuffix(line, "\n")})
	}
	return lines
}

// pageChangePrompt activates a version or rolls a section back, and shows all sections.
func (site *Site) pageChangePrompt(w http.ResponseWriter, r *http.Request) {
	done, err := site.api.ChangePrompt(r, spaces.AgentID(strings.TrimSpace(r.PostFormValue("agent"))), "console")
	if no, ok := errors.AsType[console.UserError](err); ok {
		said := no.Refusal()
		site.respond.Fail(w, r, http.StatusBadRequest, strings.TrimSpace(said.Error+"\n"+said.Do))
		return
	}
	if err != nil {
		site.respond.FailInternal(w, r, err)
		return
	}
	q := url.Values{"now": {done.Version}, "was": {done.Was}, "agent": {string(done.Agent)}}
	http.Redirect(w, r, "/prompts?"+q.Encode(), http.StatusSeeOther)
}
