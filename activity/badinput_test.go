package activity_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/activity/access"
	"github.com/trestle-bridge/trestle/adapters/adaptertest"
	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/adapters/telegram"
	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// A mouth is the way in of one Telegram account, from the bytes that its webhook
// is called with to what an agent is shown.
type mouth struct {
	t      *testing.T
	client *telegram.Client
	secret string
	store  *sqlstore.Store
	rooms  map[spaces.SpaceID]*hud.MindView
	spaces []spaces.SpaceID // the named room, then the account's own

	updates, events int
	lost, stuck     []string
	unseen          []string
}

const mouthChat = "-1001000000001"

// openMouth starts a fake Telegram only for what an account must ask of it.
func openMouth(t *testing.T) *mouth {
	t.Helper()
	tg := faketelegram.NewTelegram(faketelegram.Options{})
	bot := tg.AddBot(faketelegram.BotProfile{Token: "77:AAmouth", Name: "Ada", Username: "ada_bot"})
	m := &mouth{t: t, rooms: map[spaces.SpaceID]*hud.MindView{}}
	secret := make(chan string, 1)
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/setWebhook") {
			secret <- r.FormValue("secret_token")
		}
		tg.ServeHTTP(w, r)
	}))
	t.Cleanup(api.Close)
	var err error
	m.client, err = telegram.New(telegram.Options{Token: "77:AAmouth", APIURL: api.URL, WebhookURL: "https://bots.example/ada"})
	testutil.OK(t, err)
	if m.store, err = sqlite.Open(t.Context(), sqlite.Options{Dir: filepath.Join(t.TempDir(), "data"), NewID: newID}); err != nil {
		t.Fatal(err)
	}
	account, err := m.client.Connect(t.Context())
	testutil.OK(t, err)
	port := m.store.Border()
	mapping := activity.NewSpaceMapping(port, port)
	room, err := mapping.Open(t.Context(), spaces.OpenRequest{
		Key: "hub", Name: "Hub", Circle: "home", Agents: []spaces.AgentID{"ada"}, At: time.Now(),
		Chats: []spaces.ChatMapping{{Account: account.Key(), Chat: mouthChat, Live: true}},
	})
	testutil.OK(t, err)
	own, err := mapping.Own(t.Context(), account.Key(), time.Now())
	testutil.OK(t, err)
	m.spaces = []spaces.SpaceID{room.Space, own.Space}
	in := activity.NewIngress(account, mapping, port, port, port, activity.IngressOptions{
		Admit: access.AdmitOpen, Named: map[spaces.SpaceID][]spaces.AgentID{room.Space: {"ada"}},
	})
	ctx, cancel := context.WithCancel(t.Context())
	var receiving sync.WaitGroup
	receiving.Go(func() {
		if err := m.client.Receive(ctx, nil, in); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		cancel()
		receiving.Wait()
		if err := m.store.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	m.secret = <-secret
	_ = bot
	return m
}

// hears calls the webhook with bytes and follows them to the frame. name says
// what they are.
func (m *mouth) hears(name string, raw []byte) {
	m.t.Helper()
	m.updates++
	r := httptest.NewRequestWithContext(m.t.Context(), http.MethodPost, "/ada", strings.NewReader(string(raw)))
	r.Header.Set("X-Telegram-Bot-Api-Secret-Token", m.secret)
	w := httptest.NewRecorder()
	m.client.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		m.stuck = append(m.stuck, fmt.Sprintf("%s: %d", name, w.Code))
		return
	}
	if m.look(name) == 0 {
		m.lost = append(m.lost, name)
	}
}

// look folds what is new in every space and checks that each event shows.
func (m *mouth) look(name string) (events int) {
	m.t.Helper()
	for _, s := range m.allSpaces() {
		v := m.view(s)
		seat := &v.Seats[0]
		upto := seat.Room.Upto()
		found, err := m.store.Shell().Events(m.t.Context(), s, spaces.Primary, upto, 1000)
		testutil.OK(m.t, err)
		for _, e := range found {
			seat.Room.Apply(e)
			if shown := v.Inbox(seat, e.Seq-1, e.Seq, nil, time.Time{}).Text; strings.TrimSpace(shown) == "" {
				m.unseen = append(m.unseen, fmt.Sprintf("%s: %s %+v", name, e.Body.Kind(), e.Body))
			}
		}
		events += len(found)
	}
	m.events += events
	return events
}

// allSpaces returns the spaces there are by now: strangers' chats open more.
func (m *mouth) allSpaces() []spaces.SpaceID {
	m.t.Helper()
	chats, err := m.store.Border().Chats(m.t.Context(), "", "")
	testutil.OK(m.t, err)
	for _, c := range chats {
		if !slices.Contains(m.spaces, c.Space) {
			m.spaces = append(m.spaces, c.Space)
		}
	}
	return m.spaces
}

