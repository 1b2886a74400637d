package mcpclient

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bounds of a list of tools.
const (
	maxTools       = 500
	maxPages       = 50
	maxDescription = 4000
	maxCallName    = 64 // of "server.tool": model endpoints allow no longer names
)

// How long a list is used.
const (
	listLife = 5 * time.Minute // where the server neither says how long nor tells of changes
	listRest = time.Second     // at least, however often the server says that it changed
	listMost = time.Hour       // at most, whatever the server says
)

// A ToolInfo is a tool as models and people are shown it. It is immutable.
type ToolInfo struct {
	Name        string // at the server
	Title       string // one line, at most 100 bytes
	Description string // at most 4,000 bytes, without hidden characters
	// InputSchema is the cleaned schema of the arguments, see [CleanSchema]; canonical.
	InputSchema json.RawMessage
	Hints       ToolHints
	// Hash pins all of the above, see [ToolHash].
	Hash string
}

// ToolHints are the server's own words about what a tool does. They are as trustworthy
// as the server.
type ToolHints struct {
	ReadOnly    bool `json:"read_only"`   // changes nothing
	Idempotent  bool `json:"idempotent"`  // a repeated call changes nothing more
	Destructive bool `json:"destructive"` // may change or delete what there is
	OpenWorld   bool `json:"open_world"`  // may reach other parties
}

// A SkippedTool is a tool that cannot be offered to a model.
type SkippedTool struct {
	Name   string // cleaned, at most 100 bytes
	Reason string
}

// A toolList is what was read of a server last.
type toolList struct {
	tools   []ToolInfo
	skipped []SkippedTool
	fetched time.Time
	life    time.Duration
	stale   bool          // the server said that it changed
	told    bool          // ListChanged was called for it
	reading chan struct{} // closed when the reading under way ends; nil if there is none
}

// fresh reports whether the list may be used without asking again.
func (l *toolList) fresh(now time.Time) bool {
	age := now.Sub(l.fetched)
	return !l.fetched.IsZero() && (age < listRest || !l.stale && age < l.life)
}

// Tools returns the tools of the server, sorted by name. It connects if need be, and
// asks again when the server said that the list changed or its time is over. When that
// fails it returns the last list, which may be empty, and the error.
func (s *ToolServer) Tools(ctx context.Context) ([]ToolInfo, error) {
	for {
		s.mu.Lock()
		s.list.told = false
		if s.session != nil && s.list.fresh(time.Now()) {
			tools := s.list.tools
			s.mu.Unlock()
			return tools, nil
		}
		reading := s.list.reading
		if reading == nil {
			s.list.reading = make(chan struct{})
			s.mu.Unlock()
			return s.readList(ctx)
		}
		s.mu.Unlock()
		select {
		case <-reading:
		case <-ctx.Done():
			return s.lastTools(), &CallError{Kind: kindOf(ctx), Err: context.Cause(ctx)}
		}
	}
}

func (s *ToolServer) lastTools() []ToolInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.list.tools
}

// readList asks for the list. The caller has marked that it is being read.
func (s *ToolServer) readList(ctx context.Context) ([]ToolInfo, error) {
	defer func() {
		s.mu.Lock()
		close(s.list.reading)
		s.list.reading = nil
		s.mu.Unlock()
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, 2*s.o.ConnectTimeout+s.o.CallTimeout, errCallTimeout) // two revisions may be tried
	defer cancel()
	live, err := s.acquire(ctx)
	if err != nil {
		return s.lastTools(), err
	}
	s.mu.Lock()
	s.list.stale = false // a notification from now on is about a later list
	s.mu.Unlock()
	raw, ttl, err := live.listTools(ctx)
	if err != nil {
		s.mu.Lock()
		s.list.stale = true
		s.mu.Unlock()
		if errors.Is(err, mcp.ErrSessionMissing) {
			s.forget(live)
		}
		if ctx.Err() != nil {
			return s.lastTools(), &CallError{Kind: kindOf(ctx), Err: context.Cause(ctx)}
		}
		return s.lastTools(), &CallError{Kind: Unavailable, Err: live.explain(err)}
	}
	tools, skipped := s.readTools(raw)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures = 0
	s.list.tools, s.list.skipped, s.list.fetched, s.list.life = tools, skipped, time.Now(), ttl
	return tools, nil
}

// listTools reads all pages. The time is how long the list may be used.
func (l *liveSession) listTools(ctx context.Context) ([]*mcp.Tool, time.Duration, error) {
	var all []*mcp.Tool
	life := listMost
	if !l.tellsChanges() {
		life = listLife
	}
	seen := map[string]bool{}
	cursor := ""
	for range maxPages {
		page, err := within(ctx, l, func() (*mcp.ListToolsResult, error) {
			return l.client.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
		})
		if err != nil {
			return nil, 0, err
		}
		if ttl := time.Duration(page.TTLMs) * time.Millisecond; ttl > 0 {
			life = min(life, ttl)
		}
		all = append(all, page.Tools...)
		cursor = page.NextCursor
		switch {
		case cursor == "":
			return all, life, nil
		case seen[cursor]:
			return nil, 0, errors.New("the pages of the list of tools go round in a circle")
		case len(all) > maxTools:
			return nil, 0, fmt.Errorf("the server has more than %d tools", maxTools)
		}
		seen[cursor] = true
	}
	return nil, 0, fmt.Errorf("the list of tools has more than %d pages", maxPages)
}

