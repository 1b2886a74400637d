package slack

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/emoji"
)

// A reader turns what Slack sends into updates.
type reader struct {
	c    *Client
	self self
}

// quiet are the kinds of events that tell nothing of a conversation, or what
// another event tells as well: they are acknowledged and leave no trace.
var quiet = strings.Fields(`
	agent_session_title_changed app_installed app_requested app_uninstalled app_uninstalled_team assistant_thread_context_changed assistant_thread_started
	call_rejected channel_created channel_history_changed channel_shared channel_unshared dnd_updated dnd_updated_user
	email_domain_changed emoji_changed file_change file_comment_added file_comment_deleted file_comment_edited file_created
	file_deleted file_public file_shared file_unshared function_executed goodbye grid_migration_finished grid_migration_started
	group_close group_history_changed group_open hello im_close im_created im_history_changed im_open invite_requested
	link_shared message_metadata_deleted message_metadata_posted message_metadata_updated resources_added resources_removed
	scope_denied scope_granted shared_channel_invite_accepted shared_channel_invite_approved shared_channel_invite_declined
	shared_channel_invite_received shared_channel_invite_requested star_added star_removed subteam_created
	subteam_members_changed subteam_self_added subteam_self_removed subteam_updated team_access_granted team_access_revoked
	team_domain_change team_rename tokens_revoked user_huddle_changed user_resource_denied user_resource_granted
	user_resource_removed workflow_deleted workflow_published workflow_step_deleted workflow_step_execute
	workflow_unpublished`)

// read returns the updates that a delivery holds; none when it tells nothing. It
// is total: what cannot be read, or panics, comes back as unreadable with the raw bytes.
func (r reader) read(ctx context.Context, d *delivery) []adapters.Update {
	return r.guarded(d.id, d.kind, d.payload, func() []adapters.Update { return r.readKind(ctx, d) })
}

// guarded calls read, which reads raw, and returns its result; raw as unreadable if it panics.
func (r reader) guarded(id, kind string, raw []byte, read func() []adapters.Update) []adapters.Update {
	updates, _ := adapters.ReadGuarded(r.c.log, kind, raw, func() ([]adapters.Update, error) { return read(), nil }) // reading has no other errors
	for i, u := range updates {
		updates[i].Common = isCommon(u)
		if bad, ok := u.Body.(adapters.UnreadableUpdate); ok && bad.Panicked {
			updates[i].ID, updates[i].Raw = id, withoutCredentials(raw)
		}
	}
	return updates
}

// isCommon reports whether every app in the channel gives the update the same key. The key
// of a message is made of its channel and time, which Slack sends to all apps alike. A
// command goes to one app alone, and so do changes of an app's own membership.
func isCommon(u adapters.Update) bool {
	if u.Chat.ID == "" || u.Chat.Kind == adapters.Direct {
		return false
	}
	switch b := u.Body.(type) {
	case adapters.IncomingMessage:
		return b.Command == nil || !strings.HasPrefix(b.ID, commandID)
	case adapters.MessageEdit, adapters.MessageDeletion, adapters.ReactionChange, adapters.ReactionsCleared, adapters.PeopleJoined, adapters.PeopleLeft,
		adapters.ChatRenamed, adapters.MessagePinned, adapters.MessageUnpinned:
		return true
	case adapters.ChatMigrated, adapters.ChatGained, adapters.ChatLost, adapters.UpdateGap, adapters.UnreadableUpdate, adapters.ChoicePicked:
	}
	return false
}

// readKind reads a delivery by its kind.
func (r reader) readKind(ctx context.Context, d *delivery) []adapters.Update {
	switch d.kind {
	case "events_api":
	case "slash_commands":
		return r.command(ctx, d)
	case "interactive":
		return r.press(ctx, d)
	default:
		return []adapters.Update{r.unreadable(d, d.kind, "a kind of envelope we do not read", nil)}
	}
	var cb callback
	if err := json.Unmarshal(d.payload, &cb); err != nil {
		return []adapters.Update{r.unreadable(d, d.kind, err.Error(), nil)}
	}
	if r.elsewhere(cb) {
		r.c.log.Warn("event of another workspace left aside", "update", d.id, "team", cmp.Or(cb.Context, cb.Team))
		return nil
	}
	if cb.Type == "app_rate_limited" {
		return []adapters.Update{rateLimited(d.id, cb.Limited)}
	}
	var e event
	if err := json.Unmarshal(cb.Event, &e); err != nil {
		return []adapters.Update{r.unreadable(d, "", err.Error(), cb.Event)}
	}
	updates, err := r.event(ctx, e, cb.Event)
	if err != nil {
		return []adapters.Update{r.unreadable(d, e.Type, err.Error(), cb.Event)}
	}
	for i := range updates {
		updates[i].ID = d.id
	}
	return updates
}

