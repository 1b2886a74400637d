package spaces

import "strconv"

// DraftID names a draft. It follows from the step whose message the draft may
// become, so that a step that is thought again has the same one; unique for ever,
// and nobody parses it.
type DraftID string

// DraftOf returns the id of a step's draft.
func DraftOf(cycle CycleID, step int) DraftID {
	return DraftID(string(cycle) + "/" + strconv.Itoa(step))
}

// A Draft is what an agent is about to say, shown in one chat while it is being
// thought. It is decided by nobody: it is in no log, and what becomes of it is for
// the step to say.
type Draft struct {
	ID      DraftID
	Cycle   CycleID
	Step    int
	Agent   AgentID
	Space   SpaceID
	Account string
	Chat    string
	Thread  ThreadID // as the chat calls it
	Target  EventID  // message answered
	Text    string   // CommonMark so far, whole sentences
}
