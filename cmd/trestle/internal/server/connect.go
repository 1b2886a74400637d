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
	"github.com/trestle-bridge/trestle/adapters/slack"
	"github.com/trestle-bridge/trestle/adapters/telegram"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/spaces"
)

// face returns how an agent appears where several speak through one account: by
// its name and picture. An only agent is the account.
func (p *Components) face(agent spaces.AgentID) adapters.AgentPersona {
	c := p.Config()
	a, ok := c.Agent(string(agent))
	if !ok || len(c.Agents) < 2 {
		return adapters.AgentPersona{}
	}
	return adapters.AgentPersona{Name: a.Name, Avatar: a.Avatar}
}

// egress returns the way out of an account, or nil when no line of this process
// has joined with it.
func (p *Components) egress(account string) *activity.Egress {
	for _, l := range p.lineup.all() {
		if out := l.Egress(); out != nil && out.Account() == account {
			return out
		}
	}
	return nil
}

// NewAdapter makes the client of a configured account without calling the platform.
func (p *Components) NewAdapter(a config.AdapterEntry) (adapters.Adapter, error) {
	switch a.Type {
	case "telegram":
		return telegram.New(telegram.Options{
			Token: a.Token, APIURL: a.APIURL, HTTPClient: p.Client, PollTimeout: p.Hold, WebhookURL: a.WebhookURL, Around: p.clock.Around,
			Unpaced: p.unpaced(a), Logger: p.Log.With("adapter", a.Name),
		})
	case "slack":
		return slack.New(slack.Options{
			BotToken: a.BotToken, AppToken: a.AppToken, SigningSecret: a.SigningSecret, HookPath: pathOf(a.WebhookURL), APIURL: a.APIURL,
			HTTPClient: p.Client, Around: p.clock.Around, Unpaced: p.unpaced(a), Logger: p.Log.With("adapter", a.Name),
		})
	case "discord":
		return discord.New(discord.Options{
			Token: a.Token, HookPath: pathOf(a.WebhookURL), APIURL: a.APIURL, HTTPClient: p.Client, Around: p.clock.Around,
			Unpaced: p.unpaced(a), Logger: p.Log.With("adapter", a.Name),
		})
	}
	return nil, fmt.Errorf("this version does not serve %s", a.Type)
}

// pathOf returns the path of an address; empty when it has none.
func pathOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Path
}

func (p *Components) unpaced(a config.AdapterEntry) bool {
	if a.Outgoing != "" {
		return a.Outgoing == "off"
	}
	return p.Config().Outgoing == "off"
}

// joinPlatform opens what the configuration names on an account and returns its
// two ways.
func (p *Components) joinPlatform(name string, ad adapters.Adapter, unpaced bool) activity.OnConnect {
	return func(ctx context.Context, account adapters.BotAccount) (*activity.Ingress, *activity.Egress, error) {
		in, err := p.welcome(ctx, name, account)
		if err != nil {
			return nil, nil, err
		}
		p.openServers(ctx, ad, connectedAccount{name, account.Key(), in})
		o := activity.EgressOptions{Unpaced: unpaced, OwnsAccount: p.Store.HoldsLease, Drafts: p.border, Persona: p.face, IdentityLookup: p.kin(name, account.Platform), Logger: p.Log.With("adapter", name)}
		if p.redis != nil {
			o.SharedLimiter = sharedLimiter{p.redis, account.Key()}
		}
		if p.files != nil {
			o.Files, o.Blobs = p.border, p.files
		}
		return in, activity.NewEgress(account, ad, p.border, p.mapping, o), nil
	}
}

// welcome opens what an account that has connected serves, and returns its way in.
func (p *Components) welcome(ctx context.Context, name string, account adapters.BotAccount) (*activity.Ingress, error) {
	p.Opening.Lock()
	defer p.Opening.Unlock()
	o, err := p.reception(ctx, name, account.Key())
	if err != nil {
		return nil, err
	}
	in := activity.NewIngress(account, p.mapping, p.border, p.border, p.border, o)
	p.joined = append(p.joined, connectedAccount{name, account.Key(), in})
	own := append(p.accounts(), account)
	p.own.Store(&own)
	return in, p.dismiss(ctx)
}

