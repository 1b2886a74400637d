package server

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/activity/access"
	chatcommands "github.com/trestle-bridge/trestle/activity/commands"
	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/history"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// commandHandler returns the handler of chat commands.
func (am *AccountManager) commandHandler() *chatcommands.CommandHandler {
	return &chatcommands.CommandHandler{
		Roles: am.border, Runs: runControl{am.connectionSet}, Rooms: am.border, Zones: am.border, Approvals: am.Store.Shell(), Missions: missionControl{am.connectionSet}, Platforms: am.platforms, Ack: am.acknowledge,
		Pairings: pairingDesk{&accessManager{am}},
		Memories: memoryDesk{am},
		Links:    &chatcommands.AccountLinks{Store: am.Store.Links(), Notices: am.border, NewCode: access.NewLinkCode},
		Modes: func(ctx context.Context, agent spaces.AgentID, space spaces.SpaceID) (m chatcommands.AgentMode, err error) {
			m.Wake, m.Every, err = am.shell.WakesBy(ctx, agent, space)
			return m, err
		},
		Name: func(id spaces.AgentID) string {
			a, _ := am.Config().Agent(string(id))
			return a.Name
		},
		Currency: func() string { return am.Config().SettingsFor("", "").Price.Currency },
	}
}

// runControl stops, mutes and restarts agents for chat commands.
type runControl struct{ *connectionSet }

// Halt stops runs of agents.
func (r runControl) Halt(ctx context.Context, h spaces.StopRequest) (spaces.StopResult, error) {
	defer r.notifyOutbox()
	done, err := r.shell.Cancel(ctx, h)
	for _, l := range r.conns.all() {
		if out := l.Egress(); out != nil {
			out.StopRuns(done.Runs)
		}
	}
	return done, err
}

// Renew begins new conversations with the agents of a room.
func (r runControl) Renew(ctx context.Context, space spaces.SpaceID, at time.Time) error {
	return r.Store.Shell().Renew(ctx, space, at)
}

// Mute mutes agents in a room, or unmutes them.
func (r runControl) Mute(ctx context.Context, m spaces.MuteRequest) ([]spaces.AgentID, error) {
	changed, err := r.Store.Shell().Mute(ctx, m)
	if err == nil {
		r.Log.Info("muted", "space", m.Space, "agents", changed, "lifted", m.Lifted)
	}
	return changed, err
}

// Compact has an agent shorten what it has in mind.
func (r runControl) Compact(ctx context.Context, agent spaces.AgentID, space spaces.SpaceID) (spaces.ContextCompacted, error) {
	done, err := r.shell.Compact(ctx, agent, space)
	if errors.Is(err, shell.ErrNotHere) {
		err = chatcommands.ErrBusy
	}
	return done, err
}

// missionControl reads and steps missions for chat commands.
type missionControl struct{ *connectionSet }

// MissionsIn returns missions of a space.
func (c missionControl) MissionsIn(ctx context.Context, space spaces.SpaceID, since time.Time) ([]spaces.Mission, error) {
	return c.Store.Shell().MissionsIn(ctx, space, since)
}

// StepMission does a step to a mission, and has its new timers looked at.
func (c missionControl) StepMission(ctx context.Context, step spaces.MissionStep) (*spaces.Mission, bool, error) {
	defer c.notifyOutbox()
	return c.Store.Shell().StepMission(ctx, step)
}

// platforms returns the names of the connected platforms, as people call them.
func (cs *connectionSet) platforms() []string {
	var on []string
	for _, name := range []string{"telegram", "slack", "discord"} {
		for _, l := range cs.conns.all() {
			if s := l.Status(); s.State == activity.ConnConnected && strings.HasPrefix(s.Account, name+":") {
				on = append(on, strings.ToUpper(name[:1])+name[1:])
				break
			}
		}
	}
	return on
}