func (m *mouth) view(s spaces.SpaceID) *hud.MindView {
	if v := m.rooms[s]; v != nil {
		return v
	}
	v := &hud.MindView{
		Agent: "ada", Circle: "home", Self: &spaces.InnerState{}, System: "You are Ada.", Counter: &hud.TokenCounter{}, Active: s,
		Seats: []hud.RoomView{{Room: hud.NewRoom(spaces.Space{ID: s, Kind: spaces.Room, Name: "Hub", Circle: "home"}), Short: "s1", Uplink: spaces.Uplink{Space: s, Live: true}}},
	}
	m.rooms[s] = v
	return v
}

// sound fails when anything was lost, stuck or unseen.
func (m *mouth) sound(what string) {
	m.t.Helper()
	for title, names := range map[string][]string{"lost": m.lost, "stuck": m.stuck, "not visible": m.unseen} {
		if len(names) > 0 {
			m.t.Errorf("%d %s: %s", len(names), title, strings.Join(names[:min(len(names), 12)], "\n"))
		}
	}
	m.t.Logf("bad input, %s: %d updates, %d events, %d lost, %d stuck, %d not visible", what, m.updates, m.events, len(m.lost), len(m.stuck), len(m.unseen))
}

// A schema is the documented shape of Telegram's objects (Bot API 10.1).
type schema map[string]struct {
	Subtypes []string            `json:"subtypes"`
	Fields   [][]json.RawMessage `json:"fields"` // name, type, required, the only value
}

func readSchema(t *testing.T) schema {
	t.Helper()
	raw, err := os.ReadFile("../adapters/telegram/testdata/schema.json")
	testutil.OK(t, err)
	var s schema
	testutil.OK(t, json.Unmarshal(raw, &s))
	return s
}

// A maker makes documented objects; n makes each of them different.
type maker struct {
	schema
	n     int
	known int // id of the message that was said last
	out   int // 1: a person's standing changes to outside next
}

// said makes a message that later updates can be about.
func (m *maker) said() []byte {
	message := m.object("Message", "text", 0)
	message["from"] = m.object("User", "", 0) // text without a sender is not kept
	m.known = message["message_id"].(int)
	return m.update("message", message)
}

// field is one documented field.
type field struct {
	name, kind, only string
	required         bool
}

func (s schema) fields(kind string) []field {
	var out []field
	for _, raw := range s[kind].Fields {
		var f field
		var required int
		_ = json.Unmarshal(raw[0], &f.name)
		_ = json.Unmarshal(raw[1], &f.kind)
		_ = json.Unmarshal(raw[2], &required)
		if len(raw) > 3 {
			_ = json.Unmarshal(raw[3], &f.only)
		}
		f.required = required == 1
		out = append(out, f)
	}
	return out
}

// object returns an object of a kind with what is required, and one field more
// when it is named.
func (m *maker) object(kind, more string, depth int) map[string]any {
	if sub := m.schema[kind].Subtypes; len(sub) > 0 {
		kind = sub[m.n%len(sub)]
	}
	out := map[string]any{}
	for _, f := range m.fields(kind) {
		if f.required || f.name == more {
			out[f.name] = m.value(f, depth)
		}
	}
	switch kind {
	case "Chat":
		out["id"], out["type"], out["title"] = json.Number(mouthChat), "supergroup", "Hub"
	case "User":
		out["id"], out["is_bot"] = 5_000_000_000+m.n%7, false
	case "Message":
		out["message_id"], out["date"] = 1000+m.n, 1_700_000_000+m.n
		if more == "pinned_message" {
			out[more].(map[string]any)["message_id"] = m.known
		}
	case "MessageReactionUpdated":
		out["message_id"], out["old_reaction"] = m.known, []any{}
		out["new_reaction"] = []any{map[string]any{"type": "emoji", "emoji": "👍"}}
	case "ChatMemberUpdated":
		out["new_chat_member"].(map[string]any)["status"] = []string{"member", "kicked"}[m.out]
		m.out = 1 - m.out
	}
	return out
}

func (m *maker) value(f field, depth int) any {
	m.n++
	kind, list := strings.CutPrefix(f.kind, "Array of ")
	switch {
	case list:
		return []any{m.value(field{kind: kind, name: f.name}, depth)}
	case f.only != "":
		return f.only
	case kind == "Integer" && strings.Contains(f.name, "date"):
		return 1_700_000_000 + m.n
	case kind == "Integer":
		return m.n
	case kind == "Float":
		return 0.5
	case kind == "Boolean" || kind == "True":
		return true
	case kind == "String":
		return fmt.Sprintf("%s %d", f.name, m.n)
	case depth > 4:
		return map[string]any{}
	}
	return m.object(kind, "", depth+1)
}

