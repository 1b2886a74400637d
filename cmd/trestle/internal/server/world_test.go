package server

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/trestle-bridge/trestle/adapters/fake"
	"github.com/trestle-bridge/trestle/adapters/fake/faketest"
	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
	"github.com/trestle-bridge/trestle/internal/llm/provider"
	"github.com/trestle-bridge/trestle/internal/store/readmodel"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// A world is a whole Trestle in a bubble: the fake Telegram on a network in
// memory, a data folder on disk, a scripted model, and the program's own wiring.
type world struct {
	t        *testing.T
	config   string
	accounts string // further lines under adapters:
	dir      string
	telegram *faketelegram.Server
	bot      *faketelegram.BotUser
	network  *fake.MemoryNetwork
	model    *llmtest.ScriptedModel
	other    llm.ChatModel // answers in place of model, when set
	dictated dictation     // what voices say, where a model is configured that hears
	minted   atomic.Int64

	readAloud reader // what answers to voices are spoken by, where a speech model is configured

	chats  map[string]*faketelegram.Chat
	people map[string]*faketelegram.HumanUser
	topics map[string]int64
	names  []string // of chats, in order
	began  time.Time
	health strings.Builder // what was noted of it
	seen   strings.Builder // what was noted of the chats

	slack   *slackSide   // nil: there is no Slack in this world
	discord *discordSide // nil: the world has none
	door    *doorway     // nil: no platform calls us

	process *Server
	client  *http.Client
	end     func()
}

const worldToken = "7001:world-token"

// newWorld returns a running world.
func newWorld(t *testing.T, config string, steps ...llmtest.ScriptStep) *world {
	t.Helper()
	return newWorldOf(t, config, nil, steps...)
}

// newWorldOf returns a running world in which other answers in place of a script.
func newWorldOf(t *testing.T, config string, other llm.ChatModel, steps ...llmtest.ScriptStep) *world {
	t.Helper()
	first, _, _ := strings.Cut(config, "\n")
	w := &world{
		other: other, began: time.Now(),
		t: t, config: config, dir: t.TempDir(), network: new(fake.MemoryNetwork),
		telegram: faketelegram.NewTelegram(faketelegram.Options{Old: strings.HasPrefix(first, "#") && strings.Contains(first, "old-telegram")}), model: llmtest.NewScripted(t.Errorf, steps...),
		chats: map[string]*faketelegram.Chat{}, people: map[string]*faketelegram.HumanUser{}, topics: map[string]int64{},
	}
	w.bot = w.telegram.AddBot(faketelegram.BotProfile{Token: worldToken, Name: "Ada", Username: "ada_bot"})
	w.client = w.network.Client()
	ln, err := w.network.Listen("telegram.test")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- fake.ServeUntilDone(ctx, ln, w.telegram) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	if strings.Contains(config, "name: "+servedModel) {
		faketest.Serve(t, w.network, "model.test", (&llmtest.Server{Model: w.model}).Serve)
	}
	w.door = newDoorway(w, first)
	w.door.calls(w)
	if w.door != nil && w.door.hook {
		faketest.Serve(t, w.network, "replies.test", func(ctx context.Context, ln net.Listener) error {
			return fake.ServeUntilDone(ctx, ln, http.HandlerFunc(w.door.takes))
		})
	}
	if strings.HasPrefix(first, "#") && strings.Contains(first, "slack") {
		w.slack = newSlackSide(w, strings.Contains(first, "slack agent"), strings.Contains(first, "assistant view"))
	}
	if strings.HasPrefix(first, "#") && strings.Contains(first, "discord") {
		w.discord = newDiscordSide(w)
	}
	w.start()
	return w
}

// thinks returns who answers for the agents.
func (w *world) thinks() llm.ChatModel {
	if w.other != nil {
		return w.other
	}
	return w.model
}

// servedModel is the name of a model that is asked by a client, over the network.
const servedModel = "served"

