package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// CON-54, SEQ-98
func mentions(t *testing.T, w *world) {
	room := w.family("ada")
	tom := w.say(room, "tom", "hi").Actor
	m := w.message(room, "zoe", "@tom and @ada")
	m.Event.Body = spaces.MessagePosted{Text: "@tom and @ada", Mentions: []spaces.EntityID{"agent:ada"}}
	m.Mentions = []spaces.PlatformIdentity{person("tom"), person("ann"), person("tom")}
	w.record(m)
	got := w.last(room).Body.(spaces.MessagePosted).Mentions
	if len(got) != 3 || got[0] != "agent:ada" || got[1] != tom {
		t.Errorf("mentions %v, want ada, %s and somebody new", got, tom)
	}
}

func joinedEach(t *testing.T, w *world) {
	room := w.family()
	it := w.fact(room, "zoe", spaces.MemberJoined{})
	it.Who = []spaces.PlatformIdentity{person("tom"), person("ann")}
	if got := w.record(it); got.New != 2 || len(got.Wakes) != 0 {
		t.Errorf("recorded %+v, want two events that wake nobody", got)
	}
	left := w.fact(room, "zoe", spaces.MemberLeft{})
	left.Who = []spaces.PlatformIdentity{person("tom")}
	w.record(left)
	gone := w.last(room).Body.(spaces.MemberLeft)
	if gone.By == "" || gone.By == gone.Who {
		t.Errorf("left %+v, want who and by whom", gone)
	}
	alone := w.fact(room, "ann", spaces.MemberLeft{})
	alone.Who = []spaces.PlatformIdentity{person("ann")}
	w.record(alone)
	if gone := w.last(room).Body.(spaces.MemberLeft); gone.Who == "" || gone.By != "" {
		t.Errorf("left %+v, want who went by themselves", gone)
	}
	if got := w.record(it, left); got.New != 0 {
		t.Errorf("redelivery: %+v, want nothing new", got)
	}
}

// What a person says of their time zone goes before the configuration, and that before
// the profile on their platform.
func zonesBySource(t *testing.T, w *world) {
	room := w.family("ada")
	shown := func(want string, said ...string) {
		t.Helper()
		in := w.message(room, "zoe", "hi")
		if len(said) > 0 {
			in.From.Zone = said[0]
		}
		w.record(in)
		_, members, err := w.s.Shell.Space(w.t.Context(), room)
		w.ok(err)
		for _, m := range members {
			if m.ID == w.last(room).Actor && m.Zone != want {
				t.Errorf("zone is %q, want %q", m.Zone, want)
			}
		}
	}
	set := func(zone string, from spaces.ZoneSource) {
		w.ok(w.s.Border.SetZone(w.t.Context(), person("zoe"), zone, from))
	}
	shown("")
	shown("Europe/Paris", "Europe/Paris")
	shown("Europe/Rome", "Europe/Rome")
	shown("Europe/Rome") // not every update has it
	set("Asia/Tokyo", spaces.ZoneOfConfig)
	shown("Asia/Tokyo", "Europe/Paris")
	set("America/Lima", spaces.ZoneOfPerson)
	set("Asia/Tokyo", spaces.ZoneOfConfig)
	shown("America/Lima", "Europe/Paris")
	set("", spaces.ZoneOfPerson)
	shown("Europe/Paris", "Europe/Paris")
}

// S5, I12
func readersFollow(t *testing.T, w *world) {
	room := w.family()
	alone := w.last(room).Readers
	zoe := w.say(room, "zoe", "hello")
	if zoe.Readers == alone || zoe.Readers == 0 {
		t.Errorf("readers %d after zoe spoke, %d before", zoe.Readers, alone)
	}
	if again := w.say(room, "zoe", "again"); again.Readers != zoe.Readers {
		t.Errorf("readers changed from %d to %d although nobody came", zoe.Readers, again.Readers)
	}
	leave := w.fact(room, "", spaces.MemberLeft{})
	leave.From, leave.Who, leave.Present = spaces.PlatformIdentity{}, []spaces.PlatformIdentity{person("nobody here"), person("zoe")}, true
	if got := w.record(leave); got.New != 1 {
		t.Errorf("recorded %+v, want that of who is there alone", got)
	}
	if got := w.last(room).Readers; got != alone {
		t.Errorf("readers %d after zoe left, want the set %d of before", got, alone)
	}
	_, members, err := w.s.Shell.Space(t.Context(), room)
	w.ok(err)
	if len(members) != 1 || members[0].ID != "agent:ada" || members[0].Kind != spaces.Agent {
		t.Errorf("members %+v, want ada alone", members)
	}
}

func namesCurrent(t *testing.T, w *world) {
	room := w.family()
	who := w.say(room, "zoe", "hello").Actor
	m := w.message(room, "zoe", "new name")
	m.From.Name, m.From.Handle = "Zoé", "zoe"
	w.record(m)
	m = w.message(room, "zoe", "a platform that does not say who it is")
	m.From.Name, m.From.Handle = m.From.User, ""
	w.record(m)
	got, err := w.s.Shell.Entities(t.Context(), []spaces.EntityID{who, "nobody"})
	w.ok(err)
	want := map[spaces.EntityID]spaces.Entity{who: {ID: who, Kind: spaces.Human, Name: "Zoé", Handle: "zoe"}}
	testutil.Same(t, "entities", want, got)
}

