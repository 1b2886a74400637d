package shell

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// places notes where an agent is seen at it.
type places map[spaces.SpaceID]bool

func (p places) Active(s spaces.RunSign, _ <-chan bool) { p[s.Space] = true }

// SEQ-89, PRD-6.1-3: an agent is seen at it where it was woken, and whether it is goes by
// what it may say there, also when it goes on elsewhere.
func TestAnAgentIsSeenWhereItWasWoken(t *testing.T) {
	for _, mute := range []spaces.SpaceID{"hall", "den"} {
		synctest.Test(t, func(t *testing.T) {
			seen := places{}
			s := &Shell{Options: Options{ProgressDisplay: ProgressDisplay{Presence: seen}, Settings: func(_ spaces.AgentID, space spaces.SpaceID) (set AgentSettings) {
				if space == mute {
					set.Without = []string{"send_message"}
				}
				return set
			}}}
			w := &spaces.Wake{Cycle: spaces.Cycle{Mind: spaces.Mind{Agent: "ada"}, Space: "hall", Active: "den"}, Events: []spaces.Event{{}}}
			stop, _ := s.show(w, nil, func() bool { return false }, func() []spaces.AckReaction { return nil })
			<-time.After(time.Second)
			stop(true, spaces.StopCompleted)
			if seen["hall"] != (mute == "den") || seen["den"] {
				t.Errorf("silent in the %s it is seen in %v", mute, seen)
			}
		})
	}
}
