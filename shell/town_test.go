package shell_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/pubsub"
	"github.com/trestle-bridge/trestle/spaces"
)

// A town is a world of people in rooms, whose every line holds a word of its own:
// the canary. It knows by itself who could read each.
type town struct {
	*world
	rng    *rand.Rand
	people []string
	rooms  []*townRoom
	heard  *canaries
	going  []string         // words deleted since the last rest
	looked map[string]int64 // how far the inner log of each mind was looked through
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
	ref    spaces.MessageRef
	who    string
	thread spaces.ThreadID
	words  []string // its canaries, one of each wording
}

// newTown opens 60 rooms for 200 people: private groups each a circle of its own,
// direct chats, and a home of six.
func newTown(w *world, heard *canaries, seed uint64) *town {
	v := &town{world: w, rng: rand.New(rand.NewPCG(seed, 5)), heard: heard, looked: map[string]int64{}}
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

// round has six things happen in groups, and a person ask in their direct chat.
func (v *town) round() {
	for range 6 {
		v.lives(v.rooms[20+v.rng.IntN(1+v.rng.IntN(40))]) // some are busier than others
	}
	r := v.rooms[v.rng.IntN(20)]
	v.say(r, r.owner, "", fmt.Sprintf(" what of topic%d?", v.rng.IntN(20)))
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
	case n == 8 && len(r.lines) > 0:
		if l := &r.lines[v.rng.IntN(len(r.lines))]; r.in[l.who] && (l.thread == "" || r.thread[l.who]) {
			text := v.canary(r, l.thread)
			l.words = append(l.words, canaryWords(text)...)
			v.does(r.id, l.who, spaces.MessageEdited{Ref: l.ref, Text: text})
		}
	case n == 9 && len(r.lines) > 0:
		old := 0 // most people take back what they said lately
		if v.rng.IntN(5) > 0 {
			old = max(0, len(r.lines)-8)
		}
		v.deletes(r, old+v.rng.IntN(len(r.lines)-old))
	case n == 10:
		v.say(r, who, "", " @Ada")
	default:
		v.say(r, who, "", "")
	}
}

// say has a person say a new canary.
func (v *town) say(r *townRoom, who string, thread spaces.ThreadID, more string) {
	in := v.update(r.id, who, spaces.MessagePosted{})
	in.Event.Thread = thread
	if v.enters(r, who); thread != "" {
		r.thread[who] = true
	}
	text := v.canary(r, thread)
	in.Event.Body = spaces.MessagePosted{Text: text + more, Ref: in.Ref}
	r.lines = append(r.lines, townLine{in.Ref, who, thread, canaryWords(text)})
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

// deletes takes a line away.
func (v *town) deletes(r *townRoom, n int) {
	l := r.lines[n]
	r.lines = slices.Delete(r.lines, n, n+1)
	v.going = append(v.going, l.words...)
	v.does(r.id, l.who, spaces.MessageDeleted{Ref: l.ref})
}

// enters lets a person into a room; the canaries know who is there.
func (v *town) enters(r *townRoom, who string) {
	v.heard.mu.Lock()
	defer v.heard.mu.Unlock()
	r.in[who] = true
}

// moves has a person come or go.
func (v *town) moves(r *townRoom, who string) {
	var b spaces.EventBody = spaces.MemberJoined{}
	if r.in[who] {
		b = spaces.MemberLeft{}
		v.heard.mu.Lock()
		delete(r.in, who)
		v.heard.mu.Unlock()
		delete(r.thread, who)
	} else {
		v.enters(r, who)
	}
	in := v.update(r.id, who, b)
	in.Who = []spaces.PlatformIdentity{in.From}
	v.record(in)
}

// rest lets all minds come to rest, and minutes pass. What was deleted before it is
// gone after it.
func (v *town) rest() {
	v.settle()
	pass(2 * time.Minute)
	v.settle()
	v.listened()
	v.heard.mu.Lock()
	defer v.heard.mu.Unlock()
	for _, word := range v.going {
		v.heard.all[word].gone = true
	}
	v.heard.gone += len(v.going)
	v.going = nil
}

// listened looks through the live events since it was last called, as the stream
// writes them.
func (v *town) listened() {
	v.bus.mu.Lock()
	live := v.bus.live
	v.bus.live = nil
	v.bus.mu.Unlock()
	for _, l := range live {
		mind, _ := l.metadata["mind"].(string)
		line, err := json.Marshal(pubsub.LiveEvent{Type: l.kind, Content: l.content, Metadata: l.metadata, At: l.at})
		v.ok(err)
		v.heard.watch(mind, "live event", string(line))
	}
}

// kept looks through what the minds have kept since it was last called, and returns
// how many cycles there were.
func (v *town) kept() int {
	n := 0
	v.eachMind(func(key string, m spaces.Mind) {
		events, err := v.store.Shell().Events(v.t.Context(), m.Inner(), m.Branch(), v.looked[key], 10_000)
		v.ok(err)
		for _, e := range events {
			v.looked[key] = e.Seq
			v.heard.watch(key, logged, fmt.Sprintf("%+v", e.Body))
			if _, ok := e.Body.(spaces.CycleStopped); ok {
				n++
			}
		}
		v.explained(key, m, 2)
	})
	return n
}

// keptNothing looks through all that the minds have ever kept.
func (v *town) keptNothing() {
	clear(v.looked)
	v.kept()
	v.eachMind(func(key string, m spaces.Mind) {
		v.explained(key, m, 20)
		k, turns, err := v.store.Console().Turns(v.t.Context(), m, 10_000)
		v.ok(err)
		v.heard.watch(key, "turn", fmt.Sprintf("%+v", turns))
		if k != nil {
			v.heard.watch(key, "keyframe", fmt.Sprintf("%+v", *k))
		}
	})
	found, err := v.store.Console().Said(v.t.Context(), console.MessageQuery{Text: "canary", Limit: 1 << 20})
	v.ok(err)
	for _, e := range found {
		_, agent := e.Actor.IsAgent()
		for _, word := range canaryWords(fmt.Sprintf("%+v", e.Body)) {
			if v.heard.all[word].gone && !agent {
				v.t.Errorf("%s is deleted and found among what people said", word)
			}
		}
	}
}

// explained looks through what operators are told of a mind's newest runs: the run
// and its frames.
func (v *town) explained(key string, m spaces.Mind, limit int) {
	closed, err := v.store.Shell().Cycles(v.t.Context(), m, 0, true, limit)
	v.ok(err)
	for _, c := range closed {
		run, err := v.store.Console().Run(v.t.Context(), string(c.ID))
		v.ok(err)
		v.heard.watch(key, "run", fmt.Sprintf("%+v", run))
		if len(run.Steps) == 0 {
			continue
		}
		f, err := v.store.Console().Frame(v.t.Context(), c.ID, run.Steps[len(run.Steps)-1].N)
		v.ok(err)
		v.heard.watch(key, "stored frame", fmt.Sprintf("%+v", f))
	}
}

func (v *town) eachMind(f func(key string, m spaces.Mind)) {
	for _, key := range slices.Sorted(maps.Keys(v.heard.minds)) {
		f(key, spaces.Mind{Agent: "ada", Circle: spaces.CircleID(strings.TrimPrefix(key, "ada/"))})
	}
}
