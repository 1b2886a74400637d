package toolbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/doctor"
	"github.com/trestle-bridge/trestle/internal/mcpclient"
	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/internal/toolproc"
	"github.com/trestle-bridge/trestle/internal/websearch"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// An examiner is a source that can say whether it works.
type examiner interface {
	examine(ctx context.Context) []adapters.AccountDiagnosis
}

// examineTime bounds an examination; a program may install itself in that time.
const examineTime = 90 * time.Second

// Examine starts every tool server, asks all sources whether they work, and looks at what
// agents are granted. It accepts no tools.
func (b *Box) Examine(ctx context.Context) []adapters.AccountDiagnosis {
	ctx, cancel := context.WithTimeout(ctx, examineTime)
	defer cancel()
	b.mu.Lock()
	sources, conf := slices.Clone(b.sources), b.of
	b.mu.Unlock()
	found := make([][]adapters.AccountDiagnosis, len(sources)+1)
	var all sync.WaitGroup
	for i, s := range sources {
		if e, ok := s.(examiner); ok {
			all.Go(func() { found[i] = e.examine(ctx) })
		}
	}
	all.Go(func() { found[len(sources)] = examineSandbox(ctx, &conf.Tools) })
	all.Wait()
	var down []string // servers that have told of no tools
	for _, s := range b.Servers() {
		if len(s.Tools) == 0 {
			down = append(down, s.Name)
		}
	}
	for _, a := range conf.Agents {
		found = append(found, b.examineGrants(a, down))
	}
	return slices.Concat(found...)
}

// examineSandbox runs a program under bubblewrap, where the configuration asks for it.
func examineSandbox(ctx context.Context, tools *config.ToolConfig) []adapters.AccountDiagnosis {
	if !slices.ContainsFunc(tools.Servers, func(s config.ToolServerEntry) bool { return s.Sandbox != "" }) &&
		!slices.ContainsFunc(tools.Commands, func(c config.CommandToolEntry) bool { return c.Sandbox != "" }) {
		return nil
	}
	if err := toolproc.CheckSandbox(ctx); err != nil {
		return []adapters.AccountDiagnosis{doctor.Fail("TRS-X06", "programs cannot run in the sandbox: "+err.Error(), "lift what is in the way; without the sandbox a program reads what trestle reads")}
	}
	return []adapters.AccountDiagnosis{doctor.Fine("programs run in the sandbox")}
}

func (s *serverSource) examine(ctx context.Context) []adapters.AccountDiagnosis {
	entry := "tools.servers." + s.of.Key
	list, err := s.server.Tools(ctx)
	if err != nil {
		if failed, ok := errors.AsType[*mcpclient.CallError](err); ok && failed.Err != nil {
			err = failed.Err
		}
		mend := "start it by hand and read what it says; it is tried again by itself"
		switch {
		case errors.Is(err, toolproc.ErrNotFound):
			mend = "install the program, or correct " + entry + ".command"
		case s.of.URL != "":
			mend = "see that " + s.of.URL + " can be reached from here, and correct " + entry
		}
		return []adapters.AccountDiagnosis{doctor.Fail("TRS-X01", fmt.Sprintf("the tool server %s does not answer: %v", s.of.Key, err), mend)}
	}
	s.offer(s.pins.of(s.of.Key), list)
	now := s.reportNow()
	found := []adapters.AccountDiagnosis{doctor.Fine(fmt.Sprintf("%s answers with %s (%s, protocol %s)", s.of.Key, textformat.CountNoun(len(list), "tool"),
		strings.TrimSpace(now.State.Product+" "+now.State.ProductVersion), now.State.Revision))}
	for _, t := range now.State.Skipped {
		found = append(found, doctor.Warn("TRS-X02", fmt.Sprintf("%s: the tool %s cannot be offered: %s", s.of.Key, t.Name, t.Reason), "tell the maintainer of the server; its other tools work"))
	}
	for _, c := range now.Changed {
		found = append(found, doctor.Warn("TRS-X03", fmt.Sprintf("%s: the tool %s is other than it was accepted, and is not offered", s.of.Key, c.Name),
			"look at it, then trestle tools accept "+s.of.Key))
	}
	return found
}

