package api

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/spaces"
)

// A Tool is one act that agents may ask for.
type Tool struct {
	spaces.ToolDefinition
	SHA256 string `json:"sha256"` // of the schema's bytes
}

// ToolsAnswer is one version of the acts, and the versions that there are.
type ToolsAnswer struct {
	Manifest string        `json:"manifest"` // its name
	Tools    []Tool        `json:"tools"`    // in the order in which models see them
	Versions []ToolVersion `json:"versions"` // that runs were offered, the last used first
}

// A ToolVersion is a version of the acts that runs were offered.
type ToolVersion struct {
	Manifest string    `json:"manifest"`
	Acts     int       `json:"acts"`  // how many; 0 where an older program left its name alone
	First    time.Time `json:"first"` // when a run that was offered it first ended
	Last     time.Time `json:"last"`  // and last, noted once an hour
}

// maxVersions bounds how many versions of the acts are listed.
const maxVersions = 100

// serveTools tells what agents may ask for, now or in the version asked for.
func (api *API) serveTools(r *http.Request) (ToolsAnswer, error) {
	a := ToolsAnswer{Tools: []Tool{}, Versions: []ToolVersion{}}
	m, err := api.toolsVersion(r.Context(), r.URL.Query().Get("version"))
	if err != nil {
		return a, err
	}
	a.Manifest = m.Hash
	for _, o := range m.Acts {
		a.Tools = append(a.Tools, Tool{o, o.SchemaSum()})
	}
	used, err := api.Store.Manifests(r.Context(), "", maxVersions)
	for _, v := range used {
		a.Versions = append(a.Versions, ToolVersion{v.Hash, len(v.Acts), v.First, v.Last})
	}
	return a, err
}

// serveToolsDiff tells how one version of the acts differs from another.
func (api *API) serveToolsDiff(r *http.Request) (ToolsDiff, error) {
	q := r.URL.Query()
	from, err := api.toolsVersion(r.Context(), q.Get("from"))
	if err != nil {
		return ToolsDiff{}, err
	}
	to, err := api.toolsVersion(r.Context(), q.Get("to"))
	if err != nil {
		return ToolsDiff{}, err
	}
	return diffTools(from, to), nil
}

// toolsVersion returns the acts whose name begins so; no name is those of now.
func (api *API) toolsVersion(ctx context.Context, name string) (spaces.ToolManifest, error) {
	now := api.Tools()
	if name == "" || name == now.Hash {
		return now, nil
	}
	used, err := api.Store.Manifests(ctx, name, maxVersions)
	if err != nil {
		return now, err
	}
	found := map[string][]spaces.ToolDefinition{}
	for _, v := range used {
		found[v.Hash] = v.Acts
	}
	if strings.HasPrefix(now.Hash, name) {
		found[now.Hash] = now.Acts
	}
	names := slices.Sorted(maps.Keys(found))
	if _, whole := found[name]; whole {
		names = []string{name}
	}
	switch {
	case len(names) == 0:
		return now, versionError{fmt.Sprintf("no version of the acts is called %q", name), "trestle tools lists those that runs were offered"}
	case len(names) > 1:
		return now, console.AmbiguousNameError{Kind: "versions of the acts", Given: name, Could: names}
	case found[names[0]] == nil:
		return now, versionError{
			"which acts version " + names[0] + " had is not in the record",
			"the program that ran with it kept its name alone; versions are kept whole since",
		}
	}
	return spaces.ToolManifest{Hash: names[0], Acts: found[names[0]]}, nil
}

// versionError is the reason why a version of the acts or of a prompt cannot be shown, and what to do.
type versionError struct{ why, do string }

var _ console.UserError = versionError{}

// Error implements error.
func (e versionError) Error() string { return e.why }

// Refusal implements [UserError].
func (e versionError) Refusal() console.ErrorAnswer {
	return console.ErrorAnswer{Error: e.why, Do: e.do}
}

// ToolsDiff is how one version of the acts differs from another.
type ToolsDiff struct {
	From      string       `json:"from"`    // the name of the one
	To        string       `json:"to"`      // and of the other
	Added     []string     `json:"added"`   // acts
	Removed   []string     `json:"removed"` // acts
	Changed   []ToolChange `json:"changed"`
	Reordered bool         `json:"reordered"` // whether models see the acts that are in both in another order
}

// A ToolChange is an act that is not the same in two versions.
type ToolChange struct {
	Name      string          `json:"name"`
	What      []string        `json:"what"` // of tier, risk, about and schema
	Arguments ArgumentChanges `json:"arguments"`
}

// ArgumentChanges are the arguments in which two schemas of an act differ.
type ArgumentChanges struct {
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
	Changed []string `json:"changed"` // in what they take, or in whether they must be there
}

// diffTools compares two versions of the acts.
func diffTools(from, to spaces.ToolManifest) ToolsDiff {
	was, is := byName(from.Acts), byName(to.Acts)
	d := ToolsDiff{From: from.Hash, To: to.Hash, Changed: []ToolChange{}}
	d.Added, d.Removed = apart(was, is)
	for _, o := range to.Acts {
		if old, both := was[o.Name]; both {
			if c := changeOf(old, o); len(c.What) > 0 {
				d.Changed = append(d.Changed, c)
			}
		}
	}
	d.Reordered = !slices.Equal(shared(from.Acts, is), shared(to.Acts, was))
	return d
}

func byName(acts []spaces.ToolDefinition) map[string]spaces.ToolDefinition {
	all := map[string]spaces.ToolDefinition{}
	for _, o := range acts {
		all[o.Name] = o
	}
	return all
}

// shared returns the names of those acts that are also among others, in their order.
func shared(acts []spaces.ToolDefinition, others map[string]spaces.ToolDefinition) (names []string) {
	for _, o := range acts {
		if _, both := others[o.Name]; both {
			names = append(names, o.Name)
		}
	}
	return names
}

// apart returns the keys that are in one of two maps alone, sorted.
func apart[T any](was, is map[string]T) (added, removed []string) {
	missing := func(from, in map[string]T) []string {
		keys := slices.Sorted(maps.Keys(from))
		return console.NonNil(slices.DeleteFunc(keys, func(k string) bool { _, there := in[k]; return there }))
	}
	return missing(is, was), missing(was, is)
}

// changeOf tells in what an act differs from what it was.
func changeOf(was, is spaces.ToolDefinition) ToolChange {
	c := ToolChange{Name: is.Name, Arguments: ArgumentChanges{Added: []string{}, Removed: []string{}, Changed: []string{}}}
	for _, part := range []struct {
		name string
		same bool
	}{
		{"tier", was.Tier == is.Tier},
		{"risk", was.Risk == is.Risk},
		{"about", was.About == is.About},
		{"schema", string(was.Schema) == string(is.Schema)},
	} {
		if !part.same {
			c.What = append(c.What, part.name)
		}
	}
	old, now := argumentsOf(was), argumentsOf(is)
	c.Arguments.Added, c.Arguments.Removed = apart(old, now)
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if before, both := old[name]; both && before != now[name] {
			c.Arguments.Changed = append(c.Arguments.Changed, name)
		}
	}
	return c
}

func argumentsOf(o spaces.ToolDefinition) map[string]spaces.ToolArgument {
	all := map[string]spaces.ToolArgument{}
	for _, a := range o.Arguments() {
		all[a.Name] = a
	}
	return all
}
