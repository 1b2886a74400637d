package toolbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/mcpclient"
	"github.com/trestle-bridge/trestle/internal/toolproc"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// listEvery is how often the list of a server's tools is looked at; a server that says
// that it changed is asked at once.
const listEvery = 5 * time.Minute

// A serverSource has the tools of an MCP server. Offered are those that were accepted: a
// tool whose description, schema or hints have changed since is not, until the operator
// accepts it.
type serverSource struct {
	of     config.ToolServerEntry
	server *mcpclient.ToolServer
	pins   *pinFile

	changed chan struct{}
	tried   chan struct{} // closed once the list has been asked for
	stop    context.CancelFunc
	done    sync.WaitGroup

	mu      sync.Mutex             // guards the fields below
	seen    []mcpclient.ToolInfo   // the whole list, as it was last read
	list    []mcpclient.ToolInfo   // of these, what is offered
	waiting []mcpclient.ToolChange // that are not accepted
	version int
}

// A ServerReport describes a tool server to operators.
type ServerReport struct {
	Name    string
	State   mcpclient.ServerState
	Tools   []mcpclient.ToolInfo
	Changed []mcpclient.ToolChange // not offered until they are accepted
}

func (b *Box) openServer(of config.ToolServerEntry) (toolSource, error) {
	s := &serverSource{of: of, pins: b.pins, changed: make(chan struct{}, 1), tried: make(chan struct{})}
	set := mcpclient.ServerSettings{URL: of.URL, Headers: plainTexts(of.Headers), CallTimeout: of.Timeout, Version: b.options.Version}
	if len(of.Command) > 0 {
		set.Program = b.program(of.Key, of.Command, plainTexts(of.Env), of.Sandbox, of.Network)
	}
	var err error
	s.server, err = mcpclient.New(of.Key, set, mcpclient.ServerDeps{Log: b.options.Log, ListChanged: func() {
		select {
		case s.changed <- struct{}{}:
		default:
		}
	}})
	if err != nil {
		return nil, err
	}
	s.list = b.pins.of(of.Key)
	s.stop = func() {}
	return s, nil
}

// program returns how a program of the operator is run.
func (b *Box) program(name string, command []string, env map[string]string, sandbox string, network bool) *toolproc.ToolProgram {
	p := &toolproc.ToolProgram{
		Name: name, Command: command, Base: b.options.Base, Folder: b.options.Data + "/tools", Env: env, Limits: toolproc.DefaultLimits(),
	}
	if sandbox != "" {
		p.Sandbox = &toolproc.SandboxPlan{Network: network}
	}
	return p
}

// begin has the list of tools followed until ctx ends, or the source is closed.
func (s *serverSource) begin(ctx context.Context) {
	ctx, s.stop = context.WithCancel(ctx)
	s.done.Go(func() { s.follow(ctx) })
}

// follow keeps the list of tools up to date until ctx ends.
func (s *serverSource) follow(ctx context.Context) {
	tick := time.NewTicker(listEvery)
	defer tick.Stop()
	tried := sync.OnceFunc(func() { close(s.tried) })
	defer tried()
	for {
		list, err := s.server.Tools(ctx)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			s.take(list)
		}
		tried()
		next := tick.C
		if wait := time.Until(s.server.State().Next); err != nil && wait > 0 && wait < listEvery {
			next = time.After(wait)
		}
		select {
		case <-ctx.Done():
			return
		case <-s.changed:
		case <-next:
		}
	}
}

// take takes over a list of the server. Tools that are seen for the first time are
// accepted.
func (s *serverSource) take(list []mcpclient.ToolInfo) {
	s.offer(s.pins.meet(s.of.Key, list), list)
}

