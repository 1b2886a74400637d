package activity

import (
	"math"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

func here() translateContext {
	return translateContext{
		account: ours, place: spaces.ChatPlacement{Space: "hub", Object: spaces.ChatObject}, agent: "ada",
		source: "telegram:99|k", at: noon.Add(time.Second),
	}
}

func TestUpdatesBecomeFacts(t *testing.T) {
	// SEQ-06, SEQ-08
	ref := spaces.MessageRef{Account: ours.Key(), Chat: hub.ID, Message: "5"}
	zoe := adapters.Person{ID: "8", Kind: adapters.Human, Name: "Zoe"}
	us := adapters.Person{ID: ours.ID}
	tests := []struct {
		name string
		body adapters.UpdateBody
		want []spaces.EventBody
		who  []string
		from string
	}{
		{
			"message",
			adapters.IncomingMessage{ID: "5", Text: "hi", ReplyTo: "4", Forwarded: "Zoe", Broadcast: true, Attachments: []adapters.IncomingFile{{Kind: "photo", ID: "f", Size: -1}}},
			[]spaces.EventBody{spaces.MessagePosted{Text: "hi", Ref: ref, ReplyRef: spaces.MessageRef{Account: ours.Key(), Chat: hub.ID, Message: "4"}, Forwarded: "Zoe", Broadcast: true, Attachments: []spaces.FileAttachment{{Kind: "photo", ID: "f"}}}},
			nil, "7",
		},
		{
			"command",
			adapters.IncomingMessage{ID: "5", Text: "/stop now", ToUs: true, Command: &adapters.ChatCommand{Name: "stop", Args: "now"}},
			[]spaces.EventBody{spaces.MessagePosted{Text: "/stop now", Ref: ref, ToUs: true, Command: "stop", Args: "now"}},
			nil, "7",
		},
		{"edit", adapters.MessageEdit{New: adapters.IncomingMessage{ID: "5", Text: "ho"}}, []spaces.EventBody{spaces.MessageEdited{Ref: ref, Text: "ho", Attachments: []spaces.FileAttachment{}}}, nil, "7"},
		{"delete", adapters.MessageDeletion{Messages: []string{"5", "", "5"}}, []spaces.EventBody{spaces.MessageDeleted{Ref: ref}, spaces.MessageDeleted{Ref: ref}}, nil, "7"},
		{
			"reaction",
			adapters.ReactionChange{Message: "5", Old: []string{"👍", "🔥"}, New: []string{"🔥", "❤", "❤"}},
			[]spaces.EventBody{spaces.ReactionRemoved{Ref: ref, Emoji: "👍"}, spaces.ReactionAdded{Ref: ref, Emoji: "❤"}},
			nil, "7",
		},
		{"reaction that changes nothing", adapters.ReactionChange{Message: "5", Old: []string{"👍"}, New: []string{"👍"}}, nil, nil, "7"},
		{"cleared", adapters.ReactionsCleared{Message: "5", Emoji: "👍"}, []spaces.EventBody{spaces.ReactionRemoved{Ref: ref, Emoji: "👍", Everybody: true}}, nil, "7"},
		{"joined", adapters.PeopleJoined{People: []adapters.Person{us, zoe, zoe}}, []spaces.EventBody{spaces.MemberJoined{}}, []string{"8"}, "7"},
		{"only we joined", adapters.PeopleJoined{People: []adapters.Person{us}}, nil, nil, "7"},
		{"removed by", adapters.PeopleLeft{People: []adapters.Person{zoe}, By: adapters.Person{ID: "9"}}, []spaces.EventBody{spaces.MemberLeft{}}, []string{"8"}, "9"},
		{"renamed", adapters.ChatRenamed{Title: "New"}, []spaces.EventBody{spaces.SpaceRenamed{Title: "New"}}, nil, "7"},
		{"pinned", adapters.MessagePinned{Message: "5"}, []spaces.EventBody{spaces.MessagePinned{Ref: ref}}, nil, "7"},
		{"unpinned", adapters.MessageUnpinned{Message: "5"}, []spaces.EventBody{spaces.MessageUnpinned{Ref: ref}}, nil, "7"},
		{"gap", adapters.UpdateGap{From: noon, To: noon.Add(time.Hour), Reason: "down"}, []spaces.EventBody{spaces.HistoryGap{From: noon, To: noon.Add(time.Hour), Reason: "down"}}, nil, "7"},
		{"unreadable", adapters.UnreadableUpdate{Kind: "story", Reason: "unknown"}, []spaces.EventBody{spaces.UnreadableUpdate{What: "story", Reason: "unknown", Raw: []byte("raw")}}, nil, "7"},
		{"migrated", adapters.ChatMigrated{To: "x"}, nil, nil, "7"},
		{"linked", adapters.ChatGained{}, nil, nil, "7"},
		{"unlinked", adapters.ChatLost{}, nil, nil, "7"},
		{"edit without id", adapters.MessageEdit{}, []spaces.EventBody{spaces.UnreadableUpdate{Reason: "it is about a message and does not say which", Raw: []byte("raw")}}, nil, "7"},
		{"nothing", nil, []spaces.EventBody{spaces.UnreadableUpdate{Reason: "the update has no body", Raw: []byte("raw")}}, nil, "7"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u := adapters.Update{ID: "1", Key: "k", Chat: hub, Thread: adapters.Thread{ID: "3"}, From: kai, At: noon, Body: tt.body, Raw: []byte("raw")}
			items := translate(u, here())
			var got []spaces.EventBody
			sources := map[string]bool{}
			for _, i := range items {
				got = append(got, i.Event.Body)
				sources[i.Event.Source] = true
				if i.Event.Space != "hub" || i.Event.Thread != "3" || i.Event.Branch != spaces.Primary || i.Event.At != noon || i.From.User != tt.from {
					t.Errorf("got %+v from %+v", i.Event, i.From)
				}
				for n, w := range i.Who {
					if w.User != tt.who[n] {
						t.Errorf("it is about %s, want %s", w.User, tt.who[n])
					}
				}
			}
			testutil.Same(t, "what came", tt.want, got)
			if len(sources) != len(items) {
				t.Errorf("%d facts share %d sources", len(items), len(sources))
			}
		})
	}
}

