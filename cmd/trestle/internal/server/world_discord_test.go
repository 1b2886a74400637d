package server

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	fakediscord "github.com/trestle-bridge/trestle/adapters/fake/discord"
	"github.com/trestle-bridge/trestle/adapters/fake/faketest"
)

// A discordSide is the Discord of a world whose configuration names it in a comment
// on its first line: a server with the bot ada. Its lines in a scene:
//
//	chat NAME discord PERSON…              topic CHAT NAME      (a thread)
//	PERSON@CHAT =label re other: text      PERSON@CHAT/TOPIC: text
//	edit PERSON@CHAT label: text           delete PERSON@CHAT label
//	react PERSON@CHAT label: 👍            file PERSON@CHAT: name.csv
//	slash PERSON@CHAT: stop now            joins PERSON@CHAT    leaves PERSON@CHAT
//	press PERSON@CHAT label: Once          (a button, by its label or its value)
//	lose resumed|forgotten                 (the connection, and perhaps the session)
//
// The label "last" is what the bot said last in the chat, "first" what it said first, and CHAT/first the thread
// on what it said first, CHAT/last and CHAT/label likewise.
//
// A nil one is no Discord; its methods may be called.
type discordSide struct {
	*fakediscord.Server
	w      *world
	bot    *fakediscord.BotUser
	guild  *fakediscord.Guild
	rooms  map[string]*fakediscord.GuildChannel // threads under CHAT/TOPIC
	names  []string                             // of rooms, in order
	people map[string]*fakediscord.HumanUser
	labels map[string]fakediscord.SnowflakeID
}

const discordToken = "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.the-token-of-a-world-of-scenes"

func newDiscordSide(w *world) *discordSide {
	w.t.Helper()
	s := &discordSide{
		Server: fakediscord.New(fakediscord.Options{}), w: w,
		rooms: map[string]*fakediscord.GuildChannel{}, people: map[string]*fakediscord.HumanUser{}, labels: map[string]fakediscord.SnowflakeID{},
	}
	s.bot = s.AddBot(fakediscord.BotProfile{Token: discordToken, Name: "ada"})
	s.guild = s.NewGuild("Family", s.person("Maya"))
	s.guild.Adds(s.bot, fakediscord.ManageWebhooks)
	faketest.Serve(w.t, w.network, "discord.test", s.Serve)
	return s
}

// config is the account's line in trestle.yaml.
func (s *discordSide) config() string {
	if s == nil {
		return ""
	}
	return "  guild: {type: discord, token: " + discordToken + ", api_url: \"http://discord.test\"}\n"
}

// idle reports whether nothing is on its way, in either direction.
func (s *discordSide) idle() bool {
	if s == nil {
		return true
	}
	now := time.Now()
	due, waits, err := s.w.process.Store.Border().Next(s.w.t.Context(), "discord:"+s.bot.ID.String())
	if err != nil {
		s.w.t.Fatal(err)
	}
	return s.bot.Connected() && (!waits || due.After(now.Add(2*time.Second)))
}

func (s *discordSide) has(room string) bool { return s != nil && s.rooms[room] != nil }

func (s *discordSide) person(name string) *fakediscord.HumanUser {
	if s.people[name] == nil {
		s.people[name] = s.AddPerson(fakediscord.UserProfile{Name: name})
	}
	return s.people[name]
}

// open makes a channel in which these people are.
func (s *discordSide) open(name string, who []string) {
	for _, n := range who {
		s.guild.Joins(s.person(n))
	}
	s.names = append(s.names, name)
	s.rooms[name] = s.guild.NewChannel(name, fakediscord.TextChannel)
}

// topic opens a thread of a channel.
func (s *discordSide) topic(room, name string) {
	s.names = append(s.names, room+"/"+name)
	s.rooms[room+"/"+name] = s.rooms[room].NewThread(s.person("Maya"), name)
}

// lose ends the connection, and with "forgotten" its session.
func (s *discordSide) lose(how string) {
	if how == "forgotten" {
		s.bot.Forget()
	}
	s.bot.Close(0)
}

// message returns what a label, or the number of a message, means.
func (s *discordSide) message(name string) fakediscord.SnowflakeID {
	if id, ok := s.labels[name]; ok {
		return id
	}
	id, _ := strconv.ParseUint(name, 10, 64) // what is neither means no message
	return fakediscord.SnowflakeID(id)
}

