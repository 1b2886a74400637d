// Package toolbox puts together the tools that agents can be granted: those of MCP
// servers, programs of the operator, and the web, and skills. It implements [shell.ToolBox].
package toolbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// A Box holds the tools of a configuration. It is safe for concurrent use.
type Box struct {
	options Options
	pins    *pinFile

	mu      sync.Mutex // guards the fields below
	of      *config.Config
	sources []toolSource
	ctx     context.Context //nolint:containedctx // of the work in the background; nil before Start
	offers  map[spaces.AgentID]cachedOffer
}

// Options are what a box needs.
type Options struct {
	Data    string // folder of the program's files
	Base    string // folder of the configuration, of relative paths in it
	Version string // of the program, told to servers
	// OwnPages are base URLs of the operator's servers that are fetched although they are
	// not public.
	OwnPages []string
	Log      *slog.Logger
	// BuiltIn reports whether a name is that of a tool of the shell's own.
	BuiltIn func(name string) bool
}

// A toolSource has tools of one entry of the configuration.
type toolSource interface {
	// name names the source as people do.
	name() string
	// isOf reports whether the source was made of an entry of the configuration.
	isOf(entry any) bool
	// tools returns the tools and a version, another one for other tools. It never waits.
	tools() (all []sourceTool, version string)
	// use calls a tool.
	use(ctx context.Context, tool string, use shell.ToolUse) (shell.ToolAnswer, error)
	close()
}

// A follower is a source whose tools change by themselves.
type follower interface {
	// begin has changes followed until ctx ends, or the source is closed.
	begin(ctx context.Context)
}

// A sourceTool is a tool as its source knows it.
type sourceTool struct {
	name string // within the source; empty where the source is one tool
	shell.OutsideTool
}

// title returns how configurations and people call a tool.
func title(source, tool string) string {
	if tool == "" {
		return source
	}
	return source + "." + tool
}

type cachedOffer struct {
	version string
	offer   shell.ToolOffer
	from    map[string]offeredTool // by the name that models use
	clashes []string               // titles of tools whose names are taken
}

type offeredTool struct {
	source toolSource
	tool   string
}

// New returns a box with the tools of a configuration. It starts nothing: programs start
// and servers are connected to when their tools are first looked for.
func New(c *config.Config, o Options) *Box {
	b := &Box{options: o, pins: openPins(filepath.Join(o.Data, PinsFile), o.Log)}
	b.Reload(c)
	return b
}

// Reload replaces the configuration. Sources whose entries are as they were go on.
func (b *Box) Reload(c *config.Config) {
	b.mu.Lock()
	defer b.mu.Unlock()
	old := b.sources
	b.of, b.sources, b.offers = c, nil, map[spaces.AgentID]cachedOffer{}
	for _, m := range b.sourcesOf(c) {
		i := slices.IndexFunc(old, func(s toolSource) bool { return s.isOf(m.entry) })
		if i >= 0 {
			b.sources = append(b.sources, old[i])
			old = slices.Delete(slices.Clone(old), i, i+1)
			continue
		}
		s, err := m.open()
		if err != nil {
			b.options.Log.Error("tools not available", "entry", m.name, "error", err)
			continue
		}
		if f, ok := s.(follower); ok && b.ctx != nil {
			f.begin(b.ctx)
		}
		b.sources = append(b.sources, s)
	}
	for _, s := range old {
		s.close()
	}
}

// Start has tool servers connected to and their tools listed, and the folders of skills
// looked at, in the background, until ctx ends.
func (b *Box) Start(ctx context.Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ctx = ctx
	for _, s := range b.sources {
		if f, ok := s.(follower); ok {
			f.begin(ctx)
		}
	}
}

// Close ends all programs and connections.
func (b *Box) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.sources {
		s.close()
	}
	b.sources = nil
}

// Offered implements [shell.ToolBox].
func (b *Box) Offered(agent spaces.AgentID) shell.ToolOffer { return b.offerOf(agent).offer }

func (b *Box) offerOf(agent spaces.AgentID) cachedOffer {
	b.mu.Lock()
	defer b.mu.Unlock()
	entry, _ := b.of.Agent(string(agent))
	if len(entry.Tools) == 0 {
		return cachedOffer{}
	}
	var versions strings.Builder
	lists := make([][]sourceTool, len(b.sources))
	for i, s := range b.sources {
		var version string
		lists[i], version = s.tools()
		versions.WriteString(version + "\n")
	}
	if have, ok := b.offers[agent]; ok && have.version == versions.String() {
		return have
	}
	made := b.makeOffer(entry.Tools, lists)
	made.version = versions.String()
	b.offers[agent] = made
	return made
}

// makeOffer returns the tools that patterns grant. b.mu is held.
func (b *Box) makeOffer(granted []string, lists [][]sourceTool) cachedOffer {
	made := cachedOffer{offer: shell.ToolOffer{SchemaTokens: b.of.Tools.Tokens}, from: map[string]offeredTool{}}
	for i, s := range b.sources {
		name := s.name()
		if k, ok := s.(*skillSource); ok {
			made.offer.Skills = k.granted(granted)
		}
		for _, t := range lists[i] {
			tool := t.OutsideTool
			tool.Server, tool.Title = name, title(name, t.name)
			if !isGranted(granted, name, tool.Title) {
				continue
			}
			tool.Name = wireName(tool.Title)
			if _, taken := made.from[tool.Name]; taken || b.options.BuiltIn(tool.Name) {
				b.options.Log.Warn("tool not offered: its name is taken", "tool", tool.Title, "as", tool.Name)
				made.clashes = append(made.clashes, tool.Title)
				continue
			}
			made.offer.Tools = append(made.offer.Tools, tool)
			made.from[tool.Name] = offeredTool{s, t.name}
		}
	}
	for _, name := range config.GrantedTools {
		if slices.Contains(granted, name) {
			made.offer.Own = append(made.offer.Own, name)
		}
	}
	text, err := json.Marshal(made.offer.Tools)
	if err != nil {
		panic("toolbox: tools do not marshal: " + err.Error())
	}
	for _, k := range made.offer.Skills {
		text = append(text, k.Name+k.Hash...)
	}
	text = append(text, strings.Join(made.offer.Own, " ")...)
	sum := sha256.Sum256(text)
	made.offer.Version = hex.EncodeToString(sum[:8])
	return made
}

// isGranted reports whether one of the patterns names a source or a tool of it.
func isGranted(patterns []string, source, title string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return config.MatchesTool(p, source) || config.MatchesTool(p, title) })
}

var unwireable = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// maxWireName is how long a name of a tool may be for model endpoints.
const maxWireName = 64

// wireName returns a name as model endpoints allow it. Longer ones are cut and keep apart
// by a sum of the whole name.
func wireName(title string) string {
	name := unwireable.ReplaceAllString(title, "_")
	if len(name) <= maxWireName {
		return name
	}
	sum := sha256.Sum256([]byte(title))
	return name[:maxWireName-9] + "_" + hex.EncodeToString(sum[:4])
}

// Use implements [shell.ToolBox]. A tool that is not granted any longer, or that its
// server does not have any longer, is not called.
func (b *Box) Use(ctx context.Context, use shell.ToolUse) (shell.ToolAnswer, error) {
	t, ok := b.offerOf(use.Agent).from[use.Tool]
	if !ok {
		return shell.ToolAnswer{Text: use.Tool + " is not available any more.", Failed: true}, fmt.Errorf("%s is not granted to %s", use.Tool, use.Agent)
	}
	return t.source.use(ctx, t.tool, use)
}
