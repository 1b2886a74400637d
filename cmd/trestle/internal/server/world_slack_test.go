package server

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/adapters/fake/faketest"
	fakeslack "github.com/trestle-bridge/trestle/adapters/fake/slack"
)

// A slackSide is the Slack of a world whose configuration names it in a comment on
// its first line: a workspace with the app acme. Its lines in a scene:
//
//	chat NAME slack PERSON…
//	PERSON@CHAT =label: text     PERSON@CHAT/label: text     (in the thread of that message)
//	edit PERSON@CHAT label: text           delete PERSON@CHAT label
//	react PERSON@CHAT label: name          file PERSON@CHAT: name.csv
//	press PERSON@CHAT label: Once          (a button, by its label or its value)
//	stops PERSON@CHAT: label               (by Slack's Stop in the thread of that message)
//	slash PERSON@CHAT: stop                (the slash command /trestle)
//	redeliver                              (Slack delivers the last events again)
//	opens PERSON@CHAT                      (the direct chat with an agent; the thread is "chat")
//	looks PERSON@CHAT: OTHER               (at another channel, beside the direct chat)
//
// With "slack agent" in the comment the app is declared an agent, with "assistant view" one
// of the older form.
//
// The label "last" is what the app said last in the channel, and "first" what it said
// first.
//
// A nil one is no Slack; its methods may be called.
type slackSide struct {
	*fakeslack.Server
	w      *world
	app    *fakeslack.WorkspaceApp
	rooms  map[string]*fakeslack.WorkspaceChannel
	names  []string // of rooms, in order
	people map[string]*fakeslack.HumanUser
	labels map[string]string // ts by label
}

// slackSecret is what Slack signs with when it calls.
const slackSecret = "0123456789abcdef0123456789abcdef"

func newSlackSide(w *world, agent, assistant bool) *slackSide {
	w.t.Helper()
	s := &slackSide{
		Server: fakeslack.New(fakeslack.Options{Client: w.door.client()}), w: w,
		rooms: map[string]*fakeslack.WorkspaceChannel{}, people: map[string]*fakeslack.HumanUser{}, labels: map[string]string{},
	}
	app := fakeslack.AppProfile{Name: "Acme", BotToken: "xoxb-world", AppToken: "xapp-world", Agent: agent, AssistantView: assistant}
	if s.called() {
		app.SigningSecret, app.EventsURL = slackSecret, "https://bots.example/slack/events"
	}
	s.app = s.AddApp(app)
	faketest.Serve(w.t, w.network, "slack.test", s.Serve)
	return s
}

// called reports whether Slack calls us, in place of sockets.
func (s *slackSide) called() bool { return s.w.door != nil && s.w.door.slack }

// config is the account's line in trestle.yaml.
func (s *slackSide) config() string {
	if s == nil {
		return ""
	}
	way := "app_token: xapp-world"
	if s.called() {
		way = "signing_secret: " + slackSecret
	}
	return "  acme: {type: slack, bot_token: xoxb-world, " + way + ", api_url: \"http://slack.test\"}\n"
}

// idle reports whether nothing is on its way, in either direction.
func (s *slackSide) idle() bool {
	if s == nil {
		return true
	}
	now := time.Now()
	due, waits, err := s.w.process.Store.Border().Next(s.w.t.Context(), "slack:"+s.Team()+"-"+s.app.User())
	if err != nil {
		s.w.t.Fatal(err)
	}
	return (s.called() || s.app.Sockets() == 2) && s.app.Pending() == 0 && (!waits || due.After(now.Add(2*time.Second)))
}

func (s *slackSide) has(room string) bool { return s != nil && s.rooms[room] != nil }

// open opens a channel and invites the app, or the direct chat of a person.
func (s *slackSide) open(name string, direct bool, who []string) {
	var people []*fakeslack.HumanUser
	for _, n := range who {
		if s.people[n] == nil {
			s.people[n] = s.AddPerson(fakeslack.UserProfile{Name: n})
		}
		people = append(people, s.people[n])
	}
	s.names = append(s.names, name)
	if direct {
		s.rooms[name] = s.app.Direct(people[0])
		return
	}
	s.rooms[name] = s.NewChannel(name, people...)
	s.rooms[name].Invites(people[0], s.app)
}