// elsewhere reports whether an event is none of our workspace's: an app that is
// installed in several brings those of all of them by any of its sockets. What
// happens in a channel that is shared with others may name their team first.
func (r reader) elsewhere(cb callback) bool {
	teams := []string{cb.Team, cb.Context}
	for _, a := range cb.Authorizations {
		if a.Enterprise {
			return false
		}
		teams = append(teams, a.Team)
	}
	named := strings.Join(teams, "") != ""
	return named && r.self.Team != "" && !slices.Contains(teams, r.self.Team)
}

// event calls the reader for the event's kind.
func (r reader) event(ctx context.Context, e event, raw json.RawMessage) ([]adapters.Update, error) {
	if e.ChannelType == "im" || e.Type != "message" {
		r.c.agent.noteEvent(e)
	}
	switch e.Type {
	case "message":
		updates, err := r.message(ctx, raw)
		r.c.noteSubscribed(updates)
		return updates, err
	case "app_mention": // of an app that is not told the rest
		return r.message(ctx, raw)
	case "reaction_added", "reaction_removed":
		return r.reaction(ctx, e)
	case "member_joined_channel", "member_left_channel":
		return r.member(ctx, e)
	case "channel_rename", "group_rename":
		return r.renamed(ctx, e)
	case "channel_archive", "group_archive", "channel_deleted", "group_deleted", "channel_left", "group_left",
		"channel_unarchive", "group_unarchive":
		return r.standing(ctx, e)
	case "channel_id_changed":
		return r.migrated(e)
	case "pin_added", "pin_removed":
		return r.pin(ctx, e)
	case "user_change", "user_profile_changed", "user_status_changed", "team_join":
		return r.person(ctx, e)
	case "agent_session_stopped":
		return r.stopped(ctx, e)
	case "app_rate_limited":
		return []adapters.Update{rateLimited("", e.Limited)}, nil
	case "app_home_opened", "app_context_changed": // the dispatcher answers the one, the other tells the form of direct chats
		return nil, nil
	}
	if slices.Contains(quiet, e.Type) {
		r.c.log.Debug("event tells nothing of a conversation", "kind", e.Type)
		return nil, nil
	}
	return nil, fmt.Errorf("a kind of event we do not read")
}

// unreadable keeps what could not be read, in its chat if that much can be told.
func (r reader) unreadable(d *delivery, kind, reason string, inner json.RawMessage) adapters.Update {
	u := adapters.Update{
		ID: d.id, Key: adapters.RawKey(d.payload), Raw: withoutCredentials(d.payload),
		Body: adapters.UnreadableUpdate{Kind: kind, Reason: reason},
	}
	var where struct {
		Channel string `json:"channel"`
		At      string `json:"event_ts"`
	}
	if json.Unmarshal(inner, &where) == nil && where.Channel != "" {
		u.Chat, u.At = r.c.names.known(where.Channel, r.self.Team), timeOf(where.At)
	}
	r.c.log.Warn("update not readable", "update", d.id, "kind", kind, "reason", reason)
	return u
}

// withoutCredentials returns a payload, or a frame around one, without the token that is
// the old way to prove where it comes from, and without the address by which anybody
// could answer it. What is no object is returned as it is.
func withoutCredentials(raw []byte) []byte {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || fields == nil {
		return raw
	}
	delete(fields, "token")
	delete(fields, "response_url")
	if inner, framed := fields["payload"]; framed {
		fields["payload"] = withoutCredentials(inner)
	}
	out, err := json.Marshal(fields)
	if err != nil {
		panic("slack: a payload does not marshal: " + err.Error())
	}
	return out
}

