package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	slackgo "github.com/slack-go/slack"

	"github.com/trestle-bridge/trestle/adapters"
)

var _ adapters.AccountDiagnoser = (*Client)(nil)

// The scopes of the bot token: without those it must have nothing works, without
// the others a part does not.
var (
	mustHave   = []string{"chat:write", "users:read"}
	shouldHave = strings.Fields(`app_mentions:read channels:history channels:read commands groups:history groups:read im:history im:read
		mpim:history mpim:read pins:read reactions:read reactions:write files:read files:write ` + customize)
)

// Examine looks at both tokens, the scopes, the socket, and each chat. Slack shows the
// app's event subscriptions and whether its Messages tab is open to the app's owner
// alone, so they are inferred: a client that receives knows of messages that history
// has and no event delivered, and of replies that were refused. Examine opens no socket
// while this client receives, or while another process serves the account: the second
// socket would take a share of its events.
func (c *Client) Examine(ctx context.Context, chats []string, served bool) []adapters.AccountDiagnosis {
	if f, bad := c.examineShapes(); bad {
		return []adapters.AccountDiagnosis{f}
	}
	seen, err := c.authTest(ctx)
	if err != nil {
		return []adapters.AccountDiagnosis{c.unreached(err)}
	}
	var me self
	if err := json.Unmarshal(seen.Whole, &me); err != nil {
		return []adapters.AccountDiagnosis{c.unreached(err)}
	}
	found := examineScopes(seen.Header.Get(scopesHeader))
	if c.o.AppToken != "" && !served {
		found = append(found, c.examineSocket(ctx)...)
	}
	found = append(found, c.examineApp()...)
	for _, id := range chats {
		if f, bad := c.examineChat(ctx, id, seen.Header.Get(scopesHeader)); bad {
			found = append(found, f)
		}
	}
	if len(found) == 0 {
		found = []adapters.AccountDiagnosis{{Level: adapters.Fine, What: fine(me, len(chats))}}
	}
	return append(found, c.examineAgent(ctx, seen.Header.Get(scopesHeader))...)
}

// examineAgent finds whether the app is declared an agent, which form its direct chats have
// and which events of sessions it is not told. Slack shows the declaration to the app's owner
// alone: it is inferred from the scope and from whether a session that cannot exist is refused
// to the app. The form and the events show while this client receives.
func (c *Client) examineAgent(ctx context.Context, scopes string) []adapters.AccountDiagnosis {
	warn := func(code, what, mend string) []adapters.AccountDiagnosis {
		return []adapters.AccountDiagnosis{{Code: code, Level: adapters.Warning, What: what, Mend: mend}}
	}
	if scopes != "" && !slices.Contains(scopesIn(scopes), agentScope) {
		return []adapters.AccountDiagnosis{{Level: adapters.Fine, What: "the app is not declared an agent: a button takes the place of Slack's own Stop"}}
	}
	if _, err := c.setSession(ctx, slackgo.AgentSessionSetStatusParameters{Status: "active", ChannelID: "C0", ThreadTS: "0000000000.000000"}); refusedFor(err, noSession...) {
		return warn("TRS-S12", "Slack has no agent sessions for the app, although its token has the scope "+agentScope, "declare the app an agent under Agent in its settings, then reinstall it")
	}
	var found []adapters.AccountDiagnosis
	if c.agent.stopless.Load() {
		found = warn("TRS-S10", "no event tells that a person pressed Stop, so that Slack shows none", "add agent_session_stopped under Event Subscriptions → Subscribe to bot events, then reinstall the app")
	}
	switch dmView(c.agent.view.Load()) {
	case agentView:
		found = append(found, adapters.AccountDiagnosis{Level: adapters.Fine, What: "the app is declared an agent and has the agent view"})
	case assistantView:
		found = append(found, warn("TRS-S12", "the app has the assistant view, which Slack retires in February 2027", "choose the agent view under Agent in the app's settings, and subscribe to app_home_opened and app_context_changed")...)
	case unseenView:
		found = append(found, warn("TRS-S10", "the app is declared an agent, and no event tells what people look at", "add app_context_changed under Event Subscriptions, and choose the agent view under Agent in the app's settings")...)
	case unknownView:
		found = append(found, adapters.AccountDiagnosis{Level: adapters.Fine, What: "the app is declared an agent; which view it has shows beside a running Trestle, once somebody opens a direct chat with it"})
	}
	return found
}