// endpoint returns the client of an endpoint.
func (w *world) endpoint(m config.ModelEndpoint) llm.ChatModel {
	if m.Name != servedModel {
		return w.thinks()
	}
	client, err := provider.OpenModel(m.Provider, provider.ClientOptions{BaseURL: m.BaseURL, Transport: w.client.Transport})
	if err != nil {
		w.t.Error(err)
	}
	return client
}

// newID mints ids that rise, so that what is rendered is the same every time.
func (w *world) newID() string {
	n := w.minted.Add(1)
	return fmt.Sprintf("00000000-0000-7000-8000-%012d", n)
}

// save writes the world's configuration and returns its file.
func (w *world) save() string {
	w.t.Helper()
	text := "data: " + filepath.Join(w.dir, "data") + "\nlisten: \"\"\n" + w.door.config() +
		"adapters:\n  telegram: {type: telegram, token: \"" + worldToken + "\", api_url: \"http://telegram.test\"" + w.door.address() + "}\n" + w.slack.config() + w.discord.config() + w.door.hooks() + w.accounts +
		scriptedModel(w.config) + twoPhases(w.config) + w.config
	file := filepath.Join(w.dir, "trestle.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return file
}

// load saves the world's configuration and reads it.
func (w *world) load() *config.Config {
	w.t.Helper()
	c, err := config.Load(config.LoadOptions{Path: w.save(), Lookup: func(string) (string, bool) { return "", false }})
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// reload has the running program take over another configuration.
func (w *world) reload(text string) {
	w.t.Helper()
	w.config = text
	if err := w.process.apply(w.t.Context(), w.load()); err != nil {
		w.t.Fatal(err)
	}
}

// start brings the program up on the world's data folder, and it comes to rest.
func (w *world) start() {
	w.t.Helper()
	w.boot()
	w.settle()
}

// boot brings the program up.
func (w *world) boot() {
	w.t.Helper()
	c := w.load()
	s := NewServer(c, slog.New(slog.NewTextHandler(w.t.Output(), nil)), io.Discard, true)
	s.testSeams = testSeams{
		Mint: w.newID, nonce: func() string { return "NONCE" }, Client: w.client,
		Models:      func(m config.ModelEndpoint) llm.ChatModel { return w.endpoint(m) },
		transcriber: &w.dictated, speech: &w.readAloud,
	}
	w.process = s
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan error, 1)
	go func() { done <- w.live(ctx, s) }()
	w.end = func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Errorf("the program ended with: %v", err)
		}
	}
	<-s.Ready
}

// live runs the process without its socket and its web page: real listeners
// would keep the bubble's time from moving.
func (w *world) live(ctx context.Context, s *Server) error {
	return s.RunInMemory(ctx, func(ctx context.Context, g *errgroup.Group, h http.Handler) error {
		return w.door.listens(ctx, g, w, h)
	})
}

func (w *world) stop() {
	w.end()
	w.client.CloseIdleConnections()
}

func (w *world) restart() {
	w.end()
	w.start()
}

// pass advances the bubble's clock by d and waits for everything that is due at that
// instant, so that the caller acts after it.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// settle lets the world run until nothing is under way and nothing waits to be
// sent now.
func (w *world) settle() {
	quiet := 0
	for range 1200 { // Slack brings an event again after a minute if no socket was open
		pass(100 * time.Millisecond)
		if quiet++; !w.idle() {
			quiet = 0
		}
		if quiet >= 12 { // longer than every poll
			return
		}
	}
	w.t.Error("the world does not come to rest")
}

// fetched reports whether no file waits to be fetched now.
func (w *world) fetched() bool {
	for _, l := range w.process.conns.all() {
		wanted, err := w.process.Store.Border().Wanted(w.t.Context(), l.Status().Account, time.Now(), 1)
		if err != nil {
			w.t.Fatal(err)
		}
		if len(wanted) > 0 && w.process.fetchesFiles(l.name) {
			return false
		}
	}
	return true
}