// offer offers the tools of a list that are as they were accepted, or new.
func (s *serverSource) offer(accepted, list []mcpclient.ToolInfo) {
	var offered []mcpclient.ToolInfo
	for _, t := range list {
		if i := slices.IndexFunc(accepted, func(a mcpclient.ToolInfo) bool { return a.Name == t.Name }); i < 0 || accepted[i].Hash == t.Hash {
			offered = append(offered, t)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen, s.list, s.waiting = list, offered, changesOf(accepted, list)
	s.version++
}

// changesOf returns the tools that are other than accepted.
func changesOf(accepted, now []mcpclient.ToolInfo) []mcpclient.ToolChange {
	return slices.DeleteFunc(mcpclient.CompareTools(accepted, now), func(c mcpclient.ToolChange) bool { return c.Old == nil || c.New == nil })
}

func (s *serverSource) name() string { return s.of.Key }

func (s *serverSource) isOf(entry any) bool {
	e, ok := entry.(config.ToolServerEntry)
	return ok && e.Same(s.of)
}

func (s *serverSource) tools() ([]sourceTool, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []sourceTool
	for _, t := range s.list {
		if len(s.of.Allow) > 0 && !slices.ContainsFunc(s.of.Allow, func(p string) bool { return config.MatchesTool(p, t.Name) }) {
			continue
		}
		all = append(all, sourceTool{t.Name, shell.OutsideTool{
			About: t.Description, Schema: t.InputSchema, Tier: spaces.TierMarketplace,
			ReadOnly: s.of.Trusted && t.Hints.ReadOnly, Repeats: s.of.Trusted && (t.Hints.Idempotent || t.Hints.ReadOnly),
			Reaches: !s.of.Trusted || t.Hints.OpenWorld,
			Approve: shell.ApprovalPolicy(s.of.Approvals.PolicyOf(t.Name)), Approvers: s.of.Approvals.Approvers,
		}})
	}
	return all, fmt.Sprintf("%s %d", s.of.Key, s.version)
}

func (s *serverSource) use(ctx context.Context, tool string, use shell.ToolUse) (shell.ToolAnswer, error) {
	request := mcpclient.CallRequest{Tool: tool, Arguments: use.Args, ID: use.ID}
	if use.Progress != nil {
		request.Progress = func(p mcpclient.CallProgress) { use.Progress(progressText(p)) }
	}
	if err := answerInput(&request, use.Input); err != nil {
		return shell.ToolAnswer{Text: "The answer of the person could not be read.", Failed: true}, err
	}
	got, err := s.server.Call(ctx, request)
	if err != nil {
		answer := shell.ToolAnswer{Text: s.of.Key + " could not be called.", Failed: true}
		if failed, ok := errors.AsType[*mcpclient.CallError](err); ok {
			answer.Text = failed.Sentence()
			if failed.Said != "" {
				answer.Text += "\nThe server said: " + failed.Said
			}
			answer.Unsure = failed.Sent && failed.Kind != mcpclient.Refused
		}
		return answer, err
	}
	if input := inputOf(got.Questions); input.Question != "" {
		return shell.ToolAnswer{Input: input}, nil
	}
	return shell.ToolAnswer{Text: resultText(got), Failed: got.Failed || got.Questions != nil}, nil
}

// progressText returns what a server tells of its progress as one line.
func progressText(p mcpclient.CallProgress) string {
	done := strconv.FormatFloat(p.Done, 'f', -1, 64)
	if p.Total > 0 {
		done += " of " + strconv.FormatFloat(p.Total, 'f', -1, 64)
	}
	if p.Message == "" {
		return done
	}
	return p.Message + " (" + done + ")"
}

// resultText returns a result as text: what is no text is named.
func resultText(r mcpclient.CallResult) string {
	text := r.Text
	if text == "" && len(r.Structured) > 0 {
		text = string(r.Structured)
	}
	add := func(line string) {
		if text != "" {
			text += "\n"
		}
		text += line
	}
	for _, f := range r.Files {
		add(fmt.Sprintf("[file %s, %s, %d bytes: not shown]", f.Name, f.Media, len(f.Data)))
	}
	for _, l := range r.Links {
		add(fmt.Sprintf("[resource %s %s]", l.Name, l.URI))
	}
	if r.Questions != nil {
		add("The tool asks for input that only a person can give; it was not done:")
		for _, q := range r.Questions.Questions {
			add(q.Message)
		}
	}
	if r.Cut {
		add("[a part of the answer was too long and was left out]")
	}
	return text
}

// accept accepts the tools as they are now.
func (s *serverSource) accept() ([]mcpclient.ToolChange, error) {
	s.mu.Lock()
	seen, changed := s.seen, s.waiting
	s.mu.Unlock()
	if len(changed) == 0 {
		return nil, nil
	}
	if err := s.pins.accept(s.of.Key, seen); err != nil {
		return nil, err
	}
	s.take(seen)
	return changed, nil
}

// reportNow describes the server.
func (s *serverSource) reportNow() ServerReport {
	s.mu.Lock()
	defer s.mu.Unlock()
	return ServerReport{Name: s.of.Key, State: s.server.State(), Tools: slices.Clone(s.list), Changed: slices.Clone(s.waiting)}
}

func (s *serverSource) close() {
	s.stop()
	s.server.Close()
	s.done.Wait()
}