// acts does what a line of a scene says.
func (s *discordSide) acts(t *testing.T, m []string) {
	t.Helper()
	verb, who, where, thread, text := m[1], m[2], m[3], m[4], strings.ReplaceAll(m[8], `\n`, "\n")
	label, reply, about := strings.TrimPrefix(m[5], " ="), s.message(strings.TrimPrefix(m[6], " re ")), s.message(strings.TrimSpace(m[7]))
	person := s.person(who)
	room := s.channel(t, person, where, thread)
	if sent := room.Sent(s.bot); len(sent) > 0 {
		last := sent[len(sent)-1].ID
		if m[6] == " re last" {
			reply = last
		}
		switch m[7] {
		case " first":
			about = sent[0].ID
		case " last":
			about = last
		}
	}
	switch verb {
	case "edit":
		room.Edits(about, text)
	case "delete":
		room.Deletes(about)
	case "press":
		room.Presses(person, s.bot, about, text)
	case "react":
		room.Reacts(person, about, text)
	case "file":
		room.Says(person, "", fakediscord.PostOptions{Files: []fakediscord.SharedFile{{Name: text, MIME: "text/csv", Data: []byte("a,b")}}})
	case "slash":
		command, args, _ := strings.Cut(text, " ")
		room.Invokes(person, s.bot, command, args)
	case "joins":
		s.guild.Joins(person)
	case "leaves":
		s.guild.Leaves(person)
	case "rename":
		room.Renames(text)
	case "":
		id := room.Says(person, strings.ReplaceAll(text, "@BOT", "<@"+s.bot.ID.String()+">"), fakediscord.PostOptions{ReplyTo: reply})
		if label != "" {
			s.labels[label] = id
		}
	default:
		t.Fatalf("people on Discord do not %s", verb)
	}
}

// channel returns a channel, or a thread of it: by name, or by what it hangs on.
func (s *discordSide) channel(t *testing.T, who *fakediscord.HumanUser, where, thread string) *fakediscord.GuildChannel {
	t.Helper()
	room := s.rooms[where]
	if thread == "" || room == nil {
		if room == nil {
			t.Fatalf("no chat %q", where)
		}
		return room
	}
	if named := s.rooms[where+"/"+thread]; named != nil {
		return named
	}
	on := s.message(thread)
	sent := room.Sent(s.bot)
	switch thread {
	case "first":
		on = sent[0].ID
	case "last":
		on = sent[len(sent)-1].ID
	}
	return room.ThreadOn(who, on, thread)
}

// sent renders what the bot said.
func (s *discordSide) sent() string {
	if s == nil {
		return ""
	}
	var out strings.Builder
	rooms, names := maps.Clone(s.rooms), slices.Clone(s.names)
	for _, name := range s.names {
		threads := s.rooms[name].Threads()
		for _, title := range slices.Sorted(maps.Keys(threads)) {
			if s.rooms[name+"/"+title] == nil {
				rooms[name+"/"+title], names = threads[title], append(names, name+"/"+title)
			}
		}
	}
	for _, name := range names {
		for _, m := range rooms[name].Sent(s.bot) {
			out.WriteString(name)
			if m.Webhook != 0 {
				out.WriteString(" as " + m.Name)
			}
			if m.ReplyTo != 0 {
				out.WriteString(" re " + m.ReplyTo.String())
			}
			switch {
			case m.Deleted:
				out.WriteString(" [deleted]")
			default:
				fmt.Fprintf(&out, ": %q", m.Content)
			}
			if len(m.Files) > 0 {
				fmt.Fprintf(&out, " %s", m.Files)
			}
			if m.Edited {
				out.WriteString(" (edited)")
			}
			for _, label := range m.Buttons {
				out.WriteString(" [" + label + "]")
			}
			for _, emoji := range m.Reactions {
				out.WriteString(" " + emoji)
			}
			out.WriteString("\n")
		}
	}
	return s.named(out.String())
}

// presses renders the presses of buttons, and what people were told alone.
func (s *discordSide) presses() string {
	if s == nil {
		return ""
	}
	var out strings.Builder
	for _, name := range s.names {
		for _, p := range s.rooms[name].PressedButtons() {
			who := ""
			for known, person := range s.people {
				if person.ID == p.Who {
					who = known
				}
			}
			state := "acknowledged"
			if p.Reply == 0 {
				state = "given up"
			}
			fmt.Fprintf(&out, "%s %s: %s: %s%s\n", name, who, p.CustomID, state, strings.Join(append([]string{""}, p.Told...), "; told alone: "))
		}
	}
	return out.String()
}

// named writes the scene's own names for messages in place of Discord's, where
// they stand behind the word that says what they are.
func (s *discordSide) named(text string) string {
	if s == nil {
		return text
	}
	for _, label := range slices.Sorted(maps.Keys(s.labels)) {
		text = strings.ReplaceAll(text, " re "+s.labels[label].String()+":", " re "+label+":")
	}
	return text
}