// idle reports whether no cycle runs, no update waits, and nothing is to be sent now.
func (w *world) idle() bool {
	ctx, now := w.t.Context(), time.Now()
	waiting, err := w.process.Store.Shell().Waiting(ctx, now, 1)
	if err != nil {
		w.t.Fatal(err)
	}
	due, waits, err := w.process.Store.Border().Next(ctx, "telegram:7001")
	if err != nil {
		w.t.Fatal(err)
	}
	return w.process.shell.Idle() && w.fetched() && w.slack.idle() && w.discord.idle() && len(waiting) == 0 && w.bot.Pending() == 0 && (!waits || due.After(now.Add(2*time.Second)))
}

func (w *world) addPerson(name string) *faketelegram.HumanUser {
	p := w.telegram.AddPerson(faketelegram.UserProfile{Name: name, Username: strings.ToLower(name)})
	w.people[name] = p
	return p
}

func (w *world) addChat(name, kind string, who []string) {
	switch kind {
	case "slack", "slack-direct":
		w.slack.open(name, kind == "slack-direct", who)
		return
	case "discord":
		w.discord.open(name, who)
		return
	}
	var people []*faketelegram.HumanUser
	for _, n := range who {
		p := w.people[n]
		if p == nil {
			p = w.addPerson(n)
		}
		people = append(people, p)
	}
	w.names = append(w.names, name)
	if kind == "direct" {
		w.chats[name] = w.bot.Direct(people[0])
		return
	}
	open := map[string]func(string, ...*faketelegram.HumanUser) *faketelegram.Chat{
		"elsewhere": w.telegram.NewSupergroup,
		"group":     w.telegram.NewGroup, "supergroup": w.telegram.NewSupergroup, "forum": w.telegram.NewForum,
	}[kind]
	w.chats[name] = open(name, people...)
	if kind == "elsewhere" {
		return
	}
	w.chats[name].Adds(people[0], w.bot)
}

func (w *world) addTopic(chat, name string) {
	if w.discord.has(chat) {
		w.discord.topic(chat, name)
		return
	}
	w.topics[chat+"/"+name] = w.chats[chat].NewTopic(w.someone(), name)
}

// someone is the person who has been here longest.
func (w *world) someone() *faketelegram.HumanUser {
	var first *faketelegram.HumanUser
	for _, p := range w.people {
		if first == nil || p.ID < first.ID {
			first = p
		}
	}
	return first
}

func (w *world) says(chat *faketelegram.Chat, p *faketelegram.HumanUser, text string, reply, topic int64) int64 {
	return chat.Says(p, text, faketelegram.PostOptions{ReplyTo: reply, Thread: topic})
}

func (w *world) membership(verb, chat string) {
	switch verb {
	case "kick":
		w.chats[chat].Kicks(w.someone(), w.bot)
	case "add":
		w.chats[chat].Adds(w.someone(), w.bot)
	case "migrate":
		w.chats[chat] = w.chats[chat].Migrates(w.someone())
	}
}

func (w *world) fault(args []string) {
	if args[0] == "posts" {
		w.refusesPosts()
		return
	}
	if args[0] == "status" || args[0] == "reactions" {
		w.refusesSigns(args[0] == "status")
		return
	}
	status, _ := strconv.Atoi(args[1])
	f := fake.CallFault{Do: fake.Refuse, Method: args[0], Status: status}
	if len(args) > 2 {
		f.RetryAfter, _ = strconv.Atoi(args[2])
	}
	w.telegram.Fault(f)
}

