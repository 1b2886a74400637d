package console

import "time"

// A LineSpan is a time during which the line of an account stood in one way.
type LineSpan struct {
	Line    string // its entry in the configuration
	Account string // empty while it is not known who we are there
	State   string // connecting, connected, degraded, misconfigured, conflict
	Reason  string
	From    time.Time
	To      time.Time // when it was last seen, or the next one began
	Newest  bool      // of its line
}

// An Account is one account as the record knows it.
type Account struct {
	Account string    `json:"account"`
	Heard   time.Time `json:"heard"`   // when something was last recorded; zero if never
	Said    time.Time `json:"said"`    // when something was last sent; zero if never
	Waiting int       `json:"waiting"` // to be sent
	Unknown int       `json:"unknown"` // that may have arrived
}
