package server

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/activity/access"
	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/discord"
	"github.com/trestle-bridge/trestle/adapters/hook"
	"github.com/trestle-bridge/trestle/adapters/slack"
	"github.com/trestle-bridge/trestle/adapters/telegram"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/history"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/spaces"
)

// personaOf returns the name and picture under which an agent posts where several agents share
// an account; nothing where it is the only agent.
func (am *AccountManager) personaOf(agent spaces.AgentID) adapters.AgentPersona {
	c := am.Config()
	a, ok := c.Agent(string(agent))
	if !ok || len(c.Agents) < 2 {
		return adapters.AgentPersona{}
	}
	return adapters.AgentPersona{Name: a.Name, Avatar: a.Avatar}
}

// egress returns the egress of an account, or nil when no connection of this process has it.
func (cs *connectionSet) egress(account string) *activity.Egress {
	for _, l := range cs.conns.all() {
		if out := l.Egress(); out != nil && out.Account() == account {
			return out
		}
	}
	return nil
}

// NewAdapter makes the client of a configured account without calling the platform.
func (am *AccountManager) NewAdapter(a config.AdapterEntry) (adapters.Adapter, error) {
	switch a.Type {
	case "telegram":
		return telegram.New(telegram.Options{
			Token: a.Token, APIURL: a.APIURL, HTTPClient: am.Client, PollTimeout: am.Hold, WebhookURL: a.WebhookURL, Around: am.clock.Around,
			Unpaced: am.unpaced(a), Logger: am.Log.With("adapter", a.Name),
		})
	case "slack":
		return slack.New(slack.Options{
			BotToken: a.BotToken, AppToken: a.AppToken, SigningSecret: a.SigningSecret, HookPath: pathOf(a.WebhookURL), APIURL: a.APIURL,
			HTTPClient: am.Client, Around: am.clock.Around, Prompts: func() []string { return suggestedPrompts(am.Config()) },
			Unpaced: am.unpaced(a), Logger: am.Log.With("adapter", a.Name),
		})
	case "discord":
		return discord.New(discord.Options{
			Token: a.Token, HookPath: pathOf(a.WebhookURL), APIURL: a.APIURL, HTTPClient: am.Client, Around: am.clock.Around,
			Unpaced: am.unpaced(a), Logger: am.Log.With("adapter", a.Name),
		})
	case "hook":
		o := hook.Options{
			Name: a.Name, Token: a.Token, Secret: a.SigningSecret, Text: a.Text, ReplyURL: a.ReplyURL, ReplySecret: a.ReplySecret,
			Chats: func() []string { return namedChats(am.Config(), a.Name) }, NewID: am.Mint, HTTPClient: am.Client,
			Logger: am.Log.With("adapter", a.Name),
		}
		if am.files != nil {
			o.Files = am.files
		}
		return hook.New(o)
	}
	return nil, fmt.Errorf("this version does not serve %s", a.Type)
}

// suggestedPrompts returns what the agents suggest to people who open a direct chat; two
// questions that any agent answers where none of them says.
func suggestedPrompts(c *config.Config) []string {
	var all []string
	given := false
	for _, a := range c.Agents {
		given = given || a.Suggest != nil
		all = append(all, a.Suggest...)
	}
	if !given {
		return []string{"What can you do?", "What do you remember about me?"}
	}
	return all
}

// pathOf returns the path of an address; empty when it has none.
func pathOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Path
}

func (am *AccountManager) unpaced(a config.AdapterEntry) bool {
	if a.Outgoing != "" {
		return a.Outgoing == "off"
	}
	return am.Config().Outgoing == "off"
}

// joinPlatform returns the function that opens the spaces of an account once it has connected,
// and returns its ingress and egress.
func (am *AccountManager) joinPlatform(name string, ad adapters.Adapter, unpaced bool) activity.OnConnect {
	return func(ctx context.Context, account adapters.BotAccount) (*activity.Ingress, *activity.Egress, error) {
		in, err := am.openIngress(ctx, name, account)
		if err != nil {
			return nil, nil, err
		}
		am.openServers(ctx, ad, connectedAccount{name, account.Key(), in})
		o := activity.EgressOptions{Unpaced: unpaced, OwnsAccount: am.Store.HoldsLease, Stopped: am.border.Stopped, Drafts: am.border, Acks: am.border, Persona: am.personaOf, Speaker: am.speaker, IdentityLookup: am.identityLookup(name, account.Platform), Logger: am.Log.With("adapter", name)}
		if am.redis != nil {
			o.SharedLimiter = sharedLimiter{am.redis, account.Key()}
		}
		if am.files != nil {
			o.Files, o.Blobs = am.border, am.files
		}
		return in, activity.NewEgress(account, ad, am.border, am.mapping, o), nil
	}
}

// openIngress opens the spaces of a connected account and returns its ingress.
func (am *AccountManager) openIngress(ctx context.Context, name string, account adapters.BotAccount) (*activity.Ingress, error) {
	am.Opening.Lock()
	defer am.Opening.Unlock()
	o, err := am.ingressOptions(ctx, name, account.Key())
	if err != nil {
		return nil, err
	}
	in := activity.NewIngress(account, am.mapping, am.border, am.border, am.border, o)
	am.joined = append(am.joined, connectedAccount{name, account.Key(), in})
	own := append(am.accounts(), account)
	am.own.Store(&own)
	return in, am.closeUnconfigured(ctx)
}

// accounts returns the accounts that have connected. The caller may append to it.
func (cs *connectionSet) accounts() []adapters.BotAccount {
	if own := cs.own.Load(); own != nil {
		return slices.Clip(*own)
	}
	return nil
}