// refusesSigns has Slack refuse the status of a run, or every platform reactions, for good.
func (w *world) refusesSigns(status bool) {
	if status {
		w.slack.Fault(fake.CallFault{Do: fake.Refuse, Method: "assistant.threads.setStatus", Description: "missing_scope", Times: -1})
		return
	}
	w.telegram.Fault(fake.CallFault{Do: fake.Refuse, Method: "setMessageReaction", Status: 400, Description: "Bad Request: REACTION_INVALID", Times: -1})
	if w.slack != nil {
		w.slack.Fault(fake.CallFault{Do: fake.Refuse, Method: "reactions.add", Description: "missing_scope", Times: -1})
	}
	if w.discord != nil {
		w.discord.Fault(fake.CallFault{Do: fake.Refuse, Method: "react", Status: 403, Description: "50013 Missing Permissions", Times: -1})
	}
}

// refusesPosts has every platform refuse the next message.
func (w *world) refusesPosts() {
	w.telegram.Fault(fake.CallFault{Do: fake.Refuse, Method: "sendMessage", Status: 400, Description: "Bad Request: not enough rights to send text messages to the chat"})
	if w.slack != nil {
		w.slack.Fault(fake.CallFault{Do: fake.Refuse, Method: "chat.postMessage", Description: "restricted_action"})
	}
	if w.discord != nil {
		w.discord.Fault(fake.CallFault{Do: fake.Refuse, Method: "create message", Status: 403, Description: "50013 Missing Permissions"})
	}
}

// reactions renders the reactions that bots set and took back, in order, whatever the
// platform.
func (w *world) reactions() string {
	var out strings.Builder
	for _, c := range w.telegram.Ledger().Calls {
		switch {
		case c.Method != "setMessageReaction" || !c.Applied:
		case c.Text == "":
			out.WriteString("taken back\n")
		default:
			out.WriteString("set\n")
		}
	}
	words := map[string]string{"reactions.add": "set\n", "reactions.remove": "taken back\n", "react": "set\n", "take reaction back": "taken back\n"}
	if w.slack != nil {
		for _, c := range w.slack.Ledger().Calls {
			if c.Applied {
				out.WriteString(words[c.Method])
			}
		}
	}
	if w.discord != nil {
		for _, c := range w.discord.Ledger().Calls {
			if c.Applied {
				out.WriteString(words[c.Method])
			}
		}
	}
	return out.String()
}

// rated renders how people rated what was said, by run, the oldest first.
func (w *world) rated() string {
	var out strings.Builder
	for _, rating := range spaces.AnswerRatings() {
		runs, err := w.process.Store.Console().Runs(w.t.Context(), console.Filter{Rating: rating})
		testutil.OK(w.t, err)
		for _, y := range slices.Backward(runs) {
			run, err := w.process.Store.Console().Run(w.t.Context(), string(y.ID))
			testutil.OK(w.t, err)
			for _, f := range run.Rated {
				if f.Rating == rating {
					fmt.Fprintf(&out, "%s by %s %s\n", f.Rating, f.Name, f.Why)
				}
			}
		}
	}
	worst, err := readmodel.WorstRuns(w.t.Context(), w.process.Store.Console(), "", 10)
	testutil.OK(w.t, err)
	fmt.Fprintf(&out, "%d of the worst\n", len(worst))
	return out.String()
}

// render returns what a section of a scene holds in this world, and false for
// sections that are not its outcome.
func (w *world) render(section string) (string, bool) {
	name, arg, _ := strings.Cut(section, " ")
	switch name {
	case "log":
		return w.log(spaces.Room), true
	case "inner":
		return w.log(spaces.Inner), true
	case "sent":
		return w.sent(), true
	case "replies":
		return w.door.replies.String(), true
	case "drafts":
		return w.drafts(), true
	case "seen":
		return w.seen.String(), true
	case "health":
		return w.health.String(), true
	case "problems":
		return w.problems(), true
	case "reactions":
		return w.reactions(), true
	case "rated":
		return w.rated(), true
	case "presses":
		return w.presses() + w.slack.presses() + w.discord.presses(), true
	case "sessions":
		return w.slack.sessions(), true
	case "frame":
		reqs := w.model.Requests()
		n, err := strconv.Atoi(arg)
		if err != nil {
			n = len(reqs)
		}
		if n < 1 || n > len(reqs) {
			return "there is no such frame\n", true
		}
		return renderFrame(reqs[n-1]), true
	}
	return "", false
}

