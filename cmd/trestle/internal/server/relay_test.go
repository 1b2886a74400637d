package server

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	fakediscord "github.com/trestle-bridge/trestle/adapters/fake/discord"
	fakeslack "github.com/trestle-bridge/trestle/adapters/fake/slack"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// SEQ-96, I2, I7: a thousand messages in three chats of one room reach the other
// two chats, each once, in the order in which they were said in each chat, with a
// restart in the middle.
func TestAThousandRelayedMessagesArriveOnceAndInOrder(t *testing.T) {
	each := testutil.Repeats(334)
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, `
agents: {ada: {name: Ada}}
limits: {outgoing: off}
spaces:
  family: {agents: [ada], wake: none, relay: true, chats: ["telegram:-1001000000001", "telegram:-1001000000002", "telegram:-1001000000003"]}
`)
		people := map[string]string{"one": "Kai", "two": "Lee", "six": "Nova"}
		for _, name := range []string{"one", "two", "six"} {
			w.addChat(name, "supergroup", []string{people[name]})
		}
		w.settle()
		for n := range each {
			for name, who := range people {
				w.says(w.chats[name], w.people[who], fmt.Sprintf("%s says %d", who, n), 0, 0)
			}
			if n == each/2 {
				w.end()
				w.start()
			}
		}
		w.settle()
		for name, own := range people {
			var texts []string
			for _, m := range w.chats[name].Sent() {
				texts = append(texts, m.Text)
			}
			inOrder(t, name, texts, own, slices.Collect(maps.Values(people)), each)
		}
		w.stop()
	})
}

// SEQ-96, I2, I7: the same over three platforms, each with its own adapter, with a
// restart and a lost connection in the middle.
func TestAThousandMessagesTravelBetweenThreePlatforms(t *testing.T) {
	each := testutil.Repeats(334)
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, `# slack, discord
agents: {ada: {name: Ada}}
limits: {outgoing: off}
spaces:
  family: {agents: [ada], wake: none, relay: true, chats: ["telegram:-1001000000001", "acme:C0000007", "guild:7"]}
`)
		w.addChat("family", "supergroup", []string{"Kai"})
		w.addChat("ops", "slack", []string{"Maya"})
		w.addChat("kitchen", "discord", []string{"Lee"})
		w.settle()
		for n := range each {
			w.says(w.chats["family"], w.people["Kai"], fmt.Sprintf("Kai says %d", n), 0, 0)
			w.slack.rooms["ops"].Says(w.slack.people["Maya"], fmt.Sprintf("Maya says %d", n), fakeslack.PostOptions{})
			w.discord.rooms["kitchen"].Says(w.discord.people["Lee"], fmt.Sprintf("Lee says %d", n), fakediscord.PostOptions{})
			switch n {
			case each / 3:
				w.settle()
				w.discord.lose("resumed")
			case 2 * each / 3:
				w.settle()
				w.restart()
			}
		}
		w.settle()
		arrived := map[string][]string{}
		for _, m := range w.chats["family"].Sent() {
			arrived["family"] = append(arrived["family"], m.Text)
		}
		for _, m := range w.slack.rooms["ops"].Sent() {
			arrived["ops"] = append(arrived["ops"], m.Text)
		}
		for _, m := range w.discord.rooms["kitchen"].Sent(w.discord.bot) {
			arrived["kitchen"] = append(arrived["kitchen"], m.Content)
		}
		for chat, own := range map[string]string{"family": "Kai", "ops": "Maya", "kitchen": "Lee"} {
			inOrder(t, chat, arrived[chat], own, []string{"Kai", "Maya", "Lee"}, each)
		}
		w.stop()
	})
}

// SEQ-96: who speaks in one chat has their own picture in the others, where both
// platforms show people's pictures, also after a restart in between.
func TestRelayedPeopleHaveTheirPictures(t *testing.T) {
	const hash, image = "a_0123456789abcdef0123456789abcdef", "https://avatars.slack-edge.com/2026-11-21/1_72.png"
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, `# slack, discord
agents: {ada: {name: Ada}}
limits: {outgoing: off}
spaces:
  family: {agents: [ada], wake: none, relay: true, chats: ["telegram:-1001000000001", "acme:C0000007", "guild:7"]}
`)
		lee := w.discord.AddPerson(fakediscord.UserProfile{Name: "Lee", Avatar: hash})
		maya := w.slack.AddPerson(fakeslack.UserProfile{Name: "Maya", Image: image})
		w.discord.people["Lee"], w.slack.people["Maya"] = lee, maya
		w.addChat("family", "supergroup", []string{"Kai"})
		w.addChat("ops", "slack", []string{"Maya"})
		w.addChat("kitchen", "discord", []string{"Lee"})
		w.settle()
		w.restart()
		w.says(w.chats["family"], w.people["Kai"], "hello", 0, 0)
		w.slack.rooms["ops"].Says(maya, "hello", fakeslack.PostOptions{})
		w.discord.rooms["kitchen"].Says(lee, "hello", fakediscord.PostOptions{})
		w.settle()
		got := map[string]string{}
		for _, m := range w.slack.rooms["ops"].Sent() {
			got["ops "+m.Username] = m.Icon
		}
		for _, m := range w.discord.rooms["kitchen"].Sent(w.discord.bot) {
			got["kitchen "+m.Name] = m.Avatar
		}
		want := map[string]string{
			"ops Kai (Telegram)": "", "kitchen Kai (Telegram)": "", "kitchen Maya (Slack)": image,
			"ops Lee (Discord)": "https://cdn.discordapp.com/avatars/" + lee.ID.String() + "/" + hash + ".png?size=128",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("pictures (-want +got):\n%s", diff)
		}
		w.stop()
	})
}

// inOrder checks that a chat has what everybody but its own person said, each
// line once and in the order of who said it.
func inOrder(t *testing.T, chat string, texts []string, own string, people []string, each int) {
	t.Helper()
	next := map[string]int{}
	for _, text := range texts {
		head, number, _ := strings.Cut(text, " says ")
		who := head[strings.LastIndex(head, " ")+1:]
		if n, err := strconv.Atoi(number); err != nil || n != next[who] {
			t.Fatalf("in %s after %d of %s comes %q", chat, next[who], who, text)
		}
		next[who]++
	}
	for _, who := range people {
		want := each
		if who == own {
			want = 0
		}
		if next[who] != want {
			t.Errorf("in %s arrived %d of %s, want %d", chat, next[who], who, want)
		}
	}
}
