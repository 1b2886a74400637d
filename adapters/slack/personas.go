package slack

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
)

var _ adapters.PersonaSender = (*Client)(nil)

// customize is the scope without which the app has one face
// (docs.slack.dev/reference/scopes/chat.write.customize).
const customize = "chat:write.customize"

// scopesHeader lists the scopes of the token with every answer.
const scopesHeader = "X-OAuth-Scopes"

// SupportsPersona reports whether messages can have a face: everywhere, unless the bot token
// is known to lack the scope.
func (c *messageSender) SupportsPersona(string) bool { return !c.faceless.Load() }

// learnScopes notes whether the scopes of the bot token allow faces. A server that
// does not list them is believed.
func (c *messageSender) learnScopes(listed string) {
	c.faceless.Store(listed != "" && !slices.Contains(scopesIn(listed), customize))
}

func scopesIn(listed string) []string {
	return strings.FieldsFunc(listed, func(r rune) bool { return r == ',' || r == ' ' })
}

// masked returns p as it is sent: without its face where it can have none.
func (c *messageSender) masked(p adapters.OutgoingMessage) adapters.OutgoingMessage {
	if c.faceless.Load() {
		p.Text, p.Face = cmp.Or(p.Unmasked, p.Text), adapters.AgentPersona{}
	}
	return p
}

// EditAs replaces the words of message m: by text where messages have faces, which
// they keep, else by unmasked.
func (c *messageSender) EditAs(ctx context.Context, m adapters.MessageRef, text, unmasked string) error {
	if c.faceless.Load() {
		text = unmasked
	}
	return c.Edit(ctx, m, text)
}

// face sets who seems to speak.
func face(v url.Values, f adapters.AgentPersona) {
	if f.Name != "" {
		v.Set("username", f.Name)
	}
	switch {
	case strings.HasPrefix(f.Avatar, "https://"):
		v.Set("icon_url", f.Avatar)
	case strings.HasPrefix(f.Avatar, ":"):
		v.Set("icon_emoji", f.Avatar)
	}
}