func (c *commandSource) examine(context.Context) []adapters.AccountDiagnosis {
	if _, err := c.settings.Program.Path(); err != nil {
		return []adapters.AccountDiagnosis{doctor.Fail("TRS-X07", fmt.Sprintf("the command %s cannot run: %v", c.of.Key, err), "install the program, or correct tools.commands."+c.of.Key+".run")}
	}
	return []adapters.AccountDiagnosis{doctor.Fine("the program of the command " + c.of.Key + " is there")}
}

func (w *webSource) examine(ctx context.Context) []adapters.AccountDiagnosis {
	if w.search == nil {
		return nil
	}
	if _, err := w.search.Search(ctx, websearch.SearchQuery{Text: "weather", Count: 1}); err != nil {
		return []adapters.AccountDiagnosis{doctor.Fail("TRS-X10", "the web cannot be searched: "+err.Error(), "correct tools.web.search")}
	}
	return []adapters.AccountDiagnosis{doctor.Fine(w.of.SearchKind + " answers searches")}
}

func (s *skillSource) examine(context.Context) []adapters.AccountDiagnosis {
	s.look()
	s.mu.Lock()
	defer s.mu.Unlock()
	found := []adapters.AccountDiagnosis{doctor.Fine(textformat.CountNoun(len(s.library.Skills), "skill") + " can be read")}
	for _, r := range s.library.Refused {
		found = append(found, doctor.Fail("TRS-X11", fmt.Sprintf("%s is no skill: %s", r.Path, r.Why), "correct it; trestle skills check looks at it again"))
	}
	return found
}

// examineGrants looks at what an agent is granted. The tools of servers that are down are
// not known.
func (b *Box) examineGrants(a config.AgentEntry, down []string) (found []adapters.AccountDiagnosis) {
	of := b.offerOf(spaces.AgentID(a.ID))
	for _, title := range of.clashes {
		found = append(found, doctor.Warn("TRS-X04", fmt.Sprintf("%s is not offered %s: another tool has its name", a.ID, title), "give the server or command another name"))
	}
	for _, p := range a.Tools {
		one := []string{p}
		server, _, _ := strings.Cut(p, ".")
		names := slices.ContainsFunc(of.offer.Tools, func(t shell.OutsideTool) bool { return isGranted(one, t.Server, t.Title) }) ||
			slices.ContainsFunc(of.offer.Skills, func(k shell.OfferedSkill) bool { return SkillGranted(one, k.Name) }) ||
			slices.Contains(of.offer.Own, p) ||
			slices.ContainsFunc(of.clashes, func(title string) bool { return isGranted(one, "", title) }) ||
			slices.ContainsFunc(down, func(name string) bool { return config.MatchesTool(server, name) })
		if !names {
			found = append(found, doctor.Warn("TRS-X08", fmt.Sprintf("agents.%s.tools: %s names no tool or skill that there is", a.ID, p), "correct or remove it"))
		}
	}
	if alone := len(of.offer.NamedAlone()); alone > 0 {
		found = append(found, doctor.Warn("TRS-X05", fmt.Sprintf("of the %d tools of %s %d are offered by name alone, for tools.tokens is %d", len(of.offer.Tools), a.ID, alone, of.offer.SchemaTokens),
			"offer fewer with allow or a narrower grant, or raise tools.tokens"))
	}
	var unasked []string
	for _, t := range of.offer.Tools {
		if t.Approve == shell.ApproveNever && !t.ReadOnly {
			unasked = append(unasked, t.Title)
		}
	}
	if len(unasked) > 0 {
		found = append(found, doctor.Warn("TRS-X09", fmt.Sprintf("%s calls without a person's yes, although they may change something: %s", a.ID, strings.Join(unasked, ", ")), "remove approve: never, unless it is meant so"))
	}
	return found
}
