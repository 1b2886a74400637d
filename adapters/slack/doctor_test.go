package slack_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/fake"
	fakeslack "github.com/trestle-bridge/trestle/adapters/fake/slack"
	"github.com/trestle-bridge/trestle/adapters/slack"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// Each thing that keeps an app from living in a workspace is found and named.
func TestWhatIsWrongIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		scopes string
		before func(w *workspace, o *slack.Options) (chats []string)
		want   []string
	}{
		"nothing": {before: func(w *workspace, _ *slack.Options) []string { return []string{w.ops.ID, w.direct.ID} }, want: []string{
			" ok @ada answers in the workspace T0000001, and is in each of its 2 named channels: ",
		}},
		"swapped tokens": {before: func(_ *workspace, o *slack.Options) []string {
			o.BotToken, o.AppToken = o.AppToken, o.BotToken
			return nil
		}, want: []string{
			"TRS-S01 fail the bot token does not begin with xoxb-: copy the Bot User OAuth Token from the app's Install App page",
		}},
		"a dead token": {before: func(w *workspace, _ *slack.Options) []string { w.app.Revoke(); return nil }, want: []string{
			"TRS-S02 fail Slack refuses the bot token: token_revoked: Install App shows the one that is good; put it where the configuration names it",
		}},
		"no server": {before: func(w *workspace, _ *slack.Options) []string {
			w.Fault(fake.CallFault{Method: "auth.test", Do: fake.HTML})
			return nil
		}, want: []string{
			"TRS-S03 fail Slack's server does not answer: HTTP 502 Bad Gateway: slack server error: 502 Bad Gateway: see that this machine reaches http://slack.test, or correct api_url",
		}},
		"a scope it needs": {scopes: "chat:write", want: []string{
			"TRS-S04 fail the bot token lacks scopes it cannot do without: users:read: add what is missing under OAuth & Permissions, then reinstall the app",
		}},
		"a scope it wants": {scopes: strings.ReplaceAll(fakeslack.AllScopes, "reactions:read,", ""), want: []string{
			"TRS-S04 warn the bot token lacks scopes: reactions:read: add what is missing under OAuth & Permissions, then reinstall the app",
		}},
		"a scope of a channel": {scopes: strings.ReplaceAll(fakeslack.AllScopes, "groups:history,", ""), before: func(w *workspace, _ *slack.Options) []string {
			secret := w.NewPrivate("secret", w.maya)
			secret.Invites(w.maya, w.app)
			return []string{w.ops.ID, secret.ID, w.direct.ID, w.NewGroup(w.app, w.maya).ID}
		}, want: []string{
			"TRS-S04 warn the bot token lacks scopes: groups:history: add what is missing under OAuth & Permissions, then reinstall the app",
			"TRS-S04 fail nothing is heard in the channel C0000008: the bot token lacks the scope groups:history: add what is missing under OAuth & Permissions, then reinstall the app",
		}},
		"a wrong app token": {before: func(_ *workspace, o *slack.Options) []string { o.AppToken = "xapp-other"; return nil }, want: []string{
			"TRS-S05 fail Slack opens no socket for the app token: invalid_auth: make an app-level token with the scope connections:write, and switch Socket Mode on",
		}},
		"channels that will not do": {before: func(w *workspace, _ *slack.Options) []string {
			closed := w.NewChannel("closed", w.maya)
			closed.Invites(w.maya, w.app)
			closed.Archives(w.maya)
			return []string{"C404", w.NewPrivate("secret", w.maya).ID, w.NewChannel("elsewhere", w.maya).ID, closed.ID}
		}, want: []string{
			"TRS-S07 fail there is no channel C404, or it is private and the app is not in it: correct the id, which begins with C, or /invite @app there",
			"TRS-S07 fail there is no channel C0000011, or it is private and the app is not in it: correct the id, which begins with C, or /invite @app there",
			"TRS-S08 fail the app is not in the channel C0000012: /invite @app there",
			"TRS-S09 fail the channel C0000008 is archived: unarchive it, or take it out of the configuration",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				profile := fakeslack.AppProfile{AppToken: appToken}
				if c.scopes != "" {
					profile.Scopes = strings.Split(c.scopes, ",")
				}
				w := newWorkspace(t, fakeslack.Options{}, profile)
				o := w.options()
				var chats []string
				if c.before != nil {
					chats = c.before(w, &o)
				}
				var found []string
				for _, f := range w.adapter(o).Examine(t.Context(), chats, false) {
					if f.What == noAgent {
						continue
					}
					found = append(found, fmt.Sprintf("%s %s %s: %s", f.Code, f.Level, f.What, f.Mend))
					if f.What == "" || (f.Code != "") != (f.Mend != "") || strings.Contains(f.What+f.Mend, "very-secret") {
						t.Errorf("finding %+v", f)
					}
				}
				testutil.Same(t, "found", c.want, found)
				for _, call := range w.Ledger().Calls {
					if slices.Contains([]string{"chat.postMessage", "conversations.open", "views.publish"}, call.Method) {
						t.Errorf("the examination changed something: %s", call.Method)
					}
				}
			})
		})
	}
}

