//go:build faultinject

package crashtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/trestle-bridge/trestle/adapters/fake"
	fakediscord "github.com/trestle-bridge/trestle/adapters/fake/discord"
	fakeslack "github.com/trestle-bridge/trestle/adapters/fake/slack"
	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/internal/failpoint"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// A crossing is a room that is a chat of each platform, whose people's files
// travel from each to the two others.
type crossing struct {
	*world
	config string
	heard  func() bool                    // the program listens everywhere
	posts  func(name string, n int)       // a person posts a file, on the n-th platform
	shown  func() [3]map[string]int       // on each platform, how often it has a file
	faults func(f fake.CallFault) []reach // arms a fault on each platform
}

// reach reports whether a fault of one platform met a call.
type reach func() bool

// fileSteps are the steps of sending a file: points of the program, and calls that
// a platform takes and never answers before the kill.
var fileSteps = []struct{ id, point, call string }{
	{"K6", "file.fetched", ""},
	{"K16", "outbox.sending", ""},
	{"K17", "", "sendDocument"},
	{"K17", "", "files.getUploadURLExternal"},
	{"K17", "", "chat.postMessage"},
	{"K17", "", "files.completeUploadExternal"},
	{"K17", "", "execute webhook"},
	{"K18", "send.accepted", ""},
	{"K20", "receipt.committed", ""},
}

