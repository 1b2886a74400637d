//go:build faultinject

package crashtest

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/internal/failpoint"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

var toolKills = flag.Int("toolkills", 6, "how often programs are killed that call tools")

// killsPerLedger is how often the program of one case is killed.
const killsPerLedger = 6

// toolPoints are the places near a call of a tool.
var toolPoints = []string{
	"wake.claimed", "model.before_call", "model.after_call", "step.recorded", "tool.decided", "tool.claimed", "tool.before_call", "tool.after_call",
	"tool.before_result", "tool.after_result", "acts.recorded", "cycle.before_commit", "cycle.after_commit", "outbox.sending", "send.accepted", "receipt.committed",
}

// ledgerVariable has the test's executable run as a tool server that writes this journal.
const ledgerVariable = "LEDGER_JOURNAL"

// newLedger returns a tool server that notes every call in a journal: before it does, it
// has not happened. Its tools take some time before and after that.
func newLedger(journal string) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "ledger", Version: "1"}, nil)
	type entry struct {
		Token string `json:"token"`
	}
	add := func(name string, reads bool) {
		tool := &mcp.Tool{Name: name, Description: "Books a token: " + name + ".", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: reads, OpenWorldHint: new(bool)}}
		mcp.AddTool(s, tool, func(_ context.Context, _ *mcp.CallToolRequest, in entry) (*mcp.CallToolResult, any, error) {
			n, _ := strconv.Atoi(in.Token[len(in.Token)-2:])
			<-time.After(time.Duration(n%5) * 5 * time.Millisecond)
			f, err := os.OpenFile(journal, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
			if err != nil {
				return nil, nil, err
			}
			_, err = fmt.Fprintf(f, "%s %s\n", name, in.Token)
			if err := cmp.Or(err, f.Close()); err != nil {
				return nil, nil, err
			}
			<-time.After(time.Duration(n%7) * 8 * time.Millisecond)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "receipt of " + in.Token}}}, nil, nil
		})
	}
	add("count", true)
	add("enter", false)
	add("guard", false)
	return s
}

// serveLedger runs this process as a tool server over standard input.
func serveLedger(journal string) {
	ctx := context.Background() //nolint:forbidigo // the process has no other
	if err := newLedger(journal).Run(ctx, &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// An office is a world with a tool server, in which people ask for calls of tools.
type office struct {
	*world
	journal string
	asked   []favour
}

// A favour is a message that asks for a call of a tool, or for an answer alone.
type favour struct {
	saying
	tool string
}

// newOffice opens an office. Its tool server is part of the test's process, or a program.
func newOffice(t *testing.T, seed uint64, overHTTP bool) (*office, *program) {
	t.Helper()
	o := &office{world: newWorld(t, seed, 3), journal: filepath.Join(t.TempDir(), "journal")}
	o.model.Model = clerk{}
	where := fmt.Sprintf("command: [%q], env: {%s: %q}", os.Args[0], ledgerVariable, o.journal)
	if overHTTP {
		where = fmt.Sprintf("url: %q", o.serve(t, serveHTTP(newLedger(o.journal))))
	}
	prog := newProgram(t, o.world, "")
	text := fmt.Sprintf(`
listen: ""
model: {base_url: %q, api_key: none, name: clerk}
adapters:
  telegram: {type: telegram, token: %q, api_url: %q}
admit: open
limits: {outgoing: off}
tools:
  servers:
    ledger: {%s, trust: annotations, approve: {count: never, enter: never, guard: always}, approvers: requester}
agents:
  ada: {name: Ada, tools: [ledger]}
spaces:
  workshop: {name: Workshop, agents: [ada], wake: all, chats: ["telegram:%d"]}
`, o.base, botToken, o.api, where, o.forum.ID())
	testutil.OK(t, os.WriteFile(filepath.Clean(prog.config), []byte(text), 0o600))
	return o, prog
}

// serveHTTP serves a tool server by streamable HTTP until ctx ends.
func serveHTTP(s *mcp.Server) func(context.Context, net.Listener) error {
	return func(ctx context.Context, l net.Listener) error {
		h := &http.Server{ReadHeaderTimeout: time.Second, Handler: mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true})}
		defer context.AfterFunc(ctx, func() { _ = h.Close() })() // it says so by what Serve returns
		if err := h.Serve(l); ctx.Err() == nil {
			return err
		}
		return nil
	}
}

