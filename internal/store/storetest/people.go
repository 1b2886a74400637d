package storetest

import (
	"slices"
	"testing"

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
