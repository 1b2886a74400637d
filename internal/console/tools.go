package console

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// A Manifest is a version of the acts with the time of its use. Its acts are nil
// where an older program left its name alone.
type Manifest struct {
	spaces.ToolManifest
	First, Last time.Time // when runs that were offered it ended; the last is noted once an hour
}

// A Tool is one act that agents may ask for (PRD-6.1-A3).
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

// apiTools tells what agents may ask for, now or in the version asked for.
func (c *Console) apiTools(r *http.Request) (ToolsAnswer, error) {
	a := ToolsAnswer{Tools: []Tool{}, Versions: []ToolVersion{}}
	m, err := c.version(r.Context(), r.URL.Query().Get("version"))
	if err != nil {
		return a, err
	}
	a.Manifest = m.Hash
	for _, o := range m.Acts {
		a.Tools = append(a.Tools, Tool{o, o.SchemaSum()})
	}
	used, err := c.Record.Manifests(r.Context(), "", maxVersions)
	for _, v := range used {
		a.Versions = append(a.Versions, ToolVersion{v.Hash, len(v.Acts), v.First, v.Last})
	}
	return a, err
}

// apiToolsDiff tells how one version of the acts differs from another.
func (c *Console) apiToolsDiff(r *http.Request) (ToolsDiff, error) {
	q := r.URL.Query()
	from, err := c.version(r.Context(), q.Get("from"))
	if err != nil {
		return ToolsDiff{}, err
	}
	to, err := c.version(r.Context(), q.Get("to"))
	if err != nil {
		return ToolsDiff{}, err
	}
	return diffTools(from, to), nil
}

// version returns the acts whose name begins so; no name is those of now.
func (c *Console) version(ctx context.Context, name string) (spaces.ToolManifest, error) {
	now := c.Tools()
	if name == "" || name == now.Hash {
		return now, nil
	}
	used, err := c.Record.Manifests(ctx, name, maxVersions)
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
		return now, versionError{fmt.Sprintf("%d versions of the acts begin with %q: %s", len(names), name, strings.Join(names, ", ")), "write more of the one that is meant"}
	case found[names[0]] == nil:
		return now, versionError{
			"which acts version " + names[0] + " had is not in the record",
			"the program that ran with it kept its name alone; versions are kept whole since",
		}
	}
	return spaces.ToolManifest{Hash: names[0], Acts: found[names[0]]}, nil
}

// versionError says why a version of the acts cannot be told, and what to do.
type versionError struct{ why, do string }

var _ UserError = versionError{}

// Error implements error.
func (e versionError) Error() string { return e.why }

// Refusal implements [UserError].
func (e versionError) Refusal() ErrorAnswer { return ErrorAnswer{e.why, e.do} }
