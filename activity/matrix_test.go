package activity

import (
	"slices"
	"testing"

	"github.com/trestle-bridge/trestle/activity/access"
	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/spaces"
)

// A platformStage is a platform as the matrix of SECURITY S1 sees it: what its accounts,
// its rooms and its people look like.
type platformStage struct {
	name  string
	scope string            // of people's ids
	room  adapters.ChatKind // of a room of several people
	guest string            // scope of a person from elsewhere
}

var platformStages = []platformStage{
	{name: "telegram", room: adapters.Group},
	{name: "slack", scope: "T0001", room: adapters.Channel, guest: "T0999"},
	{name: "discord", room: adapters.Channel},
}

func (s platformStage) account() adapters.BotAccount {
	return adapters.BotAccount{Platform: s.name, ID: "99", Name: "Ada", Handle: "ada_bot"}
}

func (s platformStage) person(id, name string, kind adapters.PersonKind) adapters.Person {
	return adapters.Person{ID: id, Scope: s.scope, Kind: kind, Name: name}
}

func (s platformStage) owner() adapters.Person { return s.person("1", "Olivia", adapters.Human) }

func (s platformStage) direct(who adapters.Person) adapters.Update {
	return says(adapters.Chat{ID: "d" + who.ID + who.Scope, Kind: adapters.Direct, Title: who.Name}, who, "10", secret)
}

func (s platformStage) group(who adapters.Person) adapters.Update {
	return says(adapters.Chat{ID: "900", Kind: s.room, Title: "A room nobody named"}, who, "10", secret)
}

// A senderKind is one of the twelve kinds of sender of SECURITY S1. Each is a sender
// other than the owner in the owner's own chat. open says whether a mode that admits
// everyone admits it, and named whether a chat of the configuration does: bots only
// when they are listed, and a message without a sender never.
type senderKind struct {
	name        string
	update      func(s platformStage) adapters.Update
	open, named bool
}

var senderKinds = []senderKind{
	{"renamed to the owner's name", func(s platformStage) adapters.Update {
		who := s.person("11", "Olivia", adapters.Human)
		who.Handle = "olivia"
		return s.direct(who)
	}, true, true},
	{"bot", func(s platformStage) adapters.Update { return s.direct(s.person("12", "Beep", adapters.Bot)) }, false, false},
	{"webhook", func(s platformStage) adapters.Update { return s.group(s.person("13", "Olivia", adapters.Service)) }, false, false},
	{"anonymous admin", func(s platformStage) adapters.Update {
		who := s.person("900", "Room", adapters.Service) // the chat speaks as itself
		who.Scope = ""
		return s.group(who)
	}, true, true},
	{"forwards the owner's words", func(s platformStage) adapters.Update {
		u := s.direct(s.person("15", "Fred", adapters.Human))
		u.Body = adapters.IncomingMessage{ID: "10", Text: secret, Forwarded: "Olivia"}
		return u
	}, true, true},
	{"edits after they were let in, and shut out", func(s platformStage) adapters.Update {
		u := s.direct(s.person("16", "Eve", adapters.Human))
		u.Body = adapters.MessageEdit{New: adapters.IncomingMessage{ID: "9", Text: secret}}
		return u
	}, true, true},
	{"left and rejoined", func(s platformStage) adapters.Update { return s.group(s.person("17", "Lea", adapters.Human)) }, true, true},
	{"the owner in a thread of a group", func(s platformStage) adapters.Update {
		u := s.group(s.owner())
		u.Thread = adapters.Thread{ID: "4", Title: "A topic"}
		return u
	}, true, true},
	{"guest", func(s platformStage) adapters.Update {
		who := s.person("1", "Olivia", adapters.Human) // the owner's id, in another team
		who.Scope = s.guest
		if s.guest == "" {
			who.ID = "18"
		}
		return s.direct(who)
	}, true, true},
	{"deleted user", func(s platformStage) adapters.Update { return s.direct(s.person("", "", adapters.Human)) }, false, false},
	{"same id on another platform", func(s platformStage) adapters.Update {
		u := s.direct(s.person("1", "Olivia", adapters.Human))
		u.From.Scope, u.Chat.ID = "elsewhere", "1x"
		return u
	}, true, true},
	{"impersonates with capitals and look-alikes", func(s platformStage) adapters.Update {
		return s.direct(s.person("19", "ＯＬＩＶＩＡ", adapters.Human))
	}, true, true},
}

