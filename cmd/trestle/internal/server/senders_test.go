package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/activity/access"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
	"github.com/trestle-bridge/trestle/spaces"
)

const canary = "the canary sings at midnight"

// ownersID is the owner's on Telegram; theirID is an owner's and a listed person's
// on another platform.
const (
	ownersID = 5_000_000_001
	theirID  = 777_000_111
)

// A wireSender is one of the twelve kinds of sender of SECURITY S1 as a platform
// delivers it. open says whether a mode that lets everybody in hears it.
type wireSender struct {
	name  string
	comes string // what the platform is made to deliver
	open  bool
}

// A wireStage is one platform's third of the matrix.
type wireStage struct {
	config    string                  // before the modes
	owner     string                  // as the configuration names them
	elsewhere spaces.PlatformIdentity // an owner's on another platform, whose id a person has here
	greets    func(w *world)          // the owner writes to us
	pairs     func(w *world)          // the owner is let in by code
	senders   func(w *world) []wireSender
	deliver   func(w *world, event json.RawMessage) error
}

// play plays 5 modes x 12 kinds of sender through the fake platform, the adapter, the
// bridge, the store and the shell. A sender who is not admitted wakes no agent, and
// their text is nowhere on the disk; where it is kept to be answered later, it is dropped after
// that time.
func (s wireStage) play(t *testing.T) {
	t.Helper()
	cells, unauthorised, woken := 0, 0, 0
	for _, mode := range []string{"deny", "pairing", "pairing, which remembers", "allowlist", "open"} {
		t.Run(mode, func(t *testing.T) {
			mode, remembers := strings.CutSuffix(mode, ", which remembers")
			remember := "0"
			if remembers {
				remember = "1h"
			}
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, fmt.Sprintf("%sagents: {ada: {name: Ada, phases: one}}\nadmit: %s\npairing: {remember: %s}\nowners: [%q]\nallow: [%q]\n", s.config, mode, remember, s.owner, s.owner),
					llmtest.ScriptStep{Always: true, Response: llmtest.Says("Nothing to add.").Response})
				s.greets(w)
				w.settle()
				if mode == "pairing" {
					s.pairs(w)
					w.settle()
				}
				w.elsewhere(s.elsewhere)
				for _, from := range s.senders(w) {
					cells++
					before := len(w.model.Requests())
					if err := s.deliver(w, json.RawMessage(from.comes)); err != nil {
						t.Fatalf("%s: %v", from.name, err)
					}
					w.settle()
					woke, want := len(w.model.Requests()) > before, mode == "open" && from.open
					if !want {
						unauthorised++
					}
					if woke && !want {
						woken++
					}
					if woke != want {
						t.Errorf("%s: woke %t, want %t", from.name, woke, want)
					}
				}
				if remembers {
					w.drops(time.Hour)
				}
				w.stop()
				if mode != "open" && !remembers {
					w.forgotten(canary)
				}
			})
		})
	}
	if cells != 60 {
		t.Errorf("the matrix has %d cells, want 60", cells)
	}
	t.Logf("%d cells, %d of them unauthorised, %d unauthorised cycles", cells, unauthorised, woken)
}

// A direct message and one in a group, with the sender's own fields.
const (
	wireDirect = `{"message":{"message_id":%[1]d,"date":946684800,"chat":{"id":%[2]d,"type":"private","first_name":"X"},"from":{"id":%[2]d,"is_bot":false,"first_name":%[3]q,"username":%[4]q},"text":"` + canary + `"%[5]s}}`
	wireGroup  = `{"message":{"message_id":%[1]d,"date":946684800,"chat":{"id":-100200%[1]d,"type":"supergroup","title":"A group nobody named"},"from":{"id":%[2]d,"is_bot":%[3]t,"first_name":%[4]q},"text":"@ada_bot ` + canary + `","entities":[{"type":"mention","offset":0,"length":8}]%[5]s}}`
)

