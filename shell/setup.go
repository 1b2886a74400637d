package shell

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/spaces"
)

// setUpLasts is how long a set-up stays open, or a proposal, without anyone
// deciding on it (PRD-11-12).
const setUpLasts = 7 * 24 * time.Hour

// An onboardingState is what a cycle learns of setting up the room that woke it.
type onboardingState struct {
	noted []spaces.EventBody // to be committed with the next step
	offer *spaces.NoteAdded  // that the room is new, to be committed with the last one; nil: it is not
	begun bool               // whether the room is new has been looked at
	heard int                // how many of the events that woke the cycle were looked at
	// tokens are what tools take of a request that are offered where they can be used: set_up,
	// check of a checklist, and those of missions.
	tokens int
}

// told returns what a commit has to say of it. Of rows that go back nothing was seen.
func (s *onboardingState) told(cl *spaces.CycleClose) []spaces.EventBody {
	switch {
	case cl != nil && cl.Back:
		return nil
	case cl != nil && s.offer != nil:
		return append(slices.Clip(s.noted), *s.offer)
	}
	return s.noted
}

// live reports whether people and the agent are at it.
func live(r spaces.RoomOnboarding, now time.Time) bool {
	return (r.State == spaces.SetUpOpened || r.State == spaces.SetUpProposed) && now.Sub(r.At) < setUpLasts
}

// setUpIn returns how far the set-up of a room is, with notes that are not committed.
func setUpIn(self *spaces.InnerState, space spaces.SpaceID, now time.Time, notes ...[]spaces.EventBody) spaces.RoomOnboarding {
	r := self.SetUps.In(space)
	for _, b := range slices.Concat(notes...) {
		if n, ok := b.(spaces.NoteAdded); ok && n.SetUp != nil && n.SetUp.Space == space {
			r = r.Then(*n.SetUp, now)
		}
	}
	return r
}

// setUpNote is the note that a room's set-up has come so far.
func setUpNote(c spaces.CycleID, s spaces.OnboardingNote) spaces.NoteAdded {
	return spaces.NoteAdded{Text: "set-up " + string(s.State), Label: "setup", Cycle: c, SetUp: &s}
}

// onboard takes in what people said about setting up the room that woke the cycle,
// and returns what the frame shows of the active room's: nothing in most. c.mind.mu
// is held.
func (c *cycle) onboard(v *hud.MindView) string {
	if c.settings.Onboarding <= 0 {
		return ""
	}
	now := c.shell.Now()
	if seat := v.Seat(c.wake.Cycle.Space); seat != nil {
		c.hearSetUp(v, seat, now)
	}
	at := setUpIn(v.Self, v.Active, now, c.setUp.noted)
	switch {
	case v.Active == "" || slices.Contains(c.shell.Settings(c.mind.id.Agent, v.Active).Without, "set_up"):
		return ""
	case live(at, now):
		c.offer("set_up")
		return setUpSection(c.system.set.Text("setup"), &at, c.settings.Onboarding, c.shell.Counter.Count)
	case c.setUp.offer != nil && c.setUp.offer.SetUp.Space == v.Active && at.State == "":
		return fitLines([]string{c.system.set.Text("offer")}, c.settings.Onboarding, c.shell.Counter.Count)
	}
	return ""
}

// hearSetUp notes that a person asks for a set-up or goes on with one, and at the
// cycle's first frame that the room is new.
func (c *cycle) hearSetUp(v *hud.MindView, seat *hud.RoomView, now time.Time) {
	n := len(c.wake.Events)
	if c.setUp.begun && n == c.setUp.heard {
		return
	}
	at := setUpIn(v.Self, seat.Room.ID(), now, c.setUp.noted)
	next := spaces.OnboardingNote{Space: seat.Room.ID()}
	asked := false
	for _, e := range c.wake.Events[c.setUp.heard:] {
		if said, byPerson := personal(seat.Room, e); byPerson && e.Seq > at.Seen { // what an earlier process noted is old
			asked = asked || asksForSetUp(said.Text)
			next.Sources, next.Seen = append(next.Sources, e.ID), max(next.Seen, e.Seq)
		}
	}
	c.setUp.heard = n
	switch {
	case len(next.Sources) > 0 && live(at, now):
		next.State = spaces.SetUpHeard
	case asked:
		next.State = spaces.SetUpOpened
	}
	if next.State != "" {
		next.Readers = readersOf(v.Seats, []spaces.SpaceID{seat.Room.ID()})
		c.setUp.noted = append(c.setUp.noted, setUpNote(c.wake.Cycle.ID, next))
	} else if !c.setUp.begun && at.State == "" && !c.settings.Told && isNew(seat, v.Agent.Entity()) {
		offer := setUpNote(c.wake.Cycle.ID, spaces.OnboardingNote{Space: seat.Room.ID(), State: spaces.SetUpOffered})
		c.setUp.offer = &offer
	}
	c.setUp.begun = true
}

// isNew reports whether no entry is about a room of several, no cycle of the
// agent there has come to its end, so that its cursor is where it was when it came,
// and no other agent has spoken there, who may have offered a set-up.
func isNew(seat *hud.RoomView, self spaces.EntityID) bool {
	if s := seat.Room.Space(); s.Direct || s.Guest || s.Configured {
		return false
	}
	fresh := func(m spaces.SpaceMember) bool { return m.ID == self && seat.Uplink.Cursor <= m.Since }
	other := func(m spaces.ChatMessage) bool {
		_, agent := m.Sender.IsAgent()
		return agent && m.Sender != self && m.Notice == nil
	}
	return slices.ContainsFunc(seat.Room.Members(), fresh) && !slices.ContainsFunc(seat.Room.Chat.Messages, other)
}

// personal returns what an event says, and whether a person of the room says it in
// their own words.
func personal(room *hud.SharedRoom, e spaces.Event) (said spaces.MessagePosted, ok bool) {
	said, ok = e.Body.(spaces.MessagePosted)
	return said, ok && said.Forwarded == "" && !said.Past && kindOf(room.Members(), e.Actor) == spaces.Human
}

// setUpPhrases are what asks for a set-up (PRD-6.5-3).
var setUpPhrases = []string{"set up this room", "set this room up", "set up my workspace", "help me get started", "mission zero"}

// asksForSetUp reports whether the words hold one of the phrases that ask for a
// room's set-up, whatever their case and punctuation.
func asksForSetUp(text string) bool {
	var words strings.Builder
	words.WriteByte(' ')
	for _, r := range text {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			words.WriteRune(unicode.ToLower(r))
		case r == '\'' || r == '’':
		case !strings.HasSuffix(words.String(), " "):
			words.WriteByte(' ')
		}
	}
	words.WriteByte(' ')
	plain := strings.ReplaceAll(words.String(), " setup ", " set up ")
	return slices.ContainsFunc(setUpPhrases, func(phrase string) bool { return strings.Contains(plain, " "+phrase+" ") })
}