// grantRoles stores the roles that the configuration gives people on the platform of an
// account.
func (am *AccountManager) grantRoles(ctx context.Context, adapter, account string) error {
	c := am.Config()
	platform, _, _ := strings.Cut(account, ":")
	var all []spaces.RoleGrant
	for _, list := range []struct {
		who  []config.PersonRef
		role spaces.AuthorityLevel
	}{{c.Owners, spaces.OfOwner}, {c.Admins, spaces.OfAdmin}} {
		for _, s := range history.Senders(c.PeopleOnAccount(list.who, adapter)) {
			who := spaces.PlatformIdentity{Platform: platform, Scope: s.Scope, User: s.User}
			all = append(all, spaces.RoleGrant{Who: who, Role: list.role})
		}
	}
	return am.border.Appoint(ctx, platform, all)
}

// setZones stores the time zones that the configuration gives people on the platform of an
// account.
func (am *AccountManager) setZones(ctx context.Context, adapter, account string) error {
	c := am.Config()
	platform, _, _ := strings.Cut(account, ":")
	for _, p := range c.People {
		if p.Timezone == "" {
			continue
		}
		for _, s := range history.Senders(c.PeopleOnAccount(p.Accounts, adapter)) {
			who := spaces.PlatformIdentity{Platform: platform, Scope: s.Scope, User: s.User}
			if err := am.border.SetZone(ctx, who, p.Timezone, spaces.ZoneOfConfig); err != nil {
				return err
			}
		}
	}
	return nil
}

// identityLookup returns the identities on the platform of an account of people who are known
// on other platforms.
func (am *AccountManager) identityLookup(adapter, platform string) activity.IdentityLookup {
	return func(i spaces.PlatformIdentity) (spaces.PlatformIdentity, bool) {
		who, ok := am.Config().LinkedAccount(i.Platform, i.Scope, i.User, adapter)
		return spaces.PlatformIdentity{Platform: platform, Scope: who.Scope, User: who.User}, ok
	}
}

// samePerson returns the other entities that are the same person as one: those that the
// configuration or the person says are. A program is no person.
func (am *AccountManager) samePerson(ctx context.Context, who spaces.EntityID) ([]spaces.EntityID, error) {
	links, shell, c := am.Store.Links(), am.Store.Shell(), am.Config()
	all := []spaces.EntityID{who}
	add := func(found ...spaces.EntityID) {
		for _, id := range found {
			if id != "" && len(all) < maxIdentities && !slices.Contains(all, id) {
				all = append(all, id)
			}
		}
	}
	for i := 0; i < len(all); i++ {
		linked, err := links.LinkedTo(ctx, all[i])
		if err != nil {
			return nil, err
		}
		add(linked...)
		if len(c.People) == 0 {
			continue
		}
		known, err := links.Identities(ctx, all[i])
		if err != nil {
			return nil, err
		}
		for _, k := range known {
			for _, other := range c.AccountsOf(k) {
				id, err := shell.PersonOf(ctx, other)
				if err != nil {
					return nil, err
				}
				add(id)
			}
		}
	}
	if len(all) == 1 {
		return nil, nil
	}
	kinds, err := shell.Entities(ctx, all)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all[1:], func(id spaces.EntityID) bool { return kinds[id].Kind != spaces.Human }), nil
}

// maxIdentities is how many entities one person may be.
const maxIdentities = 8

// The menu is set again a few times where the platform is out of reach.
const (
	menuTries = 5
	menuPause = 30 * time.Second
)

// registerCommands registers the commands with the platform, which offers them to people who
// type. It waits for the connection; a failure is ignored.
func (am *AccountManager) registerCommands(ctx context.Context, l *accountConn) error {
	menu, ok := l.adapter.(adapters.CommandMenu)
	if !ok {
		return nil
	}
	select {
	case <-ctx.Done():
		return nil
	case <-l.Joined():
	}
	for range menuTries {
		err := menu.Commands(ctx, chatcommands.CommandMenu())
		if err == nil || ctx.Err() != nil {
			return nil
		}
		am.Log.Warn("menu of commands not set", "adapter", l.name, "error", err)
		if adapters.KindOf(err).Permanent() {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(menuPause):
		}
	}
	return nil
}