// asks posts a message of a person at a random place that asks for a tool.
func (o *office) asks(tool string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	p := o.places[o.rng.IntN(len(o.places))]
	f := favour{saying{token: fmt.Sprintf("zk%05d", len(o.said)+1), chat: p.chat.ID(), thread: p.thread, at: time.Now()}, tool}
	f.message = p.chat.Says(p.who, cmp.Or(tool, "about")+" "+f.token, faketelegram.PostOptions{Thread: p.thread})
	o.said = append(o.said, f.saying)
	o.asked = append(o.asked, f)
}

// approves presses the buttons of requests, again where nothing came of it, until ctx
// ends.
func (o *office) approves(ctx context.Context) {
	pressed := map[[2]int64]time.Time{}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for _, p := range o.places {
			for _, m := range p.chat.Sent() {
				at := [2]int64{p.chat.ID(), m.ID}
				if len(m.Buttons) > 0 && m.Thread == p.thread && time.Since(pressed[at]) > 2*time.Second {
					p.who.Presses(p.chat, m.ID, "Once")
					pressed[at] = time.Now()
				}
			}
		}
	}
}

// TestToolThatWritesIsNeverCalledTwice is TOOLS 8: killed near calls of tools and at any
// moment, again and again, the program calls a tool that writes at most once for each
// request, and says of a call only what is so. Requests that have no answer are counted.
func TestToolThatWritesIsNeverCalledTwice(t *testing.T) {
	var playing sync.WaitGroup
	var f toolFigures
	turn := make(chan struct{}, *hands)
	for n := range (*toolKills + killsPerLedger - 1) / killsPerLedger {
		seed := seedOf("tools", n)
		if *only != "" && *only != "K12" || *oneSeed != 0 && *oneSeed != seed {
			continue
		}
		playing.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) { playTools(t, seed, &f) })
		})
	}
	playing.Wait()
	t.Log(f.String())
}

// toolFigures are what a run publishes.
type toolFigures struct {
	mu   sync.Mutex // guards what follows
	hits map[string]int
	sums map[string]int
}

func (f *toolFigures) add(of *map[string]int, name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if *of == nil {
		*of = map[string]int{}
	}
	(*of)[name]++
}

// String returns the figures in a few lines.
func (f *toolFigures) String() string {
	var b strings.Builder
	for _, of := range []map[string]int{f.hits, f.sums} {
		b.WriteByte('\n')
		for _, k := range slices.Sorted(maps.Keys(of)) {
			fmt.Fprintf(&b, "%s %d, ", k, of[k])
		}
	}
	return b.String()
}

// playTools is one case.
func playTools(t *testing.T, seed uint64, f *toolFigures) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*caseLimit)
	defer cancel()
	rng := rand.New(rand.NewPCG(seed, 4))
	o, prog := newOffice(t, seed, seed%2 == 0)
	var approving sync.WaitGroup
	defer approving.Wait()
	approve, stop := context.WithCancel(ctx)
	defer stop()
	approving.Go(func() { o.approves(approve) })

	prog.start(t, nil)
	if !await(ctx, func() bool { _, err := os.Stat(filepath.Join(prog.data, "tools.json")); return err == nil }) {
		t.Fatal("the tool server was not asked for its tools")
	}
	testutil.OK(t, prog.stop(ctx))
	tools := []string{"enter", "enter", "guard", "count", ""}
	for range killsPerLedger {
		var plan failpoint.FaultPlan
		if rng.IntN(3) > 0 {
			plan = failpoint.FaultPlan{{Point: toolPoints[rng.IntN(len(toolPoints))], Hit: 1 + rng.IntN(3), Action: failpoint.Kill}}
		}
		prog.start(t, plan)
		for range 3 {
			o.asks(tools[rng.IntN(len(tools))])
			<-time.After(time.Duration(rng.IntN(60)) * time.Millisecond)
		}
		moment := time.NewTimer(time.Duration(50+rng.IntN(700)) * time.Millisecond)
		if plan != nil {
			moment.Reset(3 * time.Second)
		}
		select {
		case <-prog.ended:
			f.add(&f.hits, plan[0].Point)
		case <-moment.C:
			f.add(&f.hits, map[bool]string{true: "not reached: " + plan.String(), false: "any moment"}[plan != nil])
		}
		moment.Stop()
		prog.kill()
		testutil.OK(t, prog.killed(ctx))
	}
	starts := prog.starts(t)
	prog.start(t, nil)
	if !await(ctx, func() bool {
		return prog.starts(t) > starts && !callsAreOpen(ctx, prog) && !prog.busy(ctx) && !callsAreOpen(ctx, prog)
	}) {
		t.Error("the program did not come to rest")
	}
	testutil.OK(t, prog.stop(ctx))
	end := prog.audited(t)
	for _, v := range end.checked {
		t.Errorf("%s: %s: %s", v.Invariant, v.Subject, v.Detail)
	}
	o.judgeTools(t, &end, f)
	if t.Failed() {
		t.Logf("again: -run %s -seed %d", t.Name(), seed)
	}
}

