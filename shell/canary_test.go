package shell_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/trestle-bridge/trestle/internal/model"
	"github.com/trestle-bridge/trestle/internal/notify"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

var canaryCycles = flag.Int("canary-cycles", 100, "cycles that the test of readers lives through")

// A town is a world of people in rooms, whose every line holds a word of its own:
// the canary. It knows by itself who could read each.
type town struct {
	*world
	rng    *rand.Rand
	people []string
	rooms  []*townRoom
	heard  *canaries
}

// A townRoom is a room with the people who are in it by the platform's truth.
type townRoom struct {
	id     spaces.SpaceID
	circle spaces.CircleID
	owner  string // whose direct chat it is
	in     map[string]bool
	thread map[string]bool // who is in its private thread
	lines  []townLine
}

type townLine struct {
	ref    spaces.Ref
	who    string
	thread spaces.ThreadID
}

// A canary is a word in one line: where it was said, and who could read it.
type canary struct {
	room    *townRoom
	readers map[string]bool
}

// canaries are watched for in all that a model is asked.
type canaries struct {
	mu      sync.Mutex // guards all
	all     map[string]*canary
	minds   map[string]*townRoom // by the key of the request; nil is home
	leaks   []string
	crossed map[string]bool
	asked   int
}

var canaryWord = regexp.MustCompile(`canary\d{6}`)

// watch notes the canaries in a text that a mind sees or has kept.
func (c *canaries) watch(mind, where, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	here, known := c.minds[mind]
	for _, word := range canaryWord.FindAllString(text, -1) {
		k := c.all[word]
		switch {
		case k == nil || !known:
			c.leaks = append(c.leaks, word+" is unknown in "+where)
		case here == nil && k.room.circle == "home", k.room == here: // its own
		case here == nil || here.owner == "" || !k.readers[here.owner]:
			c.leaks = append(c.leaks, fmt.Sprintf("%s of %s stands in a %s of %s", word, k.room.id, where, mind))
		default:
			c.crossed[word] = true
		}
	}
}

// Generate plays a model that looks wherever it can and keeps what it sees: it
// searches, reads a room it was shown, remembers, notes and says it.
func (c *canaries) Generate(_ context.Context, r model.Request) (model.Response, error) {
	text := whole(r)
	c.watch(r.CacheKey, "frame", text)
	c.mu.Lock()
	c.asked++
	n, here := c.asked, c.minds[r.CacheKey]
	c.mu.Unlock()
	words := canaryWord.FindAllString(text, -1)
	seen := "nothing"
	if len(words) > 0 {
		seen = words[n%len(words)]
	}
	if r.NoCalls {
		return telling("<notes>" + seen + "</notes>"), nil
	}
	elsewhere := regexp.MustCompile(`\bx[0-9a-f]{6}\b`).FindString(text)
	if elsewhere == "" {
		elsewhere = "s1"
	}
	said := "fine" // who comes later would read an old word anew
	if here != nil && here.owner != "" {
		said = seen
	}
	does := [][2]string{
		{"search", fmt.Sprintf(`{"query":"topic%d canary"}`, n%20)},
		{"read_messages", fmt.Sprintf(`{"space":%q,"limit":20}`, elsewhere)},
		{"remember", fmt.Sprintf(`{"fact":"%s","kind":"user_fact"}`, seen)},
		{"send_message", fmt.Sprintf(`{"text":"so %s it is"}`, said)},
	}
	if k := acts(r); k < len(does) {
		return calling(len(r.Messages), does[k][0], does[k][1]), nil
	}
	return telling("Responded to somebody about " + seen + "."), nil
}

// newTown opens 60 rooms for 200 people: private groups each a circle of its own,
// direct chats, and a home of six.
func newTown(w *world, heard *canaries, seed uint64) *town {
	v := &town{world: w, rng: rand.New(rand.NewPCG(seed, 5)), heard: heard}
	for n := range 200 {
		v.people = append(v.people, fmt.Sprintf("p%03d", n))
	}
	for n := range 60 {
		r := &townRoom{in: map[string]bool{}, thread: map[string]bool{}}
		name := fmt.Sprintf("room%02d", n)
		switch {
		case n < 20:
			r.owner = v.people[n]
			r.in[r.owner] = true
			r.id = w.room(name, direct, circle(""))
		case n < 26:
			r.id = w.room(name)
		default:
			r.id = w.room(name, circle(""))
		}
		mind := spaces.Mind{Agent: "ada", Circle: "home"}
		heard.minds[mind.String()] = nil
		if r.circle = "home"; n < 20 || n >= 26 {
			r.circle = spaces.OwnCircle(r.id)
			mind.Circle = r.circle
			heard.minds[mind.String()] = r
		}
		v.rooms = append(v.rooms, r)
	}
	return v
}

// say has somebody say a new canary.
func (v *town) say(r *townRoom, who string, thread spaces.ThreadID, more string) {
	in := v.update(r.id, who, spaces.Said{})
	in.Event.Thread = thread
	if r.in[who] = true; thread != "" {
		r.thread[who] = true
	}
	in.Event.Body = spaces.Said{Text: v.canary(r, thread) + more, Ref: in.Ref}
	r.lines = append(r.lines, townLine{in.Ref, who, thread})
	v.record(in)
}

