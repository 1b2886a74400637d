package spaces

import "time"

// A CycleSummary is what a cheaper model made of the accounts of consecutive old cycles
// while nothing else was to do. It is no event: it says nothing that they do not
// say, and it can be made again.
type CycleSummary struct {
	Mind        Mind
	First, Last int64 // numbers of the cycles
	Text        string
	Sources     []EventID  // messages that those cycles were shown; with one of them it goes
	Readers     []EntityID // who could read all of the rooms the cycles were in
	Model       string     // the endpoint's name for who made it
	Space       SpaceID    // for which it is counted, beside everything
	Usage       Usage
	At          time.Time
}