// callsAreOpen asks the database of a running program whether a call has not ended, or
// its end has not woken the agent yet.
func callsAreOpen(ctx context.Context, p *program) bool {
	db, err := p.look()
	if err != nil {
		return true
	}
	defer func() { _ = db.Close() }()
	var left int
	err = db.QueryRowContext(ctx, `select (select count(*) from cycles where state = 'open') + (select count(*) from tool_runs where ended = 0) + (select count(*) from timers where fired_by = '')`).Scan(&left)
	return err != nil || left > 0
}

// entries counts the notes of the journal.
func (o *office) entries(t *testing.T) map[string]int {
	t.Helper()
	text, err := os.ReadFile(o.journal)
	if !os.IsNotExist(err) {
		testutil.OK(t, err)
	}
	count := map[string]int{}
	for line := range bytes.Lines(text) {
		count[strings.TrimSpace(string(line))]++
	}
	return count
}

// judgeTools compares what people asked for with the journal and with what they were told.
func (o *office) judgeTools(t *testing.T, end *record, f *toolFigures) {
	t.Helper()
	entries := o.entries(t)
	for _, a := range o.asked {
		told := end.toldOfCrash(a)
		var answers []string
		for _, r := range end.orders {
			if _, said, ok := strings.Cut(r.text, a.token+" is "); ok && r.kind == "send" {
				answers = append(answers, said)
				// What a run had called when it crashed is told in the thread of its last message.
				if r.chat != strconv.FormatInt(a.chat, 10) || a.thread != 0 && !told && r.thread != strconv.FormatInt(a.thread, 10) {
					t.Errorf("%s of %d %d is answered in %s %s", a.token, a.chat, a.thread, r.chat, r.thread)
				}
			}
		}
		n := entries[a.tool+" "+a.token]
		f.add(&f.sums, cmp.Or(a.tool, "about")+" called "+strconv.Itoa(n))
		answer := strings.Join(answers, ", ")
		switch {
		case a.tool != "count" && n > 1:
			t.Errorf("%s was called %d times for %s: %q", a.tool, n, a.token, answer)
		case len(slices.Compact(answers)) > 1: // what came of a call may be told by two wakes, which know nothing of each other
			t.Errorf("%s has %d answers: %q", a.token, len(answers), answer)
		case len(answers) == 0 && !told:
			f.add(&f.sums, "nobody was told") // not promised of a run that crashed thrice without a call that writes
			t.Logf("%s of %s, called %d times, has no answer, and nobody was told: %s", cmp.Or(a.tool, "about"), a.token, n, end.fate(a.token))
		case answer == "receipted" && n == 0:
			t.Errorf("%s of %s was not called and is said to be", a.tool, a.token)
		case strings.HasPrefix(answer, "odd"):
			t.Errorf("%s of %s: %s", a.tool, a.token, answer)
		case a.tool == "count" && !strings.HasPrefix(answer, "receipted") && answer != "unknown" && !told: // unknown: its process ended three times while it ran
			t.Errorf("%s of %s only reads, and is %q", a.tool, a.token, answer)
		}
		f.add(&f.sums, cmp.Or(a.tool, "about")+" is "+cmp.Or(answer, map[bool]string{true: "told of the crash", false: "without an answer"}[told]))
	}
}

// toldOfCrash reports whether people were told, where a message was said and after it, of
// a run that ended with its process.
func (r *record) toldOfCrash(a favour) bool {
	return slices.ContainsFunc(r.orders, func(o order) bool {
		return strings.HasPrefix(o.text, "The program ended several times") && o.chat == strconv.FormatInt(a.chat, 10) && o.created >= a.at.UnixMilli()
	})
}

// fate says what became of the message with a token.
func (r *record) fate(token string) string {
	for _, e := range r.events {
		if e.kind != "said" || !strings.Contains(e.body, token) || strings.HasPrefix(e.actor, "agent:") {
			continue
		}
		for _, w := range r.rows {
			if w.event == e.id {
				y := r.cycles[w.cycle]
				return fmt.Sprintf("its row is %s (%s), its cycle %s is %s, stopped by %q: %s", w.state, w.reason, w.cycle, y.state, y.stop, y.detail)
			}
		}
	}
	return "it is in no event"
}
