package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/bwmarrin/discordgo"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/httpx"
)

// unconnected returns a receiver of a bot that cannot reach Discord, on one server with a
// channel.
func unconnected(tb testing.TB) *receiver {
	tb.Helper()
	refuses := httpx.RoundTripFunc(func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") })
	c, err := New(Options{Token: "t", HTTPClient: &http.Client{Transport: refuses}})
	if err != nil {
		tb.Fatal(err)
	}
	self := account{user: user{ID: "9", Username: "ada"}, application: "9"}
	c.self.Store(&self)
	at, err := parsePosition(nil)
	if err != nil {
		tb.Fatal(err)
	}
	r := &receiver{client: c, self: self, at: at, shards: 1, told: visibilityChange{}, pending: map[string]bool{}}
	r.readFuzzed(tb, "GUILD_CREATE", []byte(guildSeed))
	return r
}

const guildSeed = `{"id":"1","name":"Family","owner_id":"2","channels":[{"id":"5","type":0,"name":"general","guild_id":"1"}],"roles":[{"id":"1","permissions":"8"}],"members":[{"user":{"id":"9","username":"ada"},"roles":[]}],"threads":[]}`

// readFuzzed reads one event without waiting for Discord.
func (r *receiver) readFuzzed(tb testing.TB, kind string, raw []byte) {
	tb.Helper()
	ctx, cancel := context.WithCancel(tb.Context())
	cancel()
	updates, _ := r.read(ctx, event{Event: discordgo.Event{Operation: opDispatch, Type: kind, RawData: raw}}) // Discord may be needed to place it
	for _, u := range updates {
		if u.Key == "" || u.Body == nil {
			tb.Errorf("%s %q gives %+v without a key or a body", kind, raw, u)
		}
		if bad, ok := u.Body.(adapters.UnreadableUpdate); ok && bad.Panicked {
			tb.Errorf("%s %q panics", kind, raw)
		}
	}
}

// eventSeeds are events as Discord sends them, by kind.
var eventSeeds = map[string]string{
	"GUILD_CREATE":                  guildSeed,
	"MESSAGE_CREATE":                `{"id":"100","channel_id":"5","guild_id":"1","type":0,"content":"**hi** <@9>","author":{"id":"2","username":"maya"},"mentions":[{"id":"9"}],"attachments":[{"id":"7","filename":"a.png","size":5,"content_type":"image/png"}],"embeds":[{"title":"t","fields":[{"name":"n","value":"v"}]}],"message_reference":{"message_id":"99","channel_id":"5"},"message_snapshots":[{"message":{"content":"x"}}],"poll":{"question":{"text":"q"},"answers":[{"poll_media":{"text":"a"}}]}}`,
	"MESSAGE_UPDATE":                `{"id":"100","channel_id":"5","content":"ho","author":{"id":"2"},"edited_timestamp":"2020-01-01T00:00:00Z"}`,
	"MESSAGE_DELETE_BULK":           `{"ids":["100","101"],"channel_id":"5","guild_id":"1"}`,
	"MESSAGE_REACTION_ADD":          `{"user_id":"2","channel_id":"5","message_id":"100","guild_id":"1","emoji":{"name":"👍"}}`,
	"MESSAGE_REACTION_REMOVE_ALL":   `{"channel_id":"5","message_id":"100","guild_id":"1"}`,
	"INTERACTION_CREATE":            `{"id":"100","type":2,"channel_id":"5","guild_id":"1","token":"x","data":{"name":"help","options":[{"name":"a","value":"b"}]},"member":{"user":{"id":"2","username":"maya"}}}`,
	"THREAD_CREATE":                 `{"id":"6","type":11,"parent_id":"5","guild_id":"1","name":"Food"}`,
	"THREAD_LIST_SYNC":              `{"guild_id":"1","threads":[{"id":"6","type":11,"parent_id":"5"}]}`,
	"CHANNEL_UPDATE":                `{"id":"5","type":0,"name":"talk","guild_id":"1","permission_overwrites":[{"id":"1","type":0,"allow":"0","deny":"1024"}]}`,
	"GUILD_MEMBER_ADD":              `{"guild_id":"1","user":{"id":"3","username":"kai"}}`,
	"GUILD_MEMBER_UPDATE":           `{"guild_id":"1","user":{"id":"9"},"roles":["1"]}`,
	"GUILD_ROLE_UPDATE":             `{"guild_id":"1","role":{"id":"1","permissions":"1024"}}`,
	"THREAD_MEMBERS_UPDATE":         `{"id":"6","guild_id":"1","added_members":[{"user_id":"2"}],"removed_member_ids":["3"]}`,
	"GUILD_DELETE":                  `{"id":"1","unavailable":true}`,
	"MESSAGE_REACTION_REMOVE_EMOJI": `null`,
	"":                              `"x"`,
}

// Events and interactions from outside are read, whatever they hold.
func FuzzEvent(f *testing.F) {
	for kind, raw := range eventSeeds {
		f.Add(kind, []byte(raw))
	}
	f.Fuzz(func(t *testing.T, kind string, raw []byte) {
		if !json.Valid(raw) {
			return // the gateway's frame as a whole would not have parsed
		}
		unconnected(t).readFuzzed(t, kind, raw)
	})
}

// History is read, whatever it holds.
func FuzzPastMessage(f *testing.F) {
	f.Add([]byte(`{"id":"100","channel_id":"5","type":0,"content":"hi","author":{"id":"2","username":"maya"}}`))
	f.Add([]byte(`{"id":"100","channel_id":"5","type":27,"content":"hi","author":{"id":"2"}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		updates, _ := unconnected(t).readPast(ctx, raw, "1") // Discord may be needed to place it
		for _, u := range updates {
			if bad, ok := u.Body.(adapters.UnreadableUpdate); ok && bad.Panicked {
				t.Errorf("%q panics", raw)
			}
		}
	})
}

// Notices that Discord writes are no words of the person they name as author.
func TestNoticesOfDiscordAreNoWords(t *testing.T) {
	for _, kind := range []int{12, 14, 15, 16, 17, 22, 24, 25, 26, 27, 28, 29, 31, 32, 36, 37, 38, 39, 44, 4711} {
		r := unconnected(t)
		m := message{}
		raw := fmt.Appendf(nil, `{"id":"100","channel_id":"5","guild_id":"1","type":%d,"content":"Release News #announcements","author":{"id":"2","username":"maya"}}`, kind)
		if err := adapters.DecodeFields(raw, &m, essential...); err != nil {
			t.Fatal(err)
		}
		updates, err := r.client.updatesOf(t.Context(), r.self, &m, raw)
		if err != nil || len(updates) != 1 {
			t.Errorf("type %d: %v, %v", kind, updates, err)
			continue
		}
		if bad, ok := updates[0].Body.(adapters.UnreadableUpdate); !ok || !strings.Contains(bad.Reason, "Release News") {
			t.Errorf("type %d became %+v", kind, updates[0].Body)
		}
	}
}