// ingressOptions opens the configured rooms that have chats on an account and returns who may
// talk there. Opening is held.
func (am *AccountManager) ingressOptions(ctx context.Context, name, account string) (activity.IngressOptions, error) {
	c := am.Config()
	named := map[spaces.SpaceID][]spaces.AgentID{}
	for _, s := range c.Spaces {
		if s.Misconfigured {
			continue
		}
		o, ok := am.openRequest(s, account, name)
		if !ok {
			continue
		}
		placed, err := am.mapping.Open(ctx, o)
		if err != nil {
			return activity.IngressOptions{}, fmt.Errorf("open space %s: %w", s.Key, err)
		}
		am.remember(placed.Space, s.Key)
		named[placed.Space] = o.Agents
	}
	if err := am.grantRoles(ctx, name, account); err != nil {
		return activity.IngressOptions{}, err
	}
	if err := am.setZones(ctx, name, account); err != nil {
		return activity.IngressOptions{}, err
	}
	dealt, err := am.border.DealtUntil(ctx)
	if err != nil {
		return activity.IngressOptions{}, err
	}
	return activity.IngressOptions{
		Admit: access.AdmissionMode(c.AdmitFor(name)), Named: named, Servers: am.serverDefaults(name),
		Room: spaces.RoomDefaults{Agents: am.runningAgents(c.DefaultAgents), Wake: c.SettingsFor("", "").Wake},
		Name: name, Allow: history.Senders(c.PeopleOnAccount(c.Allow, name)), SenderPerMinute: c.SenderLimit(), Remember: c.Remember,
		RestoredUntil: dealt, Files: am.fetchesFiles(name), Commands: am.commandHandler(), Operators: am.operatorChats(name), Ours: am.accounts, Notify: am.notifyFor(name),
		OfServer: func(ctx context.Context, group string, s spaces.SpaceID) error {
			return am.rememberServer(ctx, s, name+":"+group)
		}, Logger: am.Log.With("adapter", name),
	}, nil
}

// openRequest returns the request that opens a configured space with its chats on one account;
// false when it has none there.
func (sm *SpaceManager) openRequest(s config.SpaceEntry, account, adapter string) (spaces.OpenRequest, bool) {
	o := spaces.OpenRequest{
		Key: s.Key, Name: s.Name, Circle: spaces.CircleID(s.Circle), Wake: sm.Config().SettingsFor("", s.Key).Wake,
		Agents: sm.runningAgents(s.Agents), At: time.Now(),
	}
	for _, c := range s.Chats {
		if c.Adapter == adapter {
			o.Chats = append(o.Chats, spaces.ChatMapping{Account: account, Chat: c.Chat, Relay: s.Relay, Live: true})
		}
	}
	return o, len(o.Chats) > 0
}

// runningAgents returns those of the named agents that can run.
func (sm *SpaceManager) runningAgents(names []string) []spaces.AgentID {
	var ids []spaces.AgentID
	for _, name := range names {
		if _, ok := sm.Config().Agent(name); ok {
			ids = append(ids, spaces.AgentID(name))
		}
	}
	return ids
}

// serverDefaults returns the settings for rooms of an adapter's servers, by the id of the
// server.
func (sm *SpaceManager) serverDefaults(adapter string) map[string]spaces.RoomDefaults {
	forms := map[string]spaces.RoomDefaults{}
	for _, s := range sm.Config().Servers {
		on, id, _ := strings.Cut(s.Key, ":")
		if on == adapter && !s.Misconfigured {
			forms[id] = spaces.RoomDefaults{
				Circle: spaces.CircleID(s.Circle), Wake: sm.Config().SettingsFor("", s.Key).Wake, Agents: sm.runningAgents(s.Agents),
			}
		}
	}
	return forms
}

// historyReader returns the reader of the history of an account's chats.
func (am *AccountManager) historyReader(ctx context.Context, account string) (adapters.HistoryReader, error) {
	for _, l := range am.conns.all() {
		if l.Status().Account != account {
			continue
		}
		if h, ok := l.adapter.(adapters.HistoryReader); ok {
			return h, nil
		}
		return nil, fmt.Errorf("the platform of %s keeps no history that can be read", l.name)
	}
	for _, f := range am.peers() {
		for _, its := range f.Accounts {
			if its == account { // who receives there does not matter: history is read by asking
				return am.ConnectReaders(ctx, []spaces.ChatMapping{{Account: account}})(ctx, account)
			}
		}
	}
	return nil, fmt.Errorf("no account %s is connected now", account)
}

// ConnectReaders connects the accounts that chats are on, without receiving their messages, and
// returns a function that returns their history readers.
func (am *AccountManager) ConnectReaders(ctx context.Context, chats []spaces.ChatMapping) func(ctx context.Context, account string) (adapters.HistoryReader, error) {
	readers, failed := map[string]adapters.HistoryReader{}, map[string]error{}
	for _, a := range am.Config().Adapters {
		if a.Misconfigured || !slices.ContainsFunc(chats, func(m spaces.ChatMapping) bool { return strings.HasPrefix(m.Account, a.Type+":") }) {
			continue
		}
		ad, err := am.NewAdapter(a)
		h, reads := ad.(adapters.HistoryReader)
		if err != nil || !reads {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, firstJoin)
		account, err := ad.Connect(ctx)
		cancel()
		if err != nil {
			failed[a.Type] = fmt.Errorf("connect %s: %w", a.Name, err)
			continue
		}
		readers[account.Key()] = h
	}
	return func(_ context.Context, account string) (adapters.HistoryReader, error) {
		platform, _, _ := strings.Cut(account, ":")
		switch h := readers[account]; {
		case h != nil:
			return h, nil
		case failed[platform] != nil:
			return nil, failed[platform]
		}
		return nil, fmt.Errorf("no configured account is %s and can read history", account)
	}
}