const mendScopes = "add what is missing under OAuth & Permissions, then reinstall the app"

func fine(me self, chats int) string {
	s := fmt.Sprintf("@%s answers in the workspace %s", me.Name, me.Team)
	if chats > 0 {
		s += fmt.Sprintf(", and is in each of its %d named channels", chats)
	}
	return s
}

func fail(code, what, mend string) adapters.AccountDiagnosis {
	return adapters.AccountDiagnosis{Code: code, Level: adapters.Failure, What: what, Mend: mend}
}

// examineShapes finds tokens that are not of their kind.
func (c *Client) examineShapes() (f adapters.AccountDiagnosis, bad bool) {
	if !strings.HasPrefix(string(c.o.BotToken), "xoxb-") {
		return fail("TRS-S01", "the bot token does not begin with xoxb-", "copy the Bot User OAuth Token from the app's Install App page"), true
	}
	if c.o.AppToken != "" && !strings.HasPrefix(string(c.o.AppToken), "xapp-") {
		return fail("TRS-S01", "the app token does not begin with xapp-", "make one under Basic Information → App-Level Tokens, with the scope connections:write"), true
	}
	return adapters.AccountDiagnosis{}, false
}

// unreached says why auth.test failed.
func (c *Client) unreached(err error) adapters.AccountDiagnosis {
	if adapters.KindOf(err) == adapters.Unauthorized {
		return fail("TRS-S02", "Slack refuses the bot token: "+adapters.ReasonOf(err), "Install App shows the one that is good; put it where the configuration names it")
	}
	return fail("TRS-S03", "Slack's server does not answer: "+adapters.ReasonOf(err), "see that this machine reaches "+c.base+", or correct api_url")
}

// examineScopes finds the scopes that are missing. A server that does not list them
// is believed.
func examineScopes(listed string) []adapters.AccountDiagnosis {
	if listed == "" {
		return nil
	}
	have := scopesIn(listed)
	lacks := func(wanted []string) string {
		return strings.Join(slices.DeleteFunc(slices.Clone(wanted), func(s string) bool { return slices.Contains(have, s) }), ", ")
	}
	if missing := lacks(mustHave); missing != "" {
		return []adapters.AccountDiagnosis{fail("TRS-S04", "the bot token lacks scopes it cannot do without: "+missing, mendScopes)}
	}
	if missing := lacks(shouldHave); missing != "" {
		return []adapters.AccountDiagnosis{{Code: "TRS-S04", Level: adapters.Warning, What: "the bot token lacks scopes: " + missing, Mend: mendScopes}}
	}
	return nil
}

// helloWait is how long an examined socket has to say hello.
const helloWait = 10 * time.Second

// errHello ends the reading of a socket after Slack's hello.
var errHello = errors.New("it said hello")

// examineSocket tries the app token, and the socket.
func (c *Client) examineSocket(ctx context.Context) []adapters.AccountDiagnosis {
	if c.hook.Load() != nil {
		return nil // what receives has proved it
	}
	ctx, cancel := context.WithTimeout(ctx, helloWait)
	defer cancel()
	s, err := c.openSocket(ctx)
	if e, ok := errors.AsType[*adapters.Error](err); ok && e.Op != "socket" {
		return []adapters.AccountDiagnosis{fail("TRS-S05", "Slack opens no socket for the app token: "+adapters.ReasonOf(err), "make an app-level token with the scope connections:write, and switch Socket Mode on")}
	}
	if err == nil {
		stop := context.AfterFunc(ctx, s.close)
		err = s.read(func() {}, func(frame []byte) error {
			if _, e := deliveryOf(frame); e.Type == "hello" {
				return errHello
			}
			return nil
		})
		stop()
		s.close()
	}
	if !errors.Is(err, errHello) {
		return []adapters.AccountDiagnosis{fail("TRS-S06", "the socket does not open: "+c.scrub(0, err).Error(), "see that nothing on the way to Slack stops WebSockets, or let Slack call us over HTTP")}
	}
	return nil
}