// sent renders the bots' messages of every chat, in their present form.
func (w *world) sent() string {
	var out strings.Builder
	for _, name := range w.names {
		for _, m := range w.chats[name].Sent() {
			fmt.Fprintf(&out, "%s", name)
			if m.Thread != 0 {
				fmt.Fprintf(&out, "/%d", m.Thread)
			}
			if m.ReplyTo != 0 {
				fmt.Fprintf(&out, " re %d", m.ReplyTo)
			}
			switch {
			case m.Deleted:
				out.WriteString(" [deleted]")
			default:
				fmt.Fprintf(&out, ": %q", m.Text)
			}
			if m.File != nil {
				fmt.Fprintf(&out, " [%s]", m.File.Name)
			}
			if m.Edits > 0 {
				fmt.Fprintf(&out, " (edited)")
			}
			for _, b := range m.Buttons {
				fmt.Fprintf(&out, " [%s]", b.Text)
			}
			for _, emoji := range m.Reactions[w.bot.ID()] {
				fmt.Fprintf(&out, " %s", emoji)
			}
			out.WriteString("\n")
		}
		for _, m := range faketelegram.EphemeralIn(w.chats[name]) {
			for who, p := range w.people {
				if p.ID == m.To {
					fmt.Fprintf(&out, "%s to %s alone: %q\n", name, who, m.Text)
				}
			}
		}
	}
	for _, q := range w.telegram.GuestQueries() {
		for name, c := range w.chats {
			if c.ID() == q.Chat {
				fmt.Fprintf(&out, "%s as a guest: %q\n", name, q.Answer)
			}
		}
	}
	return out.String() + w.slack.sent() + w.discord.sent()
}

// noteHealth notes what is not healthy now, and has the operator's problems looked for.
func (w *world) noteHealth() {
	w.process.newAlertMonitor().Round(w.t.Context(), time.Now())
	h := w.process.Health()
	fmt.Fprintf(&w.health, "%s: %s", w.since(time.Now()), h.Status)
	for _, x := range h.Extensions {
		if !x.Healthy {
			fmt.Fprintf(&w.health, ", %s %s: %s", x.Name, x.State, x.Reason)
		}
	}
	w.health.WriteString("\n")
}

// since returns how long after the world's beginning a time is, in whole minutes: what is
// looked at regularly is seen a little sooner or later.
func (w *world) since(at time.Time) string {
	return fmt.Sprintf("%.0fm", at.Sub(w.began).Minutes())
}

// problems renders the problems of which operators were told.
func (w *world) problems() string {
	all, err := w.process.Store.Console().Problems().Problems(w.t.Context(), w.began)
	if err != nil {
		w.t.Fatal(err)
	}
	var out strings.Builder
	for _, p := range all {
		over := "open"
		if !p.Closed.IsZero() {
			over = "over after " + w.since(p.Closed)
		}
		fmt.Fprintf(&out, "%s %s: %s (%s), from %s, %s: %s\n", p.Code, p.What(), p.Evidence, p.Severity, w.since(p.Opened), over, p.Remedy())
	}
	return out.String()
}

// presses renders how the presses of buttons were answered.
func (w *world) presses() string {
	var out strings.Builder
	for _, name := range w.names {
		for _, p := range faketelegram.PressedIn(w.chats[name]) {
			answer := "not answered"
			if p.Answered {
				answer = strconv.Quote(p.Text)
			}
			who := ""
			for _, known := range w.people {
				if known.ID == p.Who {
					who = known.Name()
				}
			}
			fmt.Fprintf(&out, "%s %s: %s: %s\n", name, who, p.Data, answer)
		}
	}
	return out.String()
}

