package shell

import (
	"fmt"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// MISSIONS 2.7: what addresses no agent waits until the room is quiet, or as long as it may;
// it joins a wake by what addresses the agent, and what an earlier run has read wakes no
// other.
func TestAmbientTalkWaitsForAQuietMoment(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	type line struct {
		ago  time.Duration
		text string
	}
	for _, c := range []struct {
		name   string
		policy AmbientPolicy
		lines  []line
		cursor int64
		want   []string
	}{
		{"off", AmbientPolicy{Share: 1}, []line{{0, "hm"}}, 5, []string{"wake_all"}},
		{"just said", AmbientPolicy{Debounce: 20 * time.Second}, []line{{5 * time.Second, "hm"}}, 0, []string{"in 15s"}},
		{"quiet", AmbientPolicy{Debounce: 20 * time.Second}, []line{{30 * time.Second, "hm"}, {20 * time.Second, "yes"}}, 0, []string{"wake_all", "wake_all"}},
		{"a person goes on", AmbientPolicy{Debounce: 20 * time.Second}, []line{{20 * time.Second, "hm"}, {8 * time.Second, "yes"}}, 0, []string{"in 12s", "in 12s"}},
		{"for too long", AmbientPolicy{Debounce: 20 * time.Second, Longest: time.Minute}, []line{{time.Minute, "hm"}, {time.Second, "yes"}}, 0, []string{"wake_all", "wake_all"}},
		{"joins", AmbientPolicy{Debounce: 20 * time.Second}, []line{{5 * time.Second, "hm"}, {0, "@Ada and you?"}}, 0, []string{"wake_all", "mention"}},
		{"read already", AmbientPolicy{Debounce: 20 * time.Second}, []line{{30 * time.Second, "hm"}}, 1, []string{"not: seen"}},
		{"another is named", AmbientPolicy{InTurn: true}, []line{{0, "@Max and you?"}}, 0, []string{"in 2s"}},
		{"no agent is named", AmbientPolicy{InTurn: true}, []line{{0, "hm"}}, 0, []string{"wake_all"}},
	} {
		j := spaces.GateInput{Space: spaces.Space{Wake: spaces.WakeAll}, Uplink: spaces.Uplink{Cursor: c.cursor}, At: now, Members: []spaces.SpaceMember{
			{Entity: spaces.Entity{ID: "agent:ada", Kind: spaces.Agent, Name: "Ada"}}, {Entity: spaces.Entity{ID: "agent:max", Kind: spaces.Agent, Name: "Max"}}, {Entity: spaces.Entity{ID: "kai", Kind: spaces.Human, Name: "Kai"}}, {Entity: spaces.Entity{ID: "nova", Kind: spaces.Human, Name: "Nova"}},
		}}
		for i, l := range c.lines {
			id := spaces.EventID(fmt.Sprint(i))
			j.Rows = append(j.Rows, spaces.InboxRow{Seq: int64(i + 1), Event: id})
			j.Events = append(j.Events, spaces.Event{ID: id, Seq: int64(i + 1), Actor: "kai", Root: id, RecvAt: now.Add(-l.ago), At: now.Add(-l.ago), Body: spaces.MessagePosted{Text: l.text}})
		}
		var got []string
		for _, v := range (Gate{Agent: "ada", Ambient: c.policy}).Judge(j) {
			switch {
			case v.Wake:
				got = append(got, v.Reason)
			case v.Later.IsZero():
				got = append(got, "not: "+v.Reason)
			default:
				got = append(got, "in "+v.Later.Sub(now).String())
			}
		}
		testutil.Same(t, c.name, c.want, got)
	}
}

// Of many bursts about the wanted share wakes the agent, and the same ones each time.
func TestAShareOfAmbientTalkIsLookedAt(t *testing.T) {
	p, picked := AmbientPolicy{Share: 0.25}, 0
	for n := range 4000 {
		id := spaces.EventID(fmt.Sprintf("0198c5d2-%04d-7000-8000-00000000%04d", n%100, n))
		first := p.picks(id)
		if again := p.picks(id); again != first {
			t.Fatalf("%s is picked at times", id)
		}
		if first {
			picked++
		}
	}
	if picked < 800 || picked > 1200 {
		t.Errorf("%d of 4000 are looked at, want about 1000", picked)
	}
}
