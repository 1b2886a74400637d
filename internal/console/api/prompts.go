package api

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/shell/prompts"
	"github.com/trestle-bridge/trestle/spaces"
)

// PromptsAnswer is every section of the prompts with its versions.
type PromptsAnswer struct {
	Sections []prompts.SectionState `json:"sections"` // in the order of the system message
	Refused  []prompts.RefusedFile  `json:"refused"`  // files that are no versions
	Missing  []MissingPrompt        `json:"missing"`  // activated versions that are not there
}

// A MissingPrompt is an activated version that is not there.
type MissingPrompt struct {
	Name string `json:"name"`
	Says string `json:"says"` // why, and what is told instead
}

// PromptText is one version of a section.
type PromptText struct {
	Name string              `json:"name"`
	Mode prompts.SectionMode `json:"mode"`
	File string              `json:"file,omitempty"` // without it the version is built in
	Text string              `json:"text"`
}

// PromptDiff is how one version of a section differs from another.
type PromptDiff struct {
	From string `json:"from"`
	To   string `json:"to"`
	Diff string `json:"diff"` // unified; empty: they are the same
}

// ListPrompts returns every section with its versions.
func (api *API) ListPrompts(r *http.Request) (PromptsAnswer, error) {
	b, err := api.Prompts.Book(r.Context())
	if err != nil {
		return PromptsAnswer{}, err
	}
	a := PromptsAnswer{Sections: b.States(&hud.TokenCounter{}), Refused: console.NonNil(b.Refused), Missing: []MissingPrompt{}}
	for _, m := range b.Missing() {
		a.Missing = append(a.Missing, MissingPrompt{m.Name(), m.String()})
	}
	return a, nil
}

// ReadPrompt returns the version that a path names: the newest of a section without a number.
func (api *API) ReadPrompt(r *http.Request) (PromptText, error) {
	b, err := api.Prompts.Book(r.Context())
	if err != nil {
		return PromptText{}, err
	}
	return promptText(b, r.PathValue("version"))
}

func promptText(b *prompts.PromptBook, name string) (PromptText, error) {
	v, err := b.Find(name)
	if err != nil {
		return PromptText{}, promptError(err)
	}
	return PromptText{Name: v.String(), Mode: v.Mode(), File: v.File, Text: v.Text}, nil
}

// DiffPrompts compares two versions of a section; without the one the other is compared
// with what agents without a version of their own are told.
func (api *API) DiffPrompts(r *http.Request) (PromptDiff, error) {
	q := r.URL.Query()
	return api.diffPrompts(r.Context(), q.Get("from"), q.Get("to"))
}

// DiffActive compares the version of a name with what agents without a version of their own
// are told.
func (api *API) DiffActive(ctx context.Context, name string) (PromptDiff, error) {
	return api.diffPrompts(ctx, "", name)
}

func (api *API) diffPrompts(ctx context.Context, fromName, toName string) (PromptDiff, error) {
	b, err := api.Prompts.Book(ctx)
	if err != nil {
		return PromptDiff{}, err
	}
	to, err := promptText(b, toName)
	if err != nil {
		return PromptDiff{}, err
	}
	if fromName == "" {
		section, _, _ := strings.Cut(to.Name, "@")
		fromName = b.Set("").Version(section)
	}
	from, err := promptText(b, fromName)
	d := PromptDiff{From: from.Name, To: to.Name}
	if err == nil && from.Text != to.Text {
		d.Diff = string(diff.Diff(d.From, []byte(from.Text+"\n"), d.To, []byte(to.Text+"\n")))
	}
	return d, err
}

// ChangePrompt activates the version that a path names, or rolls its section back, for an
// agent or for all that have no version of their own.
func (api *API) ChangePrompt(r *http.Request, agent spaces.AgentID, by string) (prompts.PromptChange, error) {
	c := prompts.PromptChange{Version: r.PathValue("version"), Agent: agent, By: by}
	switch r.PathValue("verb") {
	case "activate":
	case "rollback":
		c.Back = true
	default:
		return c, console.ErrUnknown
	}
	done, err := api.Prompts.Change(r.Context(), c)
	return done, promptError(err)
}

func (api *API) serveChangePrompt(r *http.Request) (prompts.PromptChange, error) {
	return api.ChangePrompt(r, spaces.AgentID(r.URL.Query().Get("agent")), "API")
}

// promptError makes an error of the versions one for the caller.
func promptError(err error) error {
	if no, ok := errors.AsType[*prompts.SectionError](err); ok {
		return versionError{no.What, no.Remedy}
	}
	return err
}