// tellsChanges reports whether the server says when its list changes.
func (l *liveSession) tellsChanges() bool {
	r := l.client.InitializeResult()
	return r != nil && r.Capabilities != nil && r.Capabilities.Tools != nil && r.Capabilities.Tools.ListChanged
}

// noteChange keeps that the server said that its list changed.
func (s *ToolServer) noteChange() {
	s.mu.Lock()
	tell := !s.list.told
	s.list.stale, s.list.told = true, true
	s.mu.Unlock()
	if tell && s.deps.ListChanged != nil {
		s.deps.ListChanged()
	}
}

var toolName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./-]*$`)

// readTools returns the tools that can be offered, sorted, and the others.
func (s *ToolServer) readTools(raw []*mcp.Tool) (tools []ToolInfo, skipped []SkippedTool) {
	taken := map[string]bool{}
	for _, t := range raw {
		info, err := readTool(t)
		switch {
		case t == nil:
			continue
		case err != nil:
		case len(s.name)+1+len(t.Name) > maxCallName:
			err = fmt.Errorf("the name has more than %d characters with the server's", maxCallName)
		case taken[strings.ToLower(t.Name)]:
			err = errors.New("the server has another tool of this name")
		}
		if err != nil {
			skipped = append(skipped, SkippedTool{Name: cleanLine(t.Name, maxProductName), Reason: err.Error()})
			continue
		}
		taken[strings.ToLower(t.Name)] = true
		tools = append(tools, info)
	}
	slices.SortFunc(tools, func(a, b ToolInfo) int { return strings.Compare(a.Name, b.Name) })
	return tools, skipped
}

// readTool returns a tool as it is shown.
func readTool(t *mcp.Tool) (ToolInfo, error) {
	if t == nil || !toolName.MatchString(t.Name) {
		return ToolInfo{}, errors.New("the name has other characters than letters, digits and _ . / -")
	}
	schema, err := CleanSchema(t.InputSchema)
	if err != nil {
		return ToolInfo{}, err
	}
	info := ToolInfo{Name: t.Name, InputSchema: schema, Hints: ToolHints{Destructive: true, OpenWorld: true}}
	title := t.Title
	if a := t.Annotations; a != nil {
		if title == "" {
			title = a.Title
		}
		info.Hints.ReadOnly, info.Hints.Idempotent = a.ReadOnlyHint, a.IdempotentHint
		if a.DestructiveHint != nil {
			info.Hints.Destructive = *a.DestructiveHint
		}
		if a.OpenWorldHint != nil {
			info.Hints.OpenWorld = *a.OpenWorldHint
		}
	}
	info.Hints.Destructive = info.Hints.Destructive && !info.Hints.ReadOnly
	info.Title = cleanLine(title, maxProductName)
	info.Description = cleanText(strings.TrimSpace(t.Description), maxDescription)
	info.Hash = ToolHash(info)
	return info, nil
}

// ToolHash returns a hash of all that a tool's user sees and what approvals rest on:
// name, title, description, schema and hints. A tool whose hash is another than the one
// that was approved is another tool.
func ToolHash(t ToolInfo) string {
	text, err := json.Marshal([]any{t.Name, t.Title, t.Description, t.InputSchema, t.Hints})
	if err != nil { // a schema that is no JSON; readTool makes none
		text = fmt.Appendf(nil, "%q", []string{t.Name, t.Title, t.Description, string(t.InputSchema)})
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// A ToolChange is the difference of one tool between two lists.
type ToolChange struct {
	Name string
	Old  *ToolInfo // nil when the tool is new
	New  *ToolInfo // nil when the tool is gone
}

// CompareTools returns what differs between the tools that were approved and those that
// a server has now, sorted by name.
func CompareTools(approved, now []ToolInfo) []ToolChange {
	changes := map[string]*ToolChange{}
	for i := range approved {
		changes[approved[i].Name] = &ToolChange{Name: approved[i].Name, Old: &approved[i]}
	}
	for i := range now {
		c := changes[now[i].Name]
		if c == nil {
			c = &ToolChange{Name: now[i].Name}
			changes[now[i].Name] = c
		}
		c.New = &now[i]
	}
	var out []ToolChange
	for _, c := range changes {
		if c.Old == nil || c.New == nil || ToolHash(*c.Old) != ToolHash(*c.New) {
			out = append(out, *c)
		}
	}
	slices.SortFunc(out, func(a, b ToolChange) int { return strings.Compare(a.Name, b.Name) })
	return out
}