// rateLimited says that Slack dropped a minute's events: 30,000 in an hour are
// too many for it (docs.slack.dev/apis/events-api, "Rate limiting").
func rateLimited(id string, minute int64) adapters.Update {
	from := time.Unix(minute, 0).UTC()
	return adapters.Update{
		ID: id, Key: fmt.Sprintf("limited:%d", minute), At: from,
		Body: adapters.UpdateGap{From: from, To: from.Add(time.Minute), Reason: "slack drops events above 30,000 an hour"},
	}
}

// reaction reads one emoji that a person put on a message or took away.
func (r reader) reaction(ctx context.Context, e event) ([]adapters.Update, error) {
	if e.Item.Type != "message" {
		return nil, nil // on a file
	}
	if e.Item.Channel == "" || e.Item.TS == "" {
		return nil, fmt.Errorf("it does not say on which message")
	}
	who := idOf(e.User)
	body := adapters.ReactionChange{Message: e.Item.TS}
	if e.Type == "reaction_added" {
		body.New = []string{emoji.Named(e.Reaction)}
	} else {
		body.Old = []string{emoji.Named(e.Reaction)}
	}
	return []adapters.Update{{
		Key:  eventKey(e.Type, e.Item.Channel, e.Item.TS, who, e.Reaction, e.At),
		Chat: r.c.names.chat(ctx, e.Item.Channel, e.ChannelType, r.self.Team),
		From: r.who(ctx, who, e.UserTeam), At: timeOf(e.At), Body: body,
	}}, nil
}

// stopped reads a press of Slack's own Stop in the session of a thread
// (docs.slack.dev/ai/agent-sessions).
func (r reader) stopped(ctx context.Context, e event) ([]adapters.Update, error) {
	on, who := idOf(e.Channel), idOf(e.User)
	if on == "" || e.Thread == "" || who == "" {
		return nil, fmt.Errorf("it does not say who stopped the session of which thread")
	}
	return []adapters.Update{{
		Key:  eventKey(e.Type, on, e.Thread, who, e.At),
		Chat: r.c.names.chat(ctx, on, "", r.self.Team), Thread: adapters.Thread{ID: e.Thread}, From: r.who(ctx, who, e.UserTeam), At: timeOf(e.At),
		Body: adapters.ChoicePicked{Stop: true, Message: e.Thread},
	}}, nil
}

// pin reads a message's being pinned or unpinned.
func (r reader) pin(ctx context.Context, e event) ([]adapters.Update, error) {
	on := cmp.Or(e.ChannelID, e.Item.Channel)
	if e.Item.Message.TS == "" {
		return nil, nil // a file
	}
	var body adapters.UpdateBody = adapters.MessagePinned{Message: e.Item.Message.TS}
	if e.Type == "pin_removed" {
		body = adapters.MessageUnpinned{Message: e.Item.Message.TS}
	}
	return []adapters.Update{{
		Key:  eventKey(e.Type, on, e.Item.Message.TS, e.At),
		Chat: r.c.names.chat(ctx, on, "", r.self.Team), From: r.who(ctx, idOf(e.User), ""), At: timeOf(e.At), Body: body,
	}}, nil
}

// idOf returns an id that may stand in a field by itself or inside a whole object.
func idOf(raw json.RawMessage) string {
	var id string
	if json.Unmarshal(raw, &id) == nil {
		return id
	}
	var whole struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(raw, &whole) == nil {
		return whole.ID
	}
	return ""
}

// who returns the person with that id; ourselves by the account's id.
func (r reader) who(ctx context.Context, id, team string) adapters.Person {
	switch id {
	case "":
		return adapters.Person{}
	case r.self.User, r.self.Bot:
		return r.us()
	}
	p := r.c.names.user(ctx, id)
	p.Scope = cmp.Or(p.Scope, team, r.self.Team)
	return p
}

func (r reader) us() adapters.Person {
	return adapters.Person{ID: r.self.account(), Scope: r.self.Team, Kind: adapters.Bot, Name: r.self.Name, Handle: r.self.Name}
}