func TestMessagesTellTheTitleOfTheirThread(t *testing.T) {
	u := adapters.Update{ID: "1", Key: "k", Chat: hub, Thread: adapters.Thread{ID: "3", Title: "Roof"}, From: kai, At: noon, Body: adapters.IncomingMessage{ID: "5", Text: "hi"}}
	said, _ := translate(u, here())[0].Event.Body.(spaces.MessagePosted)
	if said.ThreadTitle != "Roof" {
		t.Errorf("the thread is called %q, want Roof", said.ThreadTitle)
	}
}

// Another app of ours in a Slack channel is known by its team and its user.
func TestAnotherAppOfOursIsOneOfUs(t *testing.T) {
	other := adapters.BotAccount{Platform: "slack", ID: "T1-UBOT"}
	for want, people := range map[bool][]adapters.Person{
		true:  {{ID: "UBOT", Scope: "T1"}, {ID: "T1-UBOT"}, {ID: "T1-UBOT", Scope: "T1"}},
		false: {{ID: "UBOT", Scope: "T2"}, {ID: "UBOT"}, {ID: "U2", Scope: "T1"}, {}},
	} {
		for _, p := range people {
			if isUs(other, p) != want {
				t.Errorf("%+v is us: %v, want %v", p, !want, want)
			}
		}
	}
}

// FuzzTranslate checks that whatever an adapter hands in becomes facts that can
// be stored and read back, of bounded size, each with a source of its own.
func FuzzTranslate(f *testing.F) {
	for kind := range 16 {
		f.Add(uint8(kind), "5", "hello", "👍", []byte(`{"a":1}`), int64(1_700_000_000))
		f.Add(uint8(kind), "", "\xff\x00", "", []byte(nil), int64(math.MaxInt64))
	}
	f.Fuzz(func(t *testing.T, kind uint8, id, text, emoji string, raw []byte, sec int64) {
		at := time.Unix(sec, 0)
		person := adapters.Person{ID: id, Name: text, Handle: emoji, Kind: adapters.PersonKind(emoji)}
		message := adapters.IncomingMessage{
			ID: id, Text: text, ReplyTo: emoji, Mentions: []adapters.Person{person, {ID: ours.ID}}, Forwarded: text,
			Command: &adapters.ChatCommand{Name: emoji, Args: text}, Attachments: []adapters.IncomingFile{{Kind: emoji, Name: text, Size: sec}},
		}
		bodies := []adapters.UpdateBody{
			nil, message,
			adapters.MessageEdit{New: message},
			adapters.MessageDeletion{Messages: []string{id, text, ""}},
			adapters.ReactionChange{Message: id, Old: []string{emoji, text}, New: []string{text, id, ""}},
			adapters.PeopleJoined{People: []adapters.Person{person, {}}},
			adapters.PeopleLeft{People: []adapters.Person{person}, By: person},
			adapters.ChatRenamed{Title: text},
			adapters.MessagePinned{Message: id},
			adapters.MessageUnpinned{Message: id},
			adapters.ChatMigrated{To: id},
			adapters.ChatGained{},
			adapters.ChatLost{Reason: text},
			adapters.UpdateGap{From: at, To: at.Add(time.Hour), Reason: text},
			adapters.UnreadableUpdate{Kind: emoji, Reason: text},
		}
		u := adapters.Update{
			ID: id, Key: text, Chat: adapters.Chat{ID: emoji, Title: text}, Thread: adapters.Thread{ID: id}, From: person, At: at,
			Body: bodies[int(kind)%len(bodies)], Raw: raw,
		}
		sources := map[string]bool{}
		for _, item := range translate(u, here()) {
			checkFact(t, item)
			sources[item.Event.Source] = true
		}
		if n := len(translate(u, here())); n != len(sources) {
			t.Errorf("%d facts share %d sources", n, len(sources))
		}
	})
}

func checkFact(t *testing.T, item spaces.IngestItem) {
	t.Helper()
	if y := item.Event.At.Year(); y < 1970 || y > 9999 {
		t.Errorf("it happened in the year %d", y)
	}
	stored, err := spaces.Encode(item.Event.Body)
	if err != nil {
		t.Fatalf("%T cannot be stored: %v", item.Event.Body, err)
	}
	if _, err := spaces.Decode(item.Event.Body.Kind(), stored); err != nil {
		t.Errorf("%s cannot be read back: %v", stored, err)
	}
	if said, ok := item.Event.Body.(spaces.MessagePosted); ok && (len(said.Text) > spaces.MaxTextBytes+100 || !utf8.ValidString(said.Text)) {
		t.Errorf("the text has %d bytes, valid %t", len(said.Text), utf8.ValidString(said.Text))
	}
	if !utf8.ValidString(item.From.Name) || len(item.From.Name) > spaces.MaxNameBytes+100 {
		t.Errorf("the name is %q", item.From.Name)
	}
}
