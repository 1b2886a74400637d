package slack

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// An AppProfile says what an app is.
type AppProfile struct {
	Name          string `json:"name"`
	Handle        string `json:"handle"`    // its bot user's name. Default: the name in lower case
	BotToken      string `json:"bot_token"` // xoxb-…
	AppToken      string `json:"app_token"` // xapp-…; empty: no Socket Mode
	SigningSecret string `json:"signing_secret"`
	// EventsURL is where the app is called. Empty: its events go to its sockets.
	EventsURL string `json:"events_url"`
	// Scopes are those of the bot token. Default: all.
	Scopes []string `json:"scopes"`
	// Events are those that the app is subscribed to, such as message.channels.
	// Default: all.
	Events []string `json:"events"`
	// Agent declares the app an agent: it has sessions, which people can stop. Default: false.
	Agent bool `json:"agent"`
	// AssistantView gives an agent the older form of direct chats: people begin threads in
	// them. Default: each message begins a thread.
	AssistantView bool `json:"assistant_view"`
	// NoMessages closes the Messages tab of its App Home: the app cannot answer in direct
	// chats. Default: false.
	NoMessages bool `json:"no_messages"`
}

// An UserProfile says who a person is.
type UserProfile struct {
	Name   string `json:"name"`
	Handle string `json:"handle"` // Default: the name in lower case
	Team   string `json:"team"`   // of a guest over Slack Connect. Default: the workspace
	ID     string `json:"id"`     // Default: one of the workspace's own minting
	Image  string `json:"image"`  // the address of their picture. Default: none
}

// A HumanUser is a person in the workspace.
type HumanUser struct {
	of      *Server
	profile UserProfile // guarded by of.mu
	// ID is the user's id.
	ID    string
	isBot bool
	gone  bool // guarded by of.mu
}