func boundIdentity(t *testing.T, w *world) {
	room := w.family("ada", "bea")
	w.ok(w.s.Border.Agents(t.Context(), []spaces.Entity{{ID: "agent:ada", Kind: spaces.Agent, Name: "Ada"}}))
	bot := spaces.PlatformIdentity{Platform: "telegram", User: "42", Kind: spaces.Bot, Name: "AdaBot", Handle: "ada_bot"}
	w.ok(w.s.Border.Bind(t.Context(), bot, "agent:ada"))
	m := w.message(room, "zoe", "@ada_bot hello")
	m.Mentions = []spaces.PlatformIdentity{bot}
	w.record(m)
	if got := w.last(room).Body.(spaces.MessagePosted).Mentions; !slices.Equal(got, []spaces.EntityID{"agent:ada"}) {
		t.Errorf("mentions %v, want ada", got)
	}
	own := w.message(room, "", "said through the account by hand")
	own.From = bot
	if got := w.record(own); len(got.Wakes) != 1 || got.Wakes[0].Mind != bea {
		t.Errorf("woken %+v, want bea alone: nobody is told of their own doing", got.Wakes)
	}
	names, err := w.s.Shell.Entities(t.Context(), []spaces.EntityID{"agent:ada"})
	w.ok(err)
	if names["agent:ada"].Name != "Ada" {
		t.Errorf("ada is called %q, want the name of the configuration", names["agent:ada"].Name)
	}
}

// A link needs a code, to whom it was shown, and their word; it is used once. What is linked
// to one account of a person is linked to all of them.
func links(t *testing.T, w *world) {
	of := func(platform, user string) spaces.PlatformIdentity {
		return spaces.PlatformIdentity{Platform: platform, User: user, Kind: spaces.Human, Name: user}
	}
	kai, work, guild, mallory := of("telegram", "1"), of("slack", "2"), of("discord", "3"), of("discord", "4")
	begin := func(code string, who spaces.PlatformIdentity) {
		w.ok(w.s.Links.BeginLink(t.Context(), spaces.LinkCode{Code: code, Of: who, Account: account, Chat: "777", Expires: w.now.Add(spaces.LinkTTL)}))
	}
	take := func(code string, by spaces.PlatformIdentity, do spaces.LinkAction, at time.Time) (spaces.LinkCode, bool) {
		c, ok, err := w.s.Links.TakeLink(t.Context(), spaces.LinkStep{Code: code, By: by, Do: do, At: at})
		w.ok(err)
		return c, ok
	}
	link := func(code string, a, b spaces.PlatformIdentity) {
		begin(code, a)
		take(code, b, spaces.ShowLink, w.now)
		if c, ok := take(code, b, spaces.ConfirmLink, w.now); !ok || c.Chat != "777" || c.Account != account || c.Of.User != a.User {
			t.Fatalf("code %s confirmed: %+v, %v", code, c, ok)
		}
	}
	others := func(who spaces.PlatformIdentity) (users []string) {
		all, err := w.s.Links.Linked(t.Context(), who)
		w.ok(err)
		for _, i := range all {
			users = append(users, i.User)
		}
		return users
	}

	begin("OLD", kai)
	begin("CODE", kai)
	if _, ok := take("OLD", work, spaces.ShowLink, w.now); ok {
		t.Error("a code is good after the person asked for a new one")
	}
	if _, ok := take("CODE", work, spaces.ConfirmLink, w.now); ok {
		t.Error("a code is confirmed that was not shown")
	}
	if c, ok := take("CODE", work, spaces.ShowLink, w.now); !ok || c.Of.User != "1" || c.Of.Name != "1" {
		t.Errorf("the code is shown as that of %+v, %v", c.Of, ok)
	}
	if _, ok := take("CODE", mallory, spaces.ConfirmLink, w.now); ok {
		t.Error("a code is confirmed by another person than saw it")
	}
	if _, ok := take("CODE", work, spaces.ConfirmLink, w.now.Add(spaces.LinkTTL)); ok {
		t.Error("a code is good after its time")
	}
	take("CODE", kai, spaces.ShowLink, w.now)
	if _, ok := take("CODE", kai, spaces.ConfirmLink, w.now); ok {
		t.Error("an account is linked with itself")
	}
	if _, ok := take("CODE", work, spaces.VoidLink, w.now); !ok {
		t.Error("a code cannot be made void")
	}
	if _, ok := take("CODE", work, spaces.ShowLink, w.now); ok || others(kai) != nil {
		t.Error("a void code is good")
	}

	link("C2", kai, work)
	if _, ok := take("C2", work, spaces.ConfirmLink, w.now); ok {
		t.Error("a code is used twice")
	}
	link("C3", guild, mallory)
	link("C4", work, guild) // two people who were two accounts each
	w.s = w.s.Restart(t, false)
	if diff := cmp.Diff([]string{"1", "2", "3"}, others(mallory)); diff != "" {
		t.Errorf("linked with one account (-want +got):\n%s", diff)
	}
	for want, gone := range map[bool]spaces.PlatformIdentity{true: mallory, false: of("slack", "unknown")} {
		if was, err := w.s.Links.Unlink(t.Context(), gone); err != nil || was != want {
			t.Errorf("%s unlinked: %v, %v", gone.User, was, err)
		}
	}
	if diff := cmp.Diff([]string{"1", "3"}, others(work)); diff != "" || others(mallory) != nil {
		t.Errorf("linked after one left (-want +got):\n%s", diff)
	}
}
