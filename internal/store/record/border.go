package record

import "github.com/trestle-bridge/trestle/activity"

// A Border is the record as the border sees it: which chat belongs where, what
// was received, what is to be sent.
type Border struct{ s *Store }

var (
	_ activity.Directory = Border{}
	_ activity.Log       = Border{}
	_ activity.Outbox    = Border{}
	_ activity.Chats     = Border{}
	_ activity.Notices   = Border{}
	_ activity.Pairings  = Border{}
	_ activity.Roles     = Border{}
	_ activity.Insight   = Border{}
	_ activity.Shelf     = Border{}
	_ activity.Voices    = Border{}
)

// Border returns the border's view of the store.
func (s *Store) Border() Border { return Border{s} }
