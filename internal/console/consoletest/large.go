package consoletest

import (
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// crowdRooms is how many rooms a crowd has.
const crowdRooms = 200

// A LargeDataset is a large record.
type LargeDataset struct {
	RecordedStory
	Old spaces.CycleID // a run from the first tenth
}

// Crowd fills the record with about so many events and runs, spread over two
// hundred rooms of one mind and the last week, as an installation has that
// was busy for long. It takes minutes.
func (w *ConsoleWorld) Crowd(events, runs int) LargeDataset {
	w.t.Helper()
	w.Program.Say("a reason")
	mind := spaces.Mind{Agent: "ada", Circle: "home"}
	w.ok(w.Store.Border().Agents(w.t.Context(), []spaces.Entity{{ID: mind.Agent.Entity(), Kind: spaces.Agent, Name: "Ada"}}))
	begin := time.Now().Add(-7 * 24 * time.Hour).Truncate(time.Millisecond)
	rooms := make([]spaces.SpaceID, crowdRooms)
	for i := range rooms {
		place, err := w.Store.Border().Open(w.t.Context(), spaces.OpenRequest{
			Name: "room " + strconv.Itoa(i), Circle: "home", Wake: spaces.WakeMention, Agents: []spaces.AgentID{mind.Agent}, At: begin,
			Chats: []spaces.ChatMapping{{Account: account, Chat: "-" + strconv.Itoa(i), Live: true}},
		})
		w.ok(err)
		rooms[i] = place.Space
	}
	c := LargeDataset{RecordedStory: RecordedStory{Mind: mind}}
	first := make([]spaces.CycleID, crowdRooms) // a run of each room from its first tenth
	var busy sync.WaitGroup
	for i, room := range rooms {
		busy.Go(func() {
			perRun := max(events/max(runs, 1), 1)
			for n := range runs / crowdRooms {
				at := begin.Add(time.Duration(n) * 7 * 24 * time.Hour / time.Duration(runs/crowdRooms))
				id := w.bustle(room, mind, fmt.Sprintf("%d-%d", i, n), perRun-5, at, n%100 == 99)
				if n == runs/crowdRooms/10 {
					first[i] = id
				}
			}
		})
	}
	busy.Wait()
	w.keyframe = &spaces.Keyframe{Mind: mind, N: 1, Text: "what was before", Upto: int64(runs / crowdRooms * crowdRooms), Cause: "first", At: time.Now()}
	w.ok(w.Store.Shell().Cut(w.t.Context(), "", *w.keyframe, spaces.ContextCompacted{Cause: "first"}))
	c.RecordedStory = w.Live("the last one")
	c.Old = first[0]
	return c
}

// bustle is a burst of talk in a room and one run over it.
func (w *ConsoleWorld) bustle(room spaces.SpaceID, mind spaces.Mind, name string, n int, at time.Time, fails bool) spaces.CycleID {
	items := make([]spaces.IngestItem, max(n, 1))
	for k := range items {
		items[k] = spaces.IngestItem{
			From: spaces.PlatformIdentity{Platform: "telegram", User: "u" + strconv.Itoa(k%50), Kind: spaces.Human, Name: "person " + strconv.Itoa(k%50)},
			Event: spaces.Event{
				Space: room, Object: spaces.ChatObject, At: at, Source: account + "|" + name + "|" + strconv.Itoa(k),
				Body: spaces.MessagePosted{Text: "something that somebody says about the garden, the weather and the plans for the week"},
			},
		}
	}
	_, err := w.Store.Border().Record(w.t.Context(), spaces.IngestBatch{Account: account, At: at, Items: items})
	if err != nil {
		w.t.Error(err)
		return ""
	}
	wake, err := w.Store.Shell().Claim(w.t.Context(), spaces.WakeClaim{Mind: mind, Space: room, Holder: "test", TTL: time.Hour, At: at, Judge: firstWakes})
	if err != nil || wake == nil {
		w.t.Errorf("%s is not woken: %v", name, err)
		return ""
	}
	c := w.step(wake, 0, at.Add(time.Second), "busy", []spaces.TranscriptTurn{{Role: spaces.RoleUser, Text: "INBOX"}}, 0)
	c.Turns = []spaces.TranscriptTurn{{Role: spaces.RoleUser, Text: "INBOX"}, {Role: spaces.RoleAssistant, Text: "Nothing to add."}}
	c.Upto = wake.Rows[len(wake.Rows)-1].Seq
	c.Close = &spaces.CycleClose{Stop: spaces.StopSilent, Rest: "Stayed silent."}
	if fails {
		c.Close = &spaces.CycleClose{Stop: spaces.StopModelError, Detail: "the endpoint does not answer", Rest: "Failed."}
		c.Inner = append(c.Inner, spaces.CallDenied{Denial: spaces.Denial{Agent: mind.Agent, Act: "use", Code: "tier_policy", Reason: "no", Space: room, Cycle: wake.Cycle.ID, At: at}})
	}
	if _, err := w.Store.Shell().Commit(w.t.Context(), c); err != nil {
		w.t.Error(err)
	}
	return wake.Cycle.ID
}

// firstWakes lets the first row wake and the rest be seen.
func firstWakes(j spaces.GateInput) []spaces.GateDecision {
	var all []spaces.GateDecision
	for i, r := range j.Rows {
		all = append(all, spaces.GateDecision{Seq: r.Seq, Wake: i == 0, Reason: "mention"})
	}
	return all
}

// Strangers fills the record with n rooms of one chat each, every one with a
// mind of its own that ran once.
func (w *ConsoleWorld) Strangers(n int) {
	w.t.Helper()
	w.ok(w.Store.Border().Agents(w.t.Context(), []spaces.Entity{{ID: spaces.AgentID("ada").Entity(), Kind: spaces.Agent, Name: "Ada"}}))
	begin := time.Now().Add(-7 * 24 * time.Hour).Truncate(time.Millisecond)
	var busy sync.WaitGroup
	next := make(chan int)
	for range 32 {
		busy.Go(func() {
			for i := range next {
				at := begin.Add(time.Duration(i) * time.Second)
				place, err := w.Store.Border().Open(w.t.Context(), spaces.OpenRequest{
					Name: "room " + strconv.Itoa(i), Wake: spaces.WakeMention, Agents: []spaces.AgentID{"ada"}, At: at,
					Chats: []spaces.ChatMapping{{Account: account, Chat: "-" + strconv.Itoa(i), Live: true}},
				})
				w.ok(err)
				w.bustle(place.Space, spaces.Mind{Agent: "ada", Circle: place.Circle}, strconv.Itoa(i), 5, at, false)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	busy.Wait()
}