// noAgent is what an examination says of an app that is no agent.
const noAgent = "the app is not declared an agent: a button takes the place of Slack's own Stop"

// Issue 31: whether the app is an agent, of which form, and which of an agent's events it is
// not told.
func TestAnAgentAndWhatItIsNotToldAreFound(t *testing.T) {
	direct := func(w *workspace) { w.direct.Says(w.maya, "hello", fakeslack.PostOptions{}) }
	for name, c := range map[string]struct {
		profile fakeslack.AppProfile
		happens func(w *workspace)
		want    []string
	}{
		"no agent":               {happens: direct, want: []string{"ok " + noAgent}},
		"the scope alone":        {profile: fakeslack.AppProfile{Scopes: strings.Split(fakeslack.AllScopes+",assistant:write", ",")}, want: []string{"TRS-S12 warn Slack has no agent sessions for the app, although its token has the scope assistant:write"}},
		"an agent nobody opened": {profile: fakeslack.AppProfile{Agent: true}, want: []string{"ok the app is declared an agent; which view it has shows beside a running Trestle, once somebody opens a direct chat with it"}},
		"the agent view": {profile: fakeslack.AppProfile{Agent: true}, happens: func(w *workspace) {
			w.inject(`{"type":"app_home_opened","user":"` + w.maya.ID + `","channel":"` + w.direct.ID + `","tab":"messages","context":{},"event_ts":"1700000001.000100"}`)
		}, want: []string{"ok the app is declared an agent and has the agent view"}},
		"the agent view in a message": {profile: fakeslack.AppProfile{Agent: true}, happens: func(w *workspace) {
			w.inject(`{"type":"message","channel":"` + w.direct.ID + `","channel_type":"im","user":"` + w.maya.ID + `","text":"hello","ts":"1700000001.000100","app_context":{}}`)
		}, want: []string{"ok the app is declared an agent and has the agent view"}},
		"no context": {profile: fakeslack.AppProfile{Agent: true}, happens: func(w *workspace) {
			w.inject(`{"type":"app_home_opened","user":"` + w.maya.ID + `","channel":"` + w.direct.ID + `","tab":"messages","event_ts":"1700000001.000100"}`)
		}, want: []string{"TRS-S10 warn the app is declared an agent, and no event tells what people look at"}},
		"the assistant view": {profile: fakeslack.AppProfile{Agent: true}, happens: func(w *workspace) {
			w.inject(`{"type":"assistant_thread_started","assistant_thread":{"user_id":"` + w.maya.ID + `","channel_id":"` + w.direct.ID + `","thread_ts":"1700000001.000100","context":{}},"event_ts":"1700000001.000100"}`)
		}, want: []string{"TRS-S12 warn the app has the assistant view, which Slack retires in February 2027"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.profile.AppToken = appToken
				w := newWorkspace(t, fakeslack.Options{}, c.profile)
				a, _ := w.runs(new(book), w.options())
				if c.happens != nil {
					c.happens(w)
				}
				pass(time.Second)
				testutil.Same(t, "found", c.want, agentFindings(t, a))
			})
		})
	}
	t.Run("no event of a stop", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorkspace(t, fakeslack.Options{}, fakeslack.AppProfile{AppToken: appToken, Agent: true, Events: []string{"message.im"}})
			a, _ := w.runs(new(book), w.options())
			ts := w.direct.Says(w.maya, "hello", fakeslack.PostOptions{})
			control, err := a.ShowRun(t.Context(), adapters.RunStatus{Chat: w.direct.ID, Message: ts, State: adapters.RunProcessing})
			if err != nil || control != adapters.StopLine {
				t.Errorf("shown with the stop %q: %v", control, err)
			}
			testutil.Same(t, "found", "TRS-S10 warn no event tells that a person pressed Stop, so that Slack shows none", agentFindings(t, a)[0])
		})
	})
}