// examineApp tells what showed of the app's own page while this client received.
func (c *Client) examineApp() (found []adapters.AccountDiagnosis) {
	if c.closed.Load() {
		found = append(found, fail("TRS-S11", "Slack refuses answers in direct chats: the app's Messages tab is closed", "open it under App Home → Show Tabs, and allow people to write there"))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, subscription := range slices.Sorted(maps.Keys(c.untold)) {
		found = append(found, adapters.AccountDiagnosis{
			Code: "TRS-S10", Level: adapters.Warning,
			What: fmt.Sprintf("no event tells what is said in %s; it is read from history, minutes late", c.untold[subscription]),
			Mend: "add " + subscription + " under Event Subscriptions → Subscribe to bot events, then reinstall the app",
		})
	}
	return found
}

// hears returns the scope without which nothing that is said in a channel is heard.
func (ch channel) hears() string {
	switch {
	case ch.IsIM:
		return "im:history"
	case ch.IsMPIM:
		return "mpim:history"
	case ch.IsPrivate, ch.IsGroup:
		return "groups:history"
	}
	return "channels:history"
}

// examineChat finds what keeps the app from living in a channel.
func (c *Client) examineChat(ctx context.Context, id, scopes string) (f adapters.AccountDiagnosis, bad bool) {
	answer, err := callInto[channelInfo](ctx, c.apiClient, infoMethod, infoOf(id))
	ch := answer.Channel
	switch {
	case adapters.KindOf(err) == adapters.NoTarget && err != nil:
		return fail("TRS-S07", fmt.Sprintf("there is no channel %s, or it is private and the app is not in it", id), "correct the id, which begins with C, or /invite @app there"), true
	case err != nil:
		return fail("TRS-S03", fmt.Sprintf("the channel %s cannot be looked at: %s", id, adapters.ReasonOf(err)), "try again; if it stays so, see the server's log"), true
	case ch.IsArchived:
		return fail("TRS-S09", fmt.Sprintf("the channel %s is archived", id), "unarchive it, or take it out of the configuration"), true
	case !ch.IsMember && !ch.IsIM:
		return fail("TRS-S08", fmt.Sprintf("the app is not in the channel %s", id), "/invite @app there"), true
	case scopes != "" && !slices.Contains(scopesIn(scopes), ch.hears()):
		return fail("TRS-S04", fmt.Sprintf("nothing is heard in the channel %s: the bot token lacks the scope %s", id, ch.hears()), mendScopes), true
	}
	return adapters.AccountDiagnosis{}, false
}

// subscriptionOf returns the event subscription that delivers the messages of a chat
// (docs.slack.dev/reference/events, message.channels and its likes).
func subscriptionOf(chat adapters.Chat) string {
	switch {
	case chat.Kind == adapters.Direct:
		return "message.im"
	case chat.Kind == adapters.Channel:
		return "message.channels"
	case chat.Group == "":
		return "message.mpim"
	default:
		return "message.groups"
	}
}

// toldLate is how late an event may come that no socket had to wait for.
const toldLate = 30 * time.Second

// noteMissingSubscription records messages that history has and no event delivered while the
// client was connected: it infers a missing subscription from them, since Slack shows the
// subscriptions to the app's owner alone.
func (c *Client) noteMissingSubscription(updates []adapters.Update) {
	for _, u := range updates {
		if c.untoldByEvents(u) {
			c.log.Warn("history has what no event told", "chat", u.Chat.ID, "subscription", subscriptionOf(u.Chat))
			c.mu.Lock()
			c.untold[subscriptionOf(u.Chat)] = u.Chat.ID
			c.mu.Unlock()
			return
		}
	}
}

// untoldByEvents reports whether u, which history has and no event told, is a message of
// which an event should have come by now.
func (c *Client) untoldByEvents(u adapters.Update) bool {
	m, ok := u.Body.(adapters.IncomingMessage)
	return ok && m.Command == nil && time.Since(u.At) > toldLate && u.From.ID != c.self.Load().account()
}

// noteSubscribed records which subscriptions exist, by the events that arrive.
func (c *Client) noteSubscribed(updates []adapters.Update) {
	for _, u := range updates {
		if _, ok := u.Body.(adapters.IncomingMessage); ok && u.Thread.ID == "" {
			c.mu.Lock()
			delete(c.untold, subscriptionOf(u.Chat))
			c.mu.Unlock()
		}
	}
}