// TestFilesSurviveAKillAtEachStepOfSending is DELIVERY 2.3 and 2.4 for files, SEQ-96:
// every file is on both other platforms in the end, on Discord and Slack
// once, and on Telegram at most one of them twice.
func TestFilesSurviveAKillAtEachStepOfSending(t *testing.T) {
	for _, step := range fileSteps {
		if *only != "" && *only != step.id {
			continue
		}
		for n := range min(2, *repeats) {
			name := step.point + step.call
			seed := seedOf("files "+name, n)
			if *oneSeed != 0 && *oneSeed != seed {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s/%d", step.id, name, seed), func(t *testing.T) { openCrossing(t, seed).play(t, step.point, step.call, 1+3*n) })
		}
	}
}

// openCrossing opens the room.
func openCrossing(t *testing.T, seed uint64) *crossing {
	t.Helper()
	c := &crossing{world: newWorld(t, seed, 0)}
	family, maya := c.forum, c.places[0].who
	slack := fakeslack.New(fakeslack.Options{})
	app := slack.AddApp(fakeslack.AppProfile{Name: "Ada", BotToken: "xoxb-faults", AppToken: "xapp-faults"})
	kai := slack.AddPerson(fakeslack.UserProfile{Name: "Kai"})
	ops := slack.NewChannel("ops", kai)
	ops.Invites(kai, app)
	discord := fakediscord.New(fakediscord.Options{})
	bot := discord.AddBot(fakediscord.BotProfile{Token: "faults", Name: "ada"})
	lee := discord.AddPerson(fakediscord.UserProfile{Name: "Lee"})
	guild := discord.NewGuild("Work", lee)
	kitchen := guild.NewChannel("kitchen", fakediscord.TextChannel)
	guild.Adds(bot, fakediscord.ManageWebhooks)
	c.config = fmt.Sprintf(`listen: ""
model: {base_url: %q, api_key: none, name: teller}
limits: {outgoing: off}
agents: {ada: {name: Ada}}
adapters:
  telegram: {type: telegram, token: %q, api_url: %q}
  acme: {type: slack, bot_token: xoxb-faults, app_token: xapp-faults, api_url: %q}
  guild: {type: discord, token: faults, api_url: %q}
spaces:
  room: {name: Room, agents: [ada], wake: none, relay: true, chats: ["telegram:%d", "acme:%s", "guild:%s"]}
`, c.base, botToken, c.api, c.serve(t, slack.Serve), c.serve(t, discord.Serve), family.ID(), ops.ID, kitchen.ID)
	c.heard = func() bool { return app.Sockets() == 2 && bot.Connected() && len(c.telegram.Ledger().Calls) > 1 }
	c.posts = func(name string, n int) {
		bytes := []byte("bytes of " + name)
		switch n % 3 {
		case 0:
			family.Says(maya, "", faketelegram.PostOptions{File: &faketelegram.SharedFile{Kind: "document", Name: name, Data: bytes}})
		case 1:
			ops.Says(kai, "", fakeslack.PostOptions{File: &fakeslack.SharedFile{Name: name, MIME: "text/plain", Data: bytes}})
		case 2:
			kitchen.Says(lee, "", fakediscord.PostOptions{Files: []fakediscord.SharedFile{{Name: name, MIME: "text/plain", Data: bytes}}})
		}
	}
	c.shown = func() (all [3]map[string]int) {
		for n := range all {
			all[n] = map[string]int{}
		}
		for _, m := range family.Sent() {
			if m.File != nil {
				all[0][m.File.Name]++
			}
		}
		for _, m := range ops.Sent() {
			for _, name := range m.Files {
				all[1][name]++
			}
		}
		for _, m := range kitchen.Sent(bot) {
			for _, name := range m.Files {
				all[2][name]++
			}
		}
		return all
	}
	c.faults = func(f fake.CallFault) []reach {
		telegram := c.telegram.Fault(f)
		onSlack, onDiscord := slack.Fault(f), discord.Fault(f)
		return []reach{
			func() bool { return telegram.Hits() > 0 }, func() bool { return onSlack.Hits() > 0 }, func() bool { return onDiscord.Hits() > 0 },
		}
	}
	return c
}

// play is one case: files are posted everywhere, the program dies at its n-th
// arrival at a point, or in a call that is taken, and starts again.
func (c *crossing) play(t *testing.T, point, call string, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*caseLimit)
	defer cancel()
	prog := newProgram(t, c.world, "")
	testutil.OK(t, os.WriteFile(filepath.Clean(prog.config), []byte(c.config), 0o600))
	var plan failpoint.FaultPlan
	var hung []reach
	if point != "" {
		plan = failpoint.FaultPlan{{Point: point, Hit: n, Action: failpoint.Kill}}
	} else {
		hung = c.faults(fake.CallFault{Method: call, Do: fake.Hang, Apply: true, Skip: n - 1})
	}
	prog.start(t, plan)
	if !await(ctx, func() bool { return c.heard() || prog.over() }) {
		t.Fatal("the program does not listen")
	}
	const files = 12
	for i := range files {
		c.posts(fileNamed(i), i)
	}
	if hung == nil {
		testutil.OK(t, prog.killed(ctx))
	} else if !await(ctx, func() bool { return slices.ContainsFunc(hung, func(r reach) bool { return r() }) }) {
		t.Fatal("the call was never made")
	}
	prog.kill()
	prog.start(t, nil)
	if !await(ctx, func() bool { return c.missing(files) == "" && !prog.busy(ctx) }) {
		t.Errorf("in the end %s is missing", c.missing(files))
	}
	if err := prog.stop(ctx); err != nil {
		t.Error(err)
	}
	c.audits(t, files)
}

// fileNamed is the n-th file's name.
func fileNamed(n int) string { return fmt.Sprintf("notes-%02d.txt", n) }

// missing names a file that does not stand where it has to.
func (c *crossing) missing(files int) string {
	for at, shown := range c.shown() {
		for i := range files {
			if i%3 != at && shown[fileNamed(i)] == 0 {
				return fmt.Sprintf("%s on platform %d", fileNamed(i), at)
			}
		}
	}
	return ""
}

// audits counts copies: I6.
func (c *crossing) audits(t *testing.T, files int) {
	t.Helper()
	twice := 0
	for at, shown := range c.shown() {
		for i := range files {
			switch copies := shown[fileNamed(i)]; {
			case i%3 == at && copies != 0:
				t.Errorf("I6: %s came back to platform %d", fileNamed(i), at)
			case copies > 1 && at == 0 && copies == 2:
				twice++
			case copies > 1:
				t.Errorf("I6: %s stands %d times on platform %d", fileNamed(i), copies, at)
			}
		}
	}
	if twice > 1 {
		t.Errorf("I6: %d files stand twice on Telegram, one may", twice)
	}
}