// accounts returns the accounts that have connected. The caller may append to it.
func (p *Components) accounts() []adapters.BotAccount {
	if own := p.own.Load(); own != nil {
		return slices.Clip(*own)
	}
	return nil
}

// reception opens the configured rooms that have chats on an account and says
// who may talk there. p.opening is held.
func (p *Components) reception(ctx context.Context, name, account string) (activity.IngressOptions, error) {
	c := p.Config()
	named := map[spaces.SpaceID][]spaces.AgentID{}
	for _, s := range c.Spaces {
		if s.Misconfigured {
			continue
		}
		o, ok := p.form(s, account, name)
		if !ok {
			continue
		}
		placed, err := p.mapping.Open(ctx, o)
		if err != nil {
			return activity.IngressOptions{}, fmt.Errorf("open space %s: %w", s.Key, err)
		}
		p.remember(placed.Space, s.Key)
		named[placed.Space] = o.Agents
	}
	if err := p.appoint(ctx, name, account); err != nil {
		return activity.IngressOptions{}, err
	}
	dealt, err := p.border.DealtUntil(ctx)
	if err != nil {
		return activity.IngressOptions{}, err
	}
	return activity.IngressOptions{
		Admit: access.AdmissionMode(c.AdmitFor(name)), Named: named, Servers: p.servers(name),
		Room: spaces.RoomDefaults{Agents: p.running(c.DefaultAgents), Wake: c.SettingsFor("", "").Wake},
		Name: name, Allow: senders(c.PeopleOnAccount(c.Allow, name)), SenderPerMinute: c.SenderLimit(),
		RestoredUntil: dealt, Files: p.fetches(name), Commands: p.attendant(), Operators: p.operators(name), Ours: p.accounts, Notify: p.ringFor(name),
		OfServer: func(ctx context.Context, group string, s spaces.SpaceID) error {
			return p.ofServer(ctx, s, name+":"+group)
		}, Logger: p.Log.With("adapter", name),
	}, nil
}

// form is how a configured space is opened, with its chats on one account; false
// when it has none there.
func (p *Components) form(s config.SpaceEntry, account, adapter string) (spaces.OpenRequest, bool) {
	o := spaces.OpenRequest{
		Key: s.Key, Name: s.Name, Circle: spaces.CircleID(s.Circle), Wake: p.Config().SettingsFor("", s.Key).Wake,
		Agents: p.running(s.Agents), At: time.Now(),
	}
	for _, c := range s.Chats {
		if c.Adapter == adapter {
			o.Chats = append(o.Chats, spaces.ChatMapping{Account: account, Chat: c.Chat, Relay: s.Relay, Live: true})
		}
	}
	return o, len(o.Chats) > 0
}

// running returns those of the named agents that can run.
func (p *Components) running(names []string) []spaces.AgentID {
	var ids []spaces.AgentID
	for _, name := range names {
		if _, ok := p.Config().Agent(name); ok {
			ids = append(ids, spaces.AgentID(name))
		}
	}
	return ids
}

// servers returns the forms of an adapter's servers by the platform's id.
func (p *Components) servers(adapter string) map[string]spaces.RoomDefaults {
	forms := map[string]spaces.RoomDefaults{}
	for _, s := range p.Config().Servers {
		on, id, _ := strings.Cut(s.Key, ":")
		if on == adapter && !s.Misconfigured {
			forms[id] = spaces.RoomDefaults{
				Circle: spaces.CircleID(s.Circle), Wake: p.Config().SettingsFor("", s.Key).Wake, Agents: p.running(s.Agents),
			}
		}
	}
	return forms
}