// canary mints a word that those may read who are there now.
func (v *town) canary(r *townRoom, thread spaces.ThreadID) string {
	may := r.in
	if thread != "" {
		may = r.thread
	}
	v.heard.mu.Lock()
	defer v.heard.mu.Unlock()
	word := fmt.Sprintf("canary%06d", len(v.heard.all))
	v.heard.all[word] = &canary{room: r, readers: maps.Clone(may)}
	return fmt.Sprintf("topic%d %s", v.rng.IntN(20), word)
}

// moves has somebody come or go.
func (v *town) moves(r *townRoom, who string) {
	var b spaces.Body = spaces.Joined{}
	if r.in[who] {
		b = spaces.Left{}
		delete(r.in, who)
		delete(r.thread, who)
	} else {
		r.in[who] = true
	}
	in := v.update(r.id, who, b)
	in.Who = []spaces.Identity{in.From}
	v.record(in)
}

// lives has something happen in a group.
func (v *town) lives(r *townRoom) {
	who := v.people[v.rng.IntN(len(v.people))]
	if v.rng.IntN(2) == 0 {
		who = v.people[v.rng.IntN(24)] // those with a direct chat are in many rooms
	}
	switch n := v.rng.IntN(20); {
	case n < 5:
		if len(r.lines) > 0 { // who was heard comes and goes again
			who = r.lines[v.rng.IntN(len(r.lines))].who
		}
		v.moves(r, who)
	case n < 8:
		v.say(r, who, "private", "")
	case n <= 9 && len(r.lines) > 0:
		l := r.lines[v.rng.IntN(len(r.lines))]
		if r.in[l.who] && (l.thread == "" || r.thread[l.who]) {
			v.does(r.id, l.who, spaces.Edited{Ref: l.ref, Text: v.canary(r, l.thread)})
		}
	case n == 10:
		v.say(r, who, "", " @Ada")
	default:
		v.say(r, who, "", "")
	}
}

// SECURITY S5, DESIGN 5: in a town of 200 people and 60 rooms, where every line has a
// word of its own, no word reaches a frame, a search, a read, a memory, a note, a
// rest line, a run's explanation or a live event of somebody who could not read it
// where it was said; and words do reach those who could.
func TestNoWordReachesWhoCouldNotReadIt(t *testing.T) {
	heard := &canaries{all: map[string]*canary{}, minds: map[string]*townRoom{}, crossed: map[string]bool{}}
	cycles := 0
	play(t, heard, func(w *world) {
		w.settings = func(spaces.AgentID, spaces.SpaceID) shell.Settings {
			s := shell.DefaultSettings()
			s.ContextTokens, s.MaxOutput, s.RecallTokens, s.OnePhase = 9_000, 500, 800, true
			return s
		}
		v := newTown(w, heard, 11)
		w.start()
		for round := 0; cycles < *canaryCycles; round++ {
			for range 6 {
				v.lives(v.rooms[20+v.rng.IntN(1+v.rng.IntN(40))]) // some are busier than others
			}
			r := v.rooms[v.rng.IntN(20)]
			v.say(r, r.owner, "", fmt.Sprintf(" what of topic%d?", v.rng.IntN(20)))
			if round%10 == 9 {
				w.settle()
			}
			if round%60 == 59 {
				cycles = v.kept()
			}
		}
		w.settle()
	}, "Ada")
	heard.mu.Lock()
	defer heard.mu.Unlock()
	for _, leak := range heard.leaks[:min(len(heard.leaks), 10)] {
		t.Error(leak)
	}
	if len(heard.leaks) > 10 {
		t.Errorf("and %d more leaks", len(heard.leaks)-10)
	}
	if len(heard.crossed) < *canaryCycles/10 {
		t.Errorf("only %d words of other circles were shown: nothing was put to the test", len(heard.crossed))
	}
	t.Logf("%d cycles, %d words, %d of them shown across circles, %d calls", cycles, len(heard.all), len(heard.crossed), heard.asked)
}

// kept looks through what the minds have kept, and returns how many cycles there
// were.
func (v *town) kept() int {
	n := 0
	for _, mind := range slices.Sorted(maps.Keys(v.heard.minds)) {
		m := spaces.Mind{Agent: "ada", Circle: spaces.CircleID(strings.TrimPrefix(mind, "ada/"))}
		inner := v.inner(m)
		for _, e := range inner {
			v.heard.watch(mind, "kept event", fmt.Sprintf("%+v", e.Body))
			if _, ok := e.Body.(spaces.Stopped); ok {
				n++
			}
		}
		closed, err := v.store.Shell().Cycles(v.t.Context(), m, 0, true, 5)
		v.ok(err)
		for _, c := range closed {
			run, err := v.store.Console().Run(v.t.Context(), string(c.ID))
			v.ok(err)
			v.heard.watch(mind, "run", fmt.Sprintf("%+v", run))
		}
	}
	v.bus.mu.Lock()
	defer v.bus.mu.Unlock()
	for _, l := range v.bus.live {
		mind, _ := l.metadata["mind"].(string)
		v.heard.watch(mind, "live event", fmt.Sprint(notify.Event{Type: l.kind, Content: l.content, Metadata: l.metadata}))
	}
	v.bus.live = nil
	return n
}
