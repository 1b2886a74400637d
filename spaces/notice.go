package spaces

import "time"

// A ProcessNotice is a message of the process itself: a pairing code, an answer to a
// command, an alert.
type ProcessNotice struct {
	Key     string // unique for ever; a second notice with it is not posted
	Account string
	Chat    string
	Thread  ThreadID
	// To is the platform id of the person who alone should see it, in a chat of several
	// people; where the platform has no such message, everybody sees it. Empty: everybody.
	To   string
	Text string // CommonMark
	// Choices are buttons below it, as [RoomNotice.Choices].
	Choices []ChoiceButton
	At      time.Time
	Expires time.Time
}

// A PairingDecision is what a person says in a chat about a person who asks to be let in.
type PairingDecision struct {
	Request string // its id, which is not the code
	Account string // through which it is said
	LetIn   bool
	By      PlatformIdentity
	At      time.Time
}