// person does what a line of a scene says.
func (s *slackSide) person(t *testing.T, m []string) {
	t.Helper()
	verb, who, where, thread, text := m[1], m[2], m[3], m[4], strings.ReplaceAll(m[8], `\n`, "\n")
	label, about := strings.TrimPrefix(m[5], " ="), s.labels[strings.TrimSpace(m[7])]
	room, person := s.rooms[where], s.people[who]
	if sent := room.Sent(); len(sent) > 0 {
		s.labels["last"] = sent[len(sent)-1].TS
		defer delete(s.labels, "last")
		switch m[7] {
		case " first":
			about = sent[0].TS
		case " last":
			about = s.labels["last"]
		}
	}
	if person == nil {
		person = s.AddPerson(fakeslack.UserProfile{Name: who})
		s.people[who] = person
	}
	switch verb {
	case "edit":
		room.Edits(about, text)
	case "delete":
		room.Deletes(about)
	case "press":
		if !room.Presses(person, about, text) {
			room.PressesStale(person, about, text)
		}
	case "stops": // by Slack's own Stop, in the thread of a message
		if !s.app.Stops(person, room.ID, s.labels[text]) {
			t.Fatalf("Slack shows no Stop in the thread of %s", text)
		}
	case "opens":
		if ts := s.app.Opens(person); ts != "" { // none begins in the agent view
			s.labels["chat"] = ts
		}
	case "looks":
		s.app.LooksAt(person, s.rooms[text], s.labels["chat"])
	case "react":
		room.Reacts(person, about, text)
	case "file":
		room.Says(person, "", fakeslack.PostOptions{File: &fakeslack.SharedFile{Name: text, MIME: "text/csv", Data: []byte("a,b")}})
	case "slash":
		room.Commands(person, s.app, "/trestle", text)
	case "joins":
		room.Joins(person)
	case "leaves":
		room.Leaves(person)
	case "rename":
		room.Renames(person, text)
	case "":
		ts := room.Says(person, text, fakeslack.PostOptions{Thread: s.labels[thread]})
		if label != "" {
			s.labels[label] = ts
		}
	default:
		t.Fatalf("people on Slack do not %s", verb)
	}
}

// sent renders what the app said.
func (s *slackSide) sent() string {
	if s == nil {
		return ""
	}
	var out strings.Builder
	for _, name := range s.names {
		all := s.rooms[name].Sent()
		for _, m := range all {
			out.WriteString(name)
			if m.Thread != "" {
				out.WriteString("/" + among(all, m.Thread))
			}
			if m.Broadcast {
				out.WriteString(" and in the channel")
			}
			if m.Username != "" {
				out.WriteString(" as " + m.Username)
			}
			switch {
			case m.Deleted:
				out.WriteString(" [deleted]")
			default:
				fmt.Fprintf(&out, ": %q", strings.TrimSuffix(m.Text, "\n")) // the row of buttons begins a line
			}
			if len(m.Files) > 0 {
				fmt.Fprintf(&out, " %s", m.Files)
			}
			if m.Edits > 0 {
				out.WriteString(" (edited)")
			}
			for _, b := range m.Buttons {
				fmt.Fprintf(&out, " [%s]", b.Label)
			}
			out.WriteString("\n")
		}
		calls := s.Ledger().Calls
		for i, c := range calls {
			back := slices.ContainsFunc(calls[i:], func(o fakeslack.APICall) bool {
				return o.Method == "reactions.remove" && o.Channel == c.Channel && o.Target == c.Target && o.Text == c.Text
			})
			if c.Method == "reactions.add" && c.Error == "" && c.Channel == s.rooms[name].ID && !back {
				fmt.Fprintf(&out, "%s reacted to %s\n", name, among(all, c.Target))
			}
		}
	}
	return out.String()
}

// presses renders the presses of buttons, and what people were told alone.
func (s *slackSide) presses() string {
	if s == nil {
		return ""
	}
	var out strings.Builder
	for _, name := range s.names {
		for _, p := range s.rooms[name].PressedButtons() {
			state := "acknowledged"
			if !p.Acked {
				state = "given up"
			}
			fmt.Fprintf(&out, "%s %s: %s: %s\n", name, s.who(p.Who), p.Value, state)
		}
		for _, m := range s.rooms[name].Whispers() {
			fmt.Fprintf(&out, "%s to %s alone: %q\n", name, s.who(m.To), m.Text)
		}
	}
	return out.String()
}

// sessions renders what Slack was told of the app's sessions, in order. What is only said
// again, as often as a status needs it, is rendered once.
func (s *slackSide) sessions() string {
	if s == nil {
		return ""
	}
	var lines []string
	for _, c := range s.Ledger().Calls {
		if strings.HasPrefix(c.Method, "agents.") || strings.HasPrefix(c.Method, "assistant.") {
			room := ""
			for name, r := range s.rooms {
				if r.ID == c.Channel {
					room = name
				}
			}
			shown := s.app.Title(c.Channel, c.Thread)
			for _, p := range s.people {
				if strings.HasSuffix(c.Method, ".setSuggestedPrompts") && s.app.Direct(p).ID == c.Channel {
					set := s.app.Suggested(p, c.Thread)
					shown = fmt.Sprintf("%q %q", set.Title, set.Prompts)
				}
			}
			lines = append(lines, fmt.Sprintf("%s: %s/%s %q %s\n", c.Method, room, c.Thread, c.Text, cmp.Or(c.Error, shown)))
		}
	}
	return strings.Join(slices.Compact(lines), "")
}

// who returns the name of a person.
func (s *slackSide) who(id string) string {
	for name, p := range s.people {
		if p.ID == id {
			return name
		}
	}
	return id
}

// among names a message by its place among those that the app sent: of two that are
// sent at the same moment either may be the first.
func among(all []fakeslack.SentMessage, ts string) string {
	i := slices.IndexFunc(all, func(m fakeslack.SentMessage) bool { return m.TS == ts })
	if i < 0 {
		return ts
	}
	return fmt.Sprintf("sent %d", i+1)
}

// named writes the scene's own names for messages in place of Slack's.
func (s *slackSide) named(text string) string {
	if s == nil {
		return text
	}
	for _, label := range slices.Sorted(maps.Keys(s.labels)) {
		text = strings.ReplaceAll(text, s.labels[label], label)
	}
	return text
}