// drafts renders what bots showed in the chats that was no message.
func (w *world) drafts() string {
	var out strings.Builder
	for _, name := range w.names {
		for _, d := range w.chats[name].Drafts() {
			fmt.Fprintf(&out, "%s: %q\n", name, d.Text)
		}
	}
	return out.String()
}

// renderFrame renders a request without its system message, which has goldens
// of its own.
func renderFrame(r llm.ModelRequest) string {
	var out strings.Builder
	for i, m := range r.Messages {
		if i == 0 {
			continue
		}
		fmt.Fprintf(&out, "== %s", m.Role)
		if m.CallID != "" {
			fmt.Fprintf(&out, " %s", m.CallID)
		}
		out.WriteString("\n")
		if m.Text != "" {
			out.WriteString(m.Text + "\n")
		}
		for _, c := range m.Calls {
			fmt.Fprintf(&out, "%s: %s %s\n", c.ID, c.Name, c.Args)
		}
	}
	return out.String()
}

// log renders the logs of all spaces of a kind, oldest space first.
func (w *world) log(kind spaces.SpaceKind) string {
	ctx := w.t.Context()
	var out strings.Builder
	chats, err := w.process.Store.Border().Chats(ctx, "", "")
	if err != nil {
		w.t.Fatal(err)
	}
	seen := map[any]bool{}
	for _, c := range chats {
		if c.Account == "local:local" || seen[c.Space] {
			continue
		}
		seen[c.Space] = true
		room, _, err := w.process.Store.Shell().Space(ctx, c.Space)
		if err != nil {
			w.t.Fatal(err)
		}
		if kind == spaces.Room {
			w.branch(&out, room.Name, c.Space, spaces.Primary)
			continue
		}
		for _, a := range w.process.Config().Agents {
			m := spaces.Mind{Agent: spaces.AgentID(a.ID), Circle: room.Circle}
			if !seen[m] {
				seen[m] = true
				w.branch(&out, m.String(), m.Inner(), m.Branch())
			}
		}
	}
	return out.String()
}

// branch renders one line of a log: what happened, without ids and times.
func (w *world) branch(out *strings.Builder, name string, space spaces.SpaceID, branch spaces.BranchID) {
	events, err := w.process.Store.Shell().Events(w.t.Context(), space, branch, 0, 1000)
	if err != nil {
		w.t.Fatal(err)
	}
	fmt.Fprintf(out, "== %s\n", name)
	for _, e := range events {
		fmt.Fprintf(out, "#%d %s", e.Seq, e.Body.Kind())
		if e.Actor != "" {
			fmt.Fprintf(out, " %s", w.who(e.Actor))
		}
		if e.Thread != "" {
			fmt.Fprintf(out, "/%s", e.Thread)
		}
		if e.Depth > 0 {
			fmt.Fprintf(out, " depth %d", e.Depth)
		}
		fmt.Fprintf(out, "%s\n", tell(e.Body))
	}
}

func (w *world) who(id spaces.EntityID) string {
	found, err := w.process.Store.Shell().Entities(w.t.Context(), []spaces.EntityID{id})
	if err != nil {
		w.t.Fatal(err)
	}
	if e, ok := found[id]; ok {
		return e.Name
	}
	return string(id)
}

