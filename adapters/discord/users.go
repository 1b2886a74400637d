package discord

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

// briefly is how long what comes behind an event may wait to learn who a person is.
const briefly = 2 * time.Second

// userByID returns the user of an event that has the id alone. Whether it is a bot
// decides whether its messages are admitted: where that is not known yet, Discord is
// asked once, and when it does not answer, no user is looked up for a while. The name
// is left to events that have it.
func (r *receiver) userByID(ctx context.Context, id string) adapters.Person {
	p := adapters.Person{ID: id}
	kind, met := r.client.known.met(id)
	if id == "" || met || time.Since(r.unsaid) < firstDunning {
		p.Kind = kind
		return p
	}
	ctx, cancel := context.WithTimeout(ctx, briefly)
	defer cancel()
	var u user
	err := r.client.call(ctx, route{op: "get user", method: http.MethodGet, path: "/users/" + url.PathEscape(id)}, nil, leniently(&u))
	if err != nil && !adapters.KindOf(err).Permanent() {
		r.client.log.Warn("discord does not say who somebody is", "user", id, "error", err)
		r.unsaid = time.Now()
		return p
	}
	if err == nil && u.ID == id {
		p.Kind = u.person("").Kind
	}
	r.client.known.meet(p)
	return p
}

// picture is the hash of a user's picture; empty for those who chose none.
type picture string

var pictureHash = regexp.MustCompile(`^(a_)?[0-9a-f]{32}$`)

// UnmarshalJSON reads a hash; anything else is none, and spoils nothing.
func (p *picture) UnmarshalJSON(raw []byte) error {
	var hash string
	if json.Unmarshal(raw, &hash) != nil || !pictureHash.MatchString(hash) {
		hash = ""
	}
	*p = picture(hash)
	return nil
}

// of returns where everybody finds the picture of the user with that id
// (docs.discord.com/developers/reference, "Image Formatting").
func (p picture) of(user string) string {
	if p == "" || flake(user) == 0 {
		return ""
	}
	return "https://cdn.discordapp.com/avatars/" + user + "/" + string(p) + ".png?size=128"
}