// agentFindings returns what an examination finds of the app as an agent.
func agentFindings(t *testing.T, c *slack.Client) (found []string) {
	t.Helper()
	for _, f := range c.Examine(t.Context(), nil, true) {
		if !strings.HasPrefix(f.What, "@ada answers") {
			found = append(found, strings.TrimSpace(fmt.Sprintf("%s %s %s", f.Code, f.Level, f.What)))
		}
	}
	return found
}

// I13: an examination opens no socket where another process of the installation
// receives: Slack would hand it what that one waits for.
func TestExaminationOpensNoSocketBesideWhoServes(t *testing.T) {
	for _, served := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorkspace(t, fakeslack.Options{}, fakeslack.AppProfile{AppToken: appToken})
			w.adapter(w.options()).Examine(t.Context(), nil, served)
			opened := slices.ContainsFunc(w.Ledger().Calls, func(c fakeslack.APICall) bool { return c.Method == "apps.connections.open" })
			if opened == served {
				t.Errorf("served elsewhere %t: a socket was opened: %t", served, opened)
			}
		})
	}
}

// Slack shows an app's subscriptions, and whether its Messages tab is open, to the
// owner alone: a client that receives infers what is missing, and notices when the
// owner has added it.
func TestWhatAnAppIsNotToldIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		profile := fakeslack.AppProfile{AppToken: appToken, NoMessages: true, Events: []string{"app_mention", "message.im", "member_joined_channel"}}
		w := newWorkspace(t, fakeslack.Options{}, profile)
		b := new(book)
		c, _ := w.runs(b, w.options())
		codes := func() (all []string) {
			for _, f := range c.Examine(t.Context(), nil, false) {
				if f.What == noAgent {
					continue
				}
				all = append(all, f.Code+" "+f.Mend[:min(len(f.Mend), 20)])
			}
			return all
		}
		w.direct.Says(w.maya, "hello", fakeslack.PostOptions{})
		w.ops.Says(w.maya, "@ada are you there?", fakeslack.PostOptions{})
		pass(11 * time.Minute)
		testutil.Same(t, "found while nothing was missed", []string{" "}, codes())
		w.ops.Says(w.maya, "what do you think?", fakeslack.PostOptions{})
		w.direct.Says(w.maya, "and here?", fakeslack.PostOptions{})
		if _, err := c.Send(t.Context(), adapters.OutgoingMessage{Chat: w.direct.ID, Text: "an answer"}); adapters.KindOf(err) != adapters.Forbidden {
			t.Errorf("an answer where the tab is closed: %v", err)
		}
		pass(11 * time.Minute)
		w.ops.Says(w.maya, "@ada hello?", fakeslack.PostOptions{}) // tells of itself alone
		pass(time.Second)
		testutil.Same(t, "found", []string{"TRS-S11 open it under App Ho", "TRS-S10 add message.channels"}, codes())
		w.inject(`{"type":"message","channel":"` + w.ops.ID + `","channel_type":"channel","user":"` + w.maya.ID + `","text":"told","ts":"1700000001.000100"}`)
		pass(time.Second)
		testutil.Same(t, "found after an event told", []string{"TRS-S11 open it under App Ho"}, codes())
	})
}