// wireSenders are the kinds as updates of the Bot API; %d is a number of its own.
func wireSenders() []wireSender {
	direct := func(id int, name, handle, more string) string {
		return fmt.Sprintf(wireDirect, 1000+id%1000, id, name, handle, more)
	}
	group := func(n, id int, bot bool, name, more string) string {
		return fmt.Sprintf(wireGroup, n, id, bot, name, more)
	}
	return []wireSender{
		{"renamed to the owner's name", direct(6_000_000_011, "Olivia", "olivia", ""), true},
		{"bot", group(2012, 6_000_000_012, true, "Beep", ""), false},
		{"webhook", group(2013, 777_000, false, "Telegram", `,"is_automatic_forward":true,"sender_chat":{"id":-1009990000001,"type":"channel","title":"Olivia"}`), false},
		{"anonymous admin", group(2014, 1_087_968_824, true, "Group", `,"sender_chat":{"id":-1002002014,"type":"supergroup","title":"A group nobody named"}`), true},
		{"forwards the owner's words", direct(6_000_000_015, "Fred", "", fmt.Sprintf(`,"forward_origin":{"type":"user","date":946684800,"sender_user":{"id":%d,"is_bot":false,"first_name":"Olivia"}}`, ownersID)), true},
		{"edits after they were shut out", `{"edited_` + direct(6_000_000_016, "Eve", "", `,"edit_date":946684801`)[2:], false},
		{"left and rejoined", group(2017, 6_000_000_017, false, "Lea", ""), true},
		{"the owner in a thread of a group", group(2018, ownersID, false, "Olivia", `,"is_topic_message":true,"message_thread_id":4`), true},
		{"guest", group(2019, 6_000_000_019, false, "Guest", fmt.Sprintf(`,"guest_bot_caller_user":{"id":%d,"is_bot":false,"first_name":"Olivia"}`, ownersID)), true},
		{"deleted user", `{"message":{"message_id":2020,"date":946684800,"chat":{"id":6000000020,"type":"private"},"text":"` + canary + `"}}`, false},
		{"same id on another platform", direct(theirID, "Olivia", "", ""), true},
		{"impersonates with capitals and look-alikes", direct(6_000_000_022, "ＯＬＩＶＩＡ", "0livia", ""), true},
	}
}

// SECURITY S1, Telegram's third of the matrix.
func TestNobodyUnauthorisedWakesAnAgentOnTelegram(t *testing.T) {
	wireStage{
		owner: fmt.Sprintf("telegram:%d", ownersID), elsewhere: spaces.PlatformIdentity{Platform: "discord", User: strconv.Itoa(theirID)},
		greets: func(w *world) {
			w.addChat("olivia", "direct", []string{"Olivia"})
			w.says(w.chats["olivia"], w.people["Olivia"], "hello", 0, 0)
		},
		pairs:   func(w *world) { w.pairs("Olivia", []string{"owner"}) },
		senders: func(*world) []wireSender { return wireSenders() },
		deliver: func(w *world, event json.RawMessage) error { _, err := w.bot.Inject(event); return err },
	}.play(t)
}

// drops fails unless messages of people who wait are kept, and only that long.
func (w *world) drops(after time.Duration) {
	w.t.Helper()
	for _, late := range []bool{false, true} {
		d, err := w.process.border.Load(w.t.Context())
		if err != nil || len(d.Sealed) > 0 == late {
			w.t.Errorf("after the time %t: %d messages are kept (%v)", late, len(d.Sealed), err)
		}
		pass(after + time.Minute)
	}
}

// elsewhere makes a person the owner on another platform, let in there by code.
func (w *world) elsewhere(who spaces.PlatformIdentity) {
	w.t.Helper()
	owner := spaces.RoleGrant{Who: who, Role: spaces.OfOwner}
	err := w.process.border.Appoint(w.t.Context(), who.Platform, []spaces.RoleGrant{owner})
	if err == nil {
		err = w.process.border.Amend(w.t.Context(), func(d *access.PairingState) {
			d.Admitted = append(d.Admitted, access.ChatApproval{
				PairingRequest: access.PairingRequest{Account: who.Platform + ":1", Chat: who.User, User: who.User}, Role: spaces.OfOwner, At: time.Now(),
			})
		})
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// forgotten fails when words stand anywhere in the data folder.
func (w *world) forgotten(words string) {
	w.t.Helper()
	err := filepath.WalkDir(filepath.Join(w.dir, "data"), func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(words)) {
			w.t.Errorf("%s holds %q", filepath.Base(path), words)
		}
		return err
	})
	if err != nil {
		w.t.Error(err)
	}
}
