package sqlstore

import "github.com/trestle-bridge/trestle/activity"

// A BridgeStore is the record as the border sees it: which chat belongs where, what
// was received, what is to be sent.
type BridgeStore struct{ s *Store }

var (
	_ activity.Directory          = BridgeStore{}
	_ activity.Log                = BridgeStore{}
	_ activity.Outbox             = BridgeStore{}
	_ activity.Chats              = BridgeStore{}
	_ activity.Notices            = BridgeStore{}
	_ activity.Pairings           = BridgeStore{}
	_ activity.Roles              = BridgeStore{}
	_ activity.RoomInspector      = BridgeStore{}
	_ activity.FileIndex          = BridgeStore{}
	_ activity.TranscriptionQueue = BridgeStore{}
)

// Border returns the border's view of the store.
func (s *Store) Border() BridgeStore { return BridgeStore{s} }