// tell renders the part of a body that a scene is about.
func tell(b spaces.EventBody) string {
	switch b := b.(type) {
	case spaces.MessagePosted:
		from := ""
		if b.Origin != nil {
			from = " from elsewhere: " + b.Origin.Why
		}
		return fmt.Sprintf("%s %q", from, b.Text)
	case spaces.MessageEdited:
		return fmt.Sprintf(" %q", b.Text)
	case spaces.VoiceTranscribed:
		return fmt.Sprintf(" %q", b.Text)
	case spaces.ReactionAdded:
		return " " + b.Emoji
	case spaces.SpaceRenamed:
		return " " + b.Title
	case spaces.SendFailed:
		return fmt.Sprintf(" %s %s: %s", b.State, b.Code, b.Reason)
	case spaces.ChatLinked:
		return " " + b.Chat
	case spaces.ChatUnlinked:
		return " " + b.Chat + " " + b.Reason
	case spaces.ChatMigrated:
		return " " + b.From + " to " + b.To
	case spaces.NoteAdded:
		return fmt.Sprintf(" %s %q", b.Label, b.Text)
	case spaces.BookmarkSet:
		return fmt.Sprintf(" %q over %d events", b.Label, len(b.Events))
	case spaces.CycleStarted:
		return fmt.Sprintf(" %s by %d events", b.Reason, len(b.Events))
	case spaces.ThoughtRecorded:
		return fmt.Sprintf(" %q", b.Text)
	case spaces.ToolCalled:
		return " " + b.Name + " " + b.Args
	case spaces.ToolReturned:
		if b.OK {
			return strings.TrimSuffix(" ok: "+b.Note, ": ")
		}
		return " refused: " + b.Note
	case spaces.CycleSummarised:
		return fmt.Sprintf(" %d %q", b.N, b.Text)
	case spaces.GoalSet:
		return fmt.Sprintf(" %s %q", b.Status, b.Text)
	case spaces.MemoryAdded:
		return fmt.Sprintf(" %s %q", b.What, b.Fact)
	case spaces.CallDenied:
		return fmt.Sprintf(" %s %s (%s, %s): %s", b.Denial.Act, b.Denial.Code, b.Denial.Tier, b.Denial.Risk, b.Denial.Reason)
	case spaces.StatesChanged:
		var moves []string
		for _, m := range b.Moves {
			moves = append(moves, string(m.From)+" → "+string(m.To))
		}
		return " " + strings.Join(moves, ", ")
	case spaces.ContextCompacted:
		return fmt.Sprintf(" %s, %d cycles", b.Cause, b.Cycles)
	case spaces.CycleStopped:
		return strings.TrimRight(fmt.Sprintf(" %s %s", b.Reason, b.Detail), " ")
	case spaces.SpanChanged:
		return fmt.Sprintf(" %s %s at #%d", b.What, b.Reason, b.Seq)
	case spaces.HistoryGap, spaces.UnreadableUpdate, spaces.MessageDeleted, spaces.ReactionRemoved, spaces.MemberJoined, spaces.MemberLeft, spaces.MessagePinned,
		spaces.MessageUnpinned, spaces.ActionDelivered, spaces.MemoryRemoved:
		return ""
	}
	return " ?"
}

// pairs lets in the person who waits, with a role, or a whole chat, as `trestle
// pair` does.
func (w *world) pairs(who string, role []string) {
	w.t.Helper()
	q := console.PairRequest{Role: strings.Join(role, "")}
	if p := w.people[who]; p != nil {
		q.Code = w.codeOf(strconv.FormatInt(p.ID, 10))
	} else {
		q.Chat = who
	}
	if _, err := w.process.pair(w.t.Context(), q); err != nil {
		w.t.Fatalf("pair %s: %v", who, err)
	}
}

// codeOf returns the code that was shown to a user; empty when there is none.
func (w *world) codeOf(user string) (code string) {
	w.t.Helper()
	desk, err := w.process.border.Load(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, waits := range desk.Pending {
		if waits.User == user {
			code = waits.Code
		}
	}
	return code
}

// scriptedModel is the endpoint of a world; a configuration that begins with its own
// keeps that.
func scriptedModel(config string) string {
	if strings.HasPrefix(config, "model:") || strings.Contains(config, "\nmodel:") {
		return ""
	}
	return "model: {base_url: \"http://model.test/v1\", name: scripted}\n"
}

// twoPhases is the setting of a script whose agents think in a call of its own; a
// configuration that has a word on it keeps that.
func twoPhases(config string) string {
	if strings.HasPrefix(config, "phases:") || strings.Contains(config, "\nphases:") {
		return ""
	}
	return "phases: two\n"
}