// matrixIngress is an ingress on a platform where the owner was let in by every
// road there is: by code, by name in the list, and as owner.
func matrixIngress(r *record, s platformStage, mode access.AdmissionMode, named []spaces.ChatMapping, rung *int) *Ingress {
	key, who := s.account().Key(), s.owner()
	chat := s.direct(who).Chat.ID
	r.desk.Admitted = []access.ChatApproval{{PairingRequest: access.PairingRequest{Account: key, Chat: chat, User: who.ID, Scope: who.Scope}, Role: spaces.OfOwner}}
	r.mappings = append([]spaces.ChatMapping{{Account: key, Chat: chat, Space: "owner", Live: true}}, named...)
	r.roles = []spaces.RoleGrant{{Who: spaces.PlatformIdentity{Platform: s.name, Scope: who.Scope, User: who.ID}, Role: spaces.OfOwner}}
	rooms := map[spaces.SpaceID][]spaces.AgentID{"nowhere": nil}
	for _, m := range named {
		rooms[m.Space] = []spaces.AgentID{"ada"}
	}
	return NewIngress(s.account(), NewSpaceMapping(r, r), r, r, r, IngressOptions{
		Admit: mode, Named: rooms, Allow: []access.SenderID{{Scope: who.Scope, User: who.ID}}, Commands: r.attendant(),
		Notify: func([]spaces.PendingWork) { *rung++ },
	})
}

// SECURITY S1: 3 platforms x 4 modes x 12 kinds of sender. A sender who is not admitted
// wakes no agent, and their text is stored nowhere; the refusal is counted under their
// id.
func TestOnlyWhoIsAdmittedIsHeard(t *testing.T) {
	cells, unauthorised, woken := 0, 0, 0
	for _, s := range platformStages {
		for _, mode := range []access.AdmissionMode{access.AdmitDeny, access.AdmitPairing, access.AdmitAllowlist, access.AdmitOpen} {
			for _, k := range senderKinds {
				cells++
				want := mode == access.AdmitOpen && k.open
				if !want {
					unauthorised++
				}
				t.Run(s.name+"/"+string(mode)+"/"+k.name, func(t *testing.T) {
					r, rung := newRecord(), 0
					in := matrixIngress(r, s, mode, nil, &rung)
					take(t, in, "1", k.update(s))
					heard := r.heard() && rung == 1
					if heard != want {
						t.Errorf("got %d events and %d rings, want heard %t", len(r.events), rung, want)
					}
					if heard && !want {
						woken++
					}
					if !want {
						turnedAway(t, r, in, k.update(s))
					}
					if string(r.cursor) != "1" {
						t.Error("the platform would deliver it for ever")
					}
				})
			}
		}
	}
	if cells != 144 {
		t.Errorf("the matrix has %d cells, want 144", cells)
	}
	t.Logf("%d cells, %d of them unauthorised, %d unauthorised cycles", cells, unauthorised, woken)
}

// heard reports whether a person's words are in the record.
func (r *record) heard() bool {
	for _, e := range r.events {
		switch e.Event.Body.(type) {
		case spaces.MessagePosted, spaces.MessageEdited:
			return true
		default: // a fact that the platform tells
		}
	}
	return false
}

