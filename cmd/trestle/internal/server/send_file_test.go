package server

import (
	"strings"
	"testing"
	"testing/synctest"

	fakeslack "github.com/trestle-bridge/trestle/adapters/fake/slack"
	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// Issue 5, SEQ-96, DESIGN 6: an agent that may sends what it wrote, and what it was
// posted, to all chats of its room, on each platform as a file.
func TestAnAgentSendsFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, `# slack, discord
agents: {ada: {name: Ada, phases: one}}
attachments: {send: true}
spaces:
  family: {agents: [ada], wake: mention, chats: ["telegram:-1001000000001", "acme:C0000007", "guild:7"]}
`, script(t, `
ada acts: send_file {"name":"plan.md","content":"# Plan","text":"Here is the plan."}
ada acts: send_file {"name":"../run.sh","content":"rm"}
ada acts: send_file {"message":"#5"}
ada acts: send_file {"name":"plan.md","message":"#5"}
ada acts: send_file {"message":"#6"}
ada rests: Responded to Kai about the plan. Sent it.
`)...)
		w.addChat("family", "supergroup", []string{"Kai"})
		w.addChat("ops", "slack", []string{"Maya"})
		w.addChat("kitchen", "discord", []string{"Lee"})
		w.settle()
		w.slack.rooms["ops"].Says(w.slack.people["Maya"], "", fakeslack.PostOptions{File: &fakeslack.SharedFile{Name: "guests.csv", MIME: "text/csv", Data: []byte("a,b")}})
		w.settle()
		w.chats["family"].Says(w.people["Kai"], "@ada_bot send us the plan and the guests", faketelegram.PostOptions{})
		w.settle()
		got := strings.Split(strings.TrimSpace(w.sent()), "\n")
		want := []string{
			`family: "Here is the plan."`, `family: "📎 plan.md" [plan.md]`, `family: "📎 guests.csv" [guests.csv]`,
			`ops: "Here is the plan."`, `ops: "📎 plan.md" [plan.md] (edited)`, `ops: "📎 guests.csv" [guests.csv] (edited)`,
			`kitchen: "Here is the plan."`, `kitchen: "📎 plan.md" [plan.md]`, `kitchen: "📎 guests.csv" [guests.csv]`,
		}
		testutil.Same(t, "sent", want, got)
		inner := w.log(spaces.Inner)
		for _, code := range []string{"bad_name", "bad_arguments", "no_file"} {
			if !strings.Contains(inner, "refused: "+code) {
				t.Errorf("nothing was refused as %s:\n%s", code, inner)
			}
		}
		w.stop()
	})
}

// DESIGN 6: where agents may not send files there is no act for it.
func TestWithoutLeaveThereIsNoActForFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "agents: {ada: {name: Ada}}\n")
		for _, tool := range w.process.shell.Catalogue().Tools() {
			if tool.Name == "send_file" {
				t.Error("send_file is offered")
			}
		}
		w.stop()
	})
}

// BLU-T10, BLU-36, PRD-6.1-3: what people are shown of an act comes to the space that the
// agent has entered, and nowhere else; a room may take none.
func TestAFileGoesWhereTheAgentIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, `
agents: {ada: {name: Ada, phases: one}}
attachments: {send: true}
spaces:
  family: {name: Family, agents: [ada], chats: ["telegram:-1001000000001"]}
  board: {name: Board, agents: [ada], chats: ["telegram:-1001000000002"], acts: {send_file: false}}
  work: {name: Work, agents: [ada], wake: mention, chats: ["telegram:-1001000000003"]}
`, script(t, `
ada acts: send_file {"name":"list.md","content":"- bread","space":"Board"}
ada acts: enter_space {"space":"Family"}
ada acts: send_file {"name":"list.md","content":"- bread"}
ada rests: Responded to Kai about the list. Left it in Family.
`)...)
		for _, name := range []string{"family", "board", "work"} {
			w.addChat(name, "supergroup", []string{"Kai"})
		}
		w.settle()
		w.chats["work"].Says(w.people["Kai"], "@ada_bot leave the list in Family", faketelegram.PostOptions{})
		w.settle()
		testutil.Same(t, "sent", "family: \"📎 list.md\" [list.md]\n", w.sent())
		if inner := w.log(spaces.Inner); strings.Count(inner, "refused: tier_policy") != 1 {
			t.Errorf("the board took a file:\n%s", inner)
		}
		w.stop()
	})
}
