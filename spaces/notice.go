package spaces

import "time"

// A ProcessNotice is a message of the process itself: a pairing code, an answer to a
// command, an alert.
type ProcessNotice struct {
	Key     string // unique for ever; a second notice with it is not posted
	Account string
	Chat    string
	Thread  ThreadID
	Text    string // CommonMark
	At      time.Time
	Expires time.Time
}