func (m *maker) update(kind string, body any) []byte {
	m.n++
	raw, err := json.Marshal(map[string]any{"update_id": m.n, kind: body})
	if err != nil {
		panic(err)
	}
	return raw
}

// R-All, S20, issue 3: every kind of update the Bot API documents, with every field,
// and unknown kinds.
func TestEveryDocumentedAndUnknownUpdateIsRecordedAndSeen(t *testing.T) {
	m := openMouth(t)
	k := &maker{schema: readSchema(t), n: 100, out: 1}
	kinds := 0
	for _, f := range k.fields("Update") {
		if f.name == "update_id" {
			continue
		}
		kinds++
		for _, more := range append([]field{{}}, k.fields(f.kind)...) {
			if more.required || movesTheChat[more.name] || f.name == "callback_query" && more.name == "message" { // a press is no event of a room
				continue
			}
			m.hears("message", k.said())
			body := k.object(f.kind, more.name, 0)
			if strings.HasPrefix(f.name, "edited_") {
				body["message_id"] = k.known
			}
			m.hears(f.name+"."+more.name, k.update(f.name, body))
		}
	}
	for i := range 200 {
		m.hears("unknown", k.update(fmt.Sprintf("kind_of_the_future_%d", i), []any{
			map[string]any{"chat": k.object("Chat", "", 0), "date": 1, "n": k.n}, k.n, fmt.Sprint("text ", k.n), []int{k.n}, nil,
		}[i%5]))
	}
	if kinds < 25 || m.updates < 900 {
		t.Errorf("%d kinds in %d updates: the schema is not what it should be", kinds, m.updates)
	}
	m.sound(fmt.Sprintf("%d documented kinds, 200 unknown", kinds))
}

// movesTheChat are the fields that take the test's only room away; they have
// tests of their own.
var movesTheChat = map[string]bool{"migrate_to_chat_id": true, "migrate_from_chat_id": true}

// S20: what no JSON is, and what is far too much of it.
func TestMalformedAndHugeUpdatesAreRecordedAndSeen(t *testing.T) {
	m := openMouth(t)
	k := &maker{schema: readSchema(t), n: 100}
	for part := range 60 {
		whole := string(k.said())
		cut := part * len(whole) / 60
		m.hears("cut short", []byte(whole[:cut]+fmt.Sprint("?", part)))
		m.hears("a byte turned", []byte(whole[:cut]+string(rune(whole[cut]^0x15))+whole[cut+1:]))
		m.hears("twice", []byte(whole[:cut]+string(k.said())))
	}
	for i, raw := range []string{
		"", " ", "null", "true", "0", `""`, "[]", "{}", "[[[]]]", `{"update_id":null}`, `{"update_id":"x"}`, `{"update_id":-1}`, `{"update_id":1e400}`,
		`{"update_id":99999999999999999999}`, `{"update_id":7,"message":null}`, `{"update_id":8,"message":[]}`, `{"update_id":9,"message":{}}`, `{"update_id":10,"message":"hi"}`,
		strings.Repeat("[", 100_000), strings.Repeat(`{"a":`, 100_000), `{"update_id":11,` + strings.Repeat(`"message":{},`, 1000) + `"z":0}`, "\x00\xff\xfe", "<html>", `{"update_id":12}{"update_id":13}`,
	} {
		m.hears(fmt.Sprintf("malformed %d", i), []byte(raw))
	}
	// A webhook takes a mebibyte; polls bring more.
	message := k.object("Message", "", 0)
	message["text"] = strings.Repeat("long ", 200_000)
	m.hears("1 MB of text", k.update("message", message))
	m.sound("malformed and huge")
}

// SECURITY S3, S20: words that have broken other programs, as text, as a name
// and as a title.
func TestNaughtyStringsAreRecordedAndSeen(t *testing.T) {
	m := openMouth(t)
	k := &maker{schema: readSchema(t), n: 100}
	all := adaptertest.Naughty()
	if len(all) < 500 {
		t.Fatalf("%d strings, want 500", len(all))
	}
	for i, words := range all {
		message := k.object("Message", "", 0)
		from := k.object("User", "", 0)
		switch i % 4 {
		case 0, 1:
			message["text"] = words
		case 2:
			message["text"], from["first_name"] = "hello", words
		case 3:
			message["caption"], message["photo"] = words, []any{map[string]any{"file_id": words, "file_name": words}}
		}
		message["from"] = from
		m.hears(fmt.Sprintf("%q", words), k.update("message", message))
	}
	m.sound(fmt.Sprintf("%d naughty strings", len(all)))
}
