package discord

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/trestle-bridge/trestle/adapters"
)

// A deferredEvent event is one that could not be read when it came, because Discord did not
// answer what it takes. It is read as soon as Discord does, and what happens
// elsewhere does not wait for it.
type deferredEvent struct {
	Kind string `json:"t"`
	// About names whom or what it is about: events about the same are read in order.
	About   string          `json:"a"`
	Shard   int             `json:"h,omitempty"`
	Session string          `json:"s"`
	Seq     int64           `json:"q"`
	Raw     json.RawMessage `json:"d"`
}

// maxLate bounds the late events. What comes beyond them is not taken: the
// connection ends, and Discord tells it once more.
const maxLate = 256

// reckoning is our own kind of event: who sees the chats of a server is to be reckoned.
const reckoning = "reckoning"

// errBehind is why an event waits for an earlier one about the same.
var errBehind = errors.New("an earlier event about the same waits")

// aboutOf names whom or what an event is about, if it can be late.
func aboutOf(e event) string {
	var said struct {
		ID      string `json:"id"`
		GuildID string `json:"guild_id"`
		User    struct {
			ID string `json:"id"`
		} `json:"user"`
	}
	_ = json.Unmarshal(e.RawData, &said) // the decoder of the event reports what is wrong with it
	switch e.Type {
	case "GUILD_MEMBER_ADD", "GUILD_MEMBER_REMOVE", "GUILD_MEMBER_UPDATE":
		return "member " + said.GuildID + " " + said.User.ID
	case reckoning:
		return "server " + said.GuildID
	}
	return "event " + said.ID
}

// readOther reads an event that is not about messages, or puts it off.
func (r *receiver) readOther(ctx context.Context, e event) ([]adapters.Update, error) {
	switch e.Type {
	case "GUILD_MEMBER_ADD", "GUILD_MEMBER_REMOVE", "GUILD_MEMBER_UPDATE", "THREAD_MEMBERS_UPDATE", "INTERACTION_CREATE":
	default:
		return r.read(ctx, e) // what it takes is owed by itself
	}
	why := errBehind
	if about := aboutOf(e); !slices.ContainsFunc(r.at.Late, func(l deferredEvent) bool { return l.About == about }) {
		asking, cancel := r.boundedContext(ctx)
		defer cancel()
		updates, err := r.read(asking, e)
		if err == nil || ctx.Err() != nil {
			return updates, err
		}
		why = err
	}
	return nil, r.deferEvent(e, why)
}

// boundedContext bounds what may be asked for one event: nothing that is not known already
// while Discord is in trouble.
func (r *receiver) boundedContext(ctx context.Context) (context.Context, context.CancelFunc) {
	if r.inTrouble() {
		return context.WithTimeoutCause(ctx, 0, errOwed)
	}
	return context.WithTimeout(ctx, patience)
}

// deferEvent keeps an event until Discord answers; of the same reckoning one is enough.
func (r *receiver) deferEvent(e event, why error) error {
	about := aboutOf(e)
	if e.Type == reckoning && slices.ContainsFunc(r.at.Late, func(l deferredEvent) bool { return l.About == about }) {
		return nil
	}
	if len(r.at.Late) >= maxLate {
		return why
	}
	r.client.log.Warn("discord does not answer, reading the event later", "kind", e.Type, "about", about, "error", why)
	r.at.Late = append(r.at.Late, deferredEvent{e.Type, about, e.shard, e.session.ID, e.session.Seq, e.RawData})
	if !errors.Is(why, errBehind) {
		r.unanswered(true)
	}
	r.stored = time.Time{}
	return nil
}

// unseenLater is unseen for those who cannot wait: when Discord does not answer, who
// sees the server's chats is reckoned as soon as it does.
func (r *receiver) unseenLater(ctx context.Context, e event, guild string, wanted func(channel) bool) ([]adapters.Update, error) {
	asking, cancel := r.boundedContext(ctx)
	defer cancel()
	updates, err := r.unseen(asking, e, guild, wanted)
	if err == nil || ctx.Err() != nil {
		return updates, err
	}
	raw, _ := json.Marshal(map[string]string{"guild_id": guild}) // two words marshal
	e.Event = discordgo.Event{Operation: opDispatch, Type: reckoning, RawData: raw}
	return nil, r.deferEvent(e, err)
}

// firstDeferred returns the late event to be read next: of what was asked for the longest
// ago, the first.
func (r *receiver) firstDeferred() (deferredEvent, bool) {
	if len(r.at.Late) == 0 {
		return deferredEvent{}, false
	}
	return slices.MinFunc(r.at.Late, func(a, b deferredEvent) int { return r.owed.asked[a.About].Compare(r.owed.asked[b.About]) }), true
}

// retryDeferred reads a late event, if Discord answers by now.
func (r *receiver) retryDeferred(ctx context.Context, l deferredEvent) error {
	e := event{Event: discordgo.Event{Operation: opDispatch, Type: l.Kind, RawData: l.Raw}, shard: l.Shard, session: session{ID: l.Session, Seq: l.Seq}}
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	updates, err := r.read(asking, e)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil && adapters.KindOf(err).Permanent():
		updates = r.unreadable(l.Kind, l.Raw, err.Error())
	case err != nil:
		r.client.log.Warn("discord still does not answer", "kind", l.Kind, "about", l.About, "error", err)
		r.unanswered(false)
		return nil
	}
	r.at.Late = slices.DeleteFunc(r.at.Late, func(other deferredEvent) bool {
		return other.About == l.About && other.Session == l.Session && other.Seq == l.Seq
	})
	r.settled(l.About)
	return r.record(ctx, updates)
}