// turnedAway checks what is stored of a sender who was not admitted: their id and the
// refusal, and no text. Of a message without a sender the bare fact may stay.
func turnedAway(t *testing.T, r *record, in *Ingress, u adapters.Update) {
	t.Helper()
	if r.knowsTheSecret() {
		t.Error("refused words are kept")
	}
	if len(r.events) > 0 {
		if bare, ok := r.events[0].Event.Body.(spaces.UnreadableUpdate); !ok || u.From.ID != "" || len(bare.Raw) > 0 {
			t.Errorf("kept is %+v", r.events[0].Event.Body)
		}
		return
	}
	var kept []spaces.RejectedSender
	for _, b := range r.batches {
		kept = append(kept, b.Refused...)
	}
	if in.Stats().Refused != 1 || len(kept) != 1 || kept[0].Who.User != u.From.ID || kept[0].Chat != u.Chat.ID || kept[0].Who.Name != "" {
		t.Errorf("of the refusal is kept: %+v", kept)
	}
}

// SECURITY S1: a chat that the configuration names lets its members in, and no
// program that is not listed.
func TestANamedChatHearsItsMembersAndNoPrograms(t *testing.T) {
	cells, woken := 0, 0
	for _, s := range platformStages {
		for _, k := range senderKinds {
			cells++
			t.Run(s.name+"/"+k.name, func(t *testing.T) {
				r, rung := newRecord(), 0
				u := k.update(s)
				room := spaces.ChatMapping{Account: s.account().Key(), Chat: u.Chat.ID, Space: "room", Live: true}
				in := matrixIngress(r, s, access.AdmitDeny, []spaces.ChatMapping{room}, &rung)
				take(t, in, "1", u)
				if heard := r.heard() && rung == 1; heard != k.named {
					t.Errorf("heard is %t, want %t", heard, k.named)
				} else if heard && !k.named {
					woken++
				}
				if !k.named {
					turnedAway(t, r, in, u)
				}
			})
		}
	}
	t.Logf("%d cells, %d unauthorised cycles", cells, woken)
}

// SECURITY S1: an empty list admits no one, and a listed person is admitted in their
// own chat and in no group.
func TestAnAllowlistIsAllThatItHolds(t *testing.T) {
	for _, s := range platformStages {
		listed := s.person("21", "Lisa", adapters.Human)
		for name, c := range map[string]struct {
			allow []access.SenderID
			u     adapters.Update
			heard bool
		}{
			"empty":             {nil, s.direct(listed), false},
			"listed":            {[]access.SenderID{{Scope: listed.Scope, User: "21"}}, s.direct(listed), true},
			"listed in a group": {[]access.SenderID{{Scope: listed.Scope, User: "21"}}, s.group(listed), false},
			"in another team":   {[]access.SenderID{{Scope: "elsewhere", User: "21"}}, s.direct(listed), false},
			"by its name":       {[]access.SenderID{{Scope: listed.Scope, User: "Lisa"}}, s.direct(listed), false},
			"a listed program":  {[]access.SenderID{{Scope: listed.Scope, User: "12"}}, s.direct(s.person("12", "Beep", adapters.Bot)), true},
		} {
			t.Run(s.name+"/"+name, func(t *testing.T) {
				r := newRecord()
				in := NewIngress(s.account(), NewSpaceMapping(r, r), r, r, r, IngressOptions{Admit: access.AdmitAllowlist, Allow: c.allow})
				take(t, in, "1", c.u)
				if heard := r.heard(); heard != c.heard {
					t.Errorf("heard is %t, want %t", heard, c.heard)
				}
			})
		}
	}
}

// What was said while a person was not let in is not told later, when they are.
func TestAnApprovalBringsNothingBack(t *testing.T) {
	r := newRecord()
	in := enter(r, IngressOptions{})
	take(t, in, "1", says(lobby, kai, "1", secret))
	p := access.ApprovalManager{Pairings: r, Spaces: in.mapping, Notices: r}
	if _, err := p.Approve(t.Context(), r.desk.Pending[0].Code, access.ApprovalGrant{}, noon); err != nil {
		t.Fatal(err)
	}
	take(t, in, "2", says(lobby, kai, "2", "hello"))
	if got := r.said(); !slices.Equal(got, []string{"hello"}) || r.knowsTheSecret() {
		t.Errorf("got %q, want what was said after the approval alone", got)
	}
}