// AddApp installs an app.
func (s *Server) AddApp(profile AppProfile) *WorkspaceApp {
	if profile.Handle == "" {
		profile.Handle = strings.ToLower(profile.Name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a := &WorkspaceApp{
		of: s, profile: profile, ID: s.id("A"), BotID: s.id("B"),
		user:   &HumanUser{of: s, profile: UserProfile{Name: profile.Name, Handle: profile.Handle, Team: s.o.Team}, ID: s.id("U"), isBot: true},
		direct: map[string]*WorkspaceChannel{}, homes: map[string]json.RawMessage{}, status: map[string]string{}, sessions: map[string]string{}, titles: map[string]string{},
		prompts: map[string]SuggestedPrompts{}, looks: map[string]string{}, sent: map[string]*envelope{},
	}
	s.people[a.user.ID] = a.user
	s.apps = append(s.apps, a)
	return a
}

// AddPerson adds a person. No app is told.
func (s *Server) AddPerson(profile UserProfile) *HumanUser {
	if profile.Handle == "" {
		profile.Handle = strings.ToLower(strings.ReplaceAll(profile.Name, " ", "."))
	}
	if profile.Team == "" {
		profile.Team = s.o.Team
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &HumanUser{of: s, profile: profile, ID: profile.ID}
	if p.ID == "" {
		p.ID = s.id("U")
	}
	s.people[p.ID] = p
	return p
}

// Renames gives the person another name and tells the apps.
func (p *HumanUser) Renames(name string) {
	s := p.of
	s.mu.Lock()
	defer s.mu.Unlock()
	p.profile.Name = name
	for _, a := range s.apps {
		a.emit(map[string]any{"type": "user_change", "user": p.wire(), "event_ts": s.ts()}, "", "")
	}
}

// Deactivated takes the person's account away: they are in no channel any more, and
// that alone is told.
func (p *HumanUser) Deactivated() {
	s := p.of
	s.mu.Lock()
	defer s.mu.Unlock()
	p.gone = true
	for _, c := range s.channels {
		delete(c.members, p.ID)
	}
	for _, a := range s.apps {
		a.emit(map[string]any{"type": "user_change", "user": p.wire(), "event_ts": s.ts()}, "", "")
	}
}

// wire is the person as the API shows them. mu is held.
func (p *HumanUser) wire() map[string]any {
	return map[string]any{
		"id": p.ID, "team_id": p.profile.Team, "name": p.profile.Handle, "real_name": p.profile.Name, "deleted": p.gone,
		"is_bot": p.isBot, "is_stranger": p.profile.Team != p.of.o.Team, "updated": 1700000000,
		"profile": map[string]any{"display_name": p.profile.Name, "real_name": p.profile.Name, "team": p.profile.Team, "image_72": p.profile.Image},
	}
}

// The kinds of channel, as channel_type says them.
const (
	public  = "channel"
	private = "group"
	im      = "im"
	mpim    = "mpim"
)

// A WorkspaceChannel is one conversation.
type WorkspaceChannel struct {
	of *Server
	// ID is the channel's id.
	ID   string
	kind string

	// guarded by of.mu
	name     string
	created  int64
	archived bool
	members  map[string]bool    // user ids
	messages []*message         // oldest first, deleted ones too
	whispers []EphemeralMessage // oldest first
	presses  []*ButtonPress     // oldest first
}

// NewChannel opens a public channel.
func (s *Server) NewChannel(name string, people ...*HumanUser) *WorkspaceChannel {
	return s.open("C", public, name, people)
}

// NewPrivate opens a private channel.
func (s *Server) NewPrivate(name string, people ...*HumanUser) *WorkspaceChannel {
	return s.open("C", private, name, people)
}

// NewGroup opens a direct chat of several people and the app.
func (s *Server) NewGroup(a *WorkspaceApp, people ...*HumanUser) *WorkspaceChannel {
	var names []string
	for _, p := range people {
		names = append(names, p.profile.Handle)
	}
	return s.open("C", mpim, "mpdm-"+strings.Join(names, "--")+"-1", append(people, a.user))
}

func (s *Server) open(sort, kind, name string, people []*HumanUser) *WorkspaceChannel {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.openLocked(sort, kind, name, people)
}

func (s *Server) openLocked(sort, kind, name string, people []*HumanUser) *WorkspaceChannel {
	c := &WorkspaceChannel{of: s, ID: s.id(sort), kind: kind, name: name, members: map[string]bool{}}
	c.created = s.now()
	for _, p := range people {
		c.members[p.ID] = true
	}
	s.channels[c.ID] = c
	s.order = append(s.order, c)
	return c
}

// now is the time in seconds. mu is held.
func (s *Server) now() int64 { _ = s.ts(); return s.lastTS / 1_000_000 }

// Channel returns the channel with that id.
func (s *Server) Channel(id string) (*WorkspaceChannel, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.channels[id]
	return c, ok
}

// wire is the channel as the API shows it to an app. mu is held.
func (c *WorkspaceChannel) wire(a *WorkspaceApp) map[string]any {
	w := map[string]any{
		"id": c.ID, "name": c.name, "created": c.created, "is_archived": c.archived,
		"is_channel": c.kind == public, "is_group": c.kind == private, "is_im": c.kind == im, "is_mpim": c.kind == mpim,
		"is_private": c.kind != public, "is_member": c.members[a.user.ID], "num_members": len(c.members),
	}
	if c.kind == im {
		delete(w, "name")
		for id := range c.members {
			if id != a.user.ID {
				w["user"] = id
			}
		}
	}
	return w
}

// apps returns the apps that are in the channel. mu is held.
func (c *WorkspaceChannel) apps() []*WorkspaceApp {
	var in []*WorkspaceApp
	for _, a := range c.of.apps {
		if c.members[a.user.ID] {
			in = append(in, a)
		}
	}
	return in
}

// tell emits an event of the channel to the apps in it. mu is held.
func (c *WorkspaceChannel) tell(event map[string]any, ts string) {
	for _, a := range c.apps() {
		a.emit(maps.Clone(event), c.ID, ts)
	}
}

// A WorkspaceApp is one app with its bot user, its sockets and what is to be delivered.
type WorkspaceApp struct {
	of *Server
	// ID and BotID are the app's own id and that of its bot.
	ID, BotID string
	user      *HumanUser
	profile   AppProfile

	// guarded by of.mu
	revoked  bool
	sockets  []*socket
	pending  []*envelope          // in order, not acknowledged
	last     []*envelope          // the last ones that were acknowledged
	sent     map[string]*envelope // those under way, by the envelopes' ids
	drops    bool                 // nothing is delivered, and nothing kept
	disorder int
	direct   map[string]*WorkspaceChannel // by user
	homes    map[string]json.RawMessage
	status   map[string]string           // by channel/thread
	sessions map[string]string           // the same of agent sessions
	titles   map[string]string           // and their titles
	prompts  map[string]SuggestedPrompts // by channel, with the assistant view by channel/thread
	looks    map[string]string           // what people look at, by user
}

// User returns the id of the app's bot user.
func (a *WorkspaceApp) User() string { return a.user.ID }

// Direct returns the direct chat of the app and a person.
func (a *WorkspaceApp) Direct(p *HumanUser) *WorkspaceChannel {
	s := a.of
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := a.direct[p.ID]; c != nil {
		return c
	}
	c := s.openLocked("D", im, "", []*HumanUser{p, a.user})
	a.direct[p.ID] = c
	return c
}

// Home returns the App Home that the app published for a person.
func (a *WorkspaceApp) Home(p *HumanUser) json.RawMessage {
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	return a.homes[p.ID]
}

// OpensHome has a person open the app's Home.
func (a *WorkspaceApp) OpensHome(p *HumanUser) {
	s := a.of
	s.mu.Lock()
	defer s.mu.Unlock()
	a.emit(map[string]any{"type": "app_home_opened", "user": p.ID, "tab": "home", "event_ts": s.ts()}, "", "")
}

// Status returns the status that the app shows under a thread.
func (a *WorkspaceApp) Status(channel, thread string) string {
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	return a.status[channel+"/"+thread]
}

// Revoke makes the app's tokens worthless and ends its sockets.
func (a *WorkspaceApp) Revoke() {
	s := a.of
	s.mu.Lock()
	a.revoked = true
	s.mu.Unlock()
	a.Sever()
}

// AwaitSent waits until the apps have sent at least n messages to the channel.
func (c *WorkspaceChannel) AwaitSent(ctx context.Context, n int) ([]SentMessage, error) {
	for {
		c.of.mu.Lock()
		changed := c.of.changed
		c.of.mu.Unlock()
		if sent := c.Sent(); len(sent) >= n {
			return sent, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return c.Sent(), context.Cause(ctx)
		}
	}
}

// find returns the message with that ts which is still there. mu is held.
func (c *WorkspaceChannel) find(ts string) *message {
	i := slices.IndexFunc(c.messages, func(m *message) bool { return m.ts == ts && !m.deleted })
	if i < 0 {
		return nil
	}
	return c.messages[i]
}
