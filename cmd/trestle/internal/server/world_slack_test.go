package server

import (
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
//
// The label "last" is what the app said last in the channel.
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

func newSlackSide(w *world) *slackSide {
	w.t.Helper()
	s := &slackSide{
		Server: fakeslack.New(fakeslack.Options{Client: w.door.client()}), w: w,
		rooms: map[string]*fakeslack.WorkspaceChannel{}, people: map[string]*fakeslack.HumanUser{}, labels: map[string]string{},
	}
	app := fakeslack.AppProfile{Name: "Acme", BotToken: "xoxb-world", AppToken: "xapp-world"}
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

// open opens a channel and invites the app.
func (s *slackSide) open(name string, who []string) {
	var people []*fakeslack.HumanUser
	for _, n := range who {
		if s.people[n] == nil {
			s.people[n] = s.AddPerson(fakeslack.UserProfile{Name: n})
		}
		people = append(people, s.people[n])
	}
	s.names = append(s.names, name)
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
		if m[7] == " last" {
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
	case "react":
		room.Reacts(person, about, text)
	case "file":
		room.Says(person, "", fakeslack.PostOptions{File: &fakeslack.SharedFile{Name: text, MIME: "text/csv", Data: []byte("a,b")}})
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
				fmt.Fprintf(&out, ": %q", m.Text)
			}
			if len(m.Files) > 0 {
				fmt.Fprintf(&out, " %s", m.Files)
			}
			if m.Edits > 0 {
				out.WriteString(" (edited)")
			}
			out.WriteString("\n")
		}
		for _, c := range s.Ledger().Calls {
			if c.Method == "reactions.add" && c.Error == "" && c.Channel == s.rooms[name].ID {
				fmt.Fprintf(&out, "%s reacted to %s\n", name, among(all, c.Target))
			}
		}
	}
	return out.String()
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
