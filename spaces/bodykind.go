package spaces

// Kind is the name of a body in stored data.
type Kind string

// The kinds of event in rooms.
const (
	KindSaid       Kind = "said"
	KindEdited     Kind = "edited"
	KindDeleted    Kind = "deleted"
	KindReacted    Kind = "reacted"
	KindUnreacted  Kind = "unreacted"
	KindJoined     Kind = "joined"
	KindLeft       Kind = "left"
	KindRenamed    Kind = "renamed"
	KindPinned     Kind = "pinned"
	KindUnpinned   Kind = "unpinned"
	KindMigrated   Kind = "migrated"
	KindLinked     Kind = "linked"
	KindUnlinked   Kind = "unlinked"
	KindDelivered  Kind = "delivered"
	KindFailed     Kind = "failed"
	KindGap        Kind = "gap"
	KindUnreadable Kind = "unreadable"

	KindTranscribed Kind = "transcribed"
)

// RoomKinds returns the kinds of event in rooms.
func RoomKinds() []Kind {
	return []Kind{
		KindSaid, KindEdited, KindDeleted, KindReacted, KindUnreacted, KindJoined, KindLeft, KindRenamed, KindPinned, KindUnpinned,
		KindMigrated, KindLinked, KindUnlinked, KindDelivered, KindFailed, KindGap, KindUnreadable, KindTranscribed,
	}
}

// The kinds of event in inner logs.
const (
	KindNoted        Kind = "noted"
	KindBookmarked   Kind = "bookmarked"
	KindWoke         Kind = "woke"
	KindThought      Kind = "thought"
	KindActed        Kind = "acted"
	KindResult       Kind = "result"
	KindSummed       Kind = "summed"
	KindGoal         Kind = "goal"
	KindRemembered   Kind = "remembered"
	KindForgot       Kind = "forgot"
	KindDenied       Kind = "denied"
	KindTransitioned Kind = "transitioned"
	KindCompacted    Kind = "compacted"
	KindStopped      Kind = "stopped"
	KindSpan         Kind = "span"
)

// Kind returns KindSaid.
func (Said) Kind() Kind { return KindSaid }

// Kind returns KindEdited.
func (Edited) Kind() Kind { return KindEdited }

// Kind returns KindDeleted.
func (Deleted) Kind() Kind { return KindDeleted }

// Kind returns KindReacted.
func (Reacted) Kind() Kind { return KindReacted }

// Kind returns KindUnreacted.
func (Unreacted) Kind() Kind { return KindUnreacted }

// Kind returns KindTranscribed.
func (Transcribed) Kind() Kind { return KindTranscribed }

// Kind returns KindJoined.
func (Joined) Kind() Kind { return KindJoined }

// Kind returns KindLeft.
func (Left) Kind() Kind { return KindLeft }

// Kind returns KindRenamed.
func (Renamed) Kind() Kind { return KindRenamed }

// Kind returns KindPinned.
func (Pinned) Kind() Kind { return KindPinned }

// Kind returns KindUnpinned.
func (Unpinned) Kind() Kind { return KindUnpinned }

// Kind returns KindMigrated.
func (Migrated) Kind() Kind { return KindMigrated }

// Kind returns KindLinked.
func (Linked) Kind() Kind { return KindLinked }

// Kind returns KindUnlinked.
func (Unlinked) Kind() Kind { return KindUnlinked }

// Kind returns KindDelivered.
func (Delivered) Kind() Kind { return KindDelivered }

// Kind returns KindFailed.
func (Failed) Kind() Kind { return KindFailed }

// Kind returns KindGap.
func (Gap) Kind() Kind { return KindGap }

// Kind returns KindUnreadable.
func (Unreadable) Kind() Kind { return KindUnreadable }

// Kind returns KindNoted.
func (Noted) Kind() Kind { return KindNoted }

// Kind returns KindBookmarked.
func (Bookmarked) Kind() Kind { return KindBookmarked }

// Kind returns KindWoke.
func (CycleStarted) Kind() Kind { return KindWoke }

// Kind returns KindThought.
func (Thought) Kind() Kind { return KindThought }

// Kind returns KindActed.
func (ToolCalled) Kind() Kind { return KindActed }

// Kind returns KindResult.
func (ToolReturned) Kind() Kind { return KindResult }

// Kind returns KindSummed.
func (CycleSummarised) Kind() Kind { return KindSummed }

// Kind returns KindGoal.
func (Goal) Kind() Kind { return KindGoal }

// Kind returns KindRemembered.
func (Remembered) Kind() Kind { return KindRemembered }

// Kind returns KindForgot.
func (Forgot) Kind() Kind { return KindForgot }

// Kind returns KindDenied.
func (Denied) Kind() Kind { return KindDenied }

// Kind returns KindTransitioned.
func (Transitioned) Kind() Kind { return KindTransitioned }

// Kind returns KindCompacted.
func (Compacted) Kind() Kind { return KindCompacted }

// Kind returns KindStopped.
func (Stopped) Kind() Kind { return KindStopped }

// Kind returns KindSpan.
func (SpanChanged) Kind() Kind { return KindSpan }

func (Said) body()            {}
func (Edited) body()          {}
func (Deleted) body()         {}
func (Reacted) body()         {}
func (Unreacted) body()       {}
func (Transcribed) body()     {}
func (Joined) body()          {}
func (Left) body()            {}
func (Renamed) body()         {}
func (Pinned) body()          {}
func (Unpinned) body()        {}
func (Migrated) body()        {}
func (Linked) body()          {}
func (Unlinked) body()        {}
func (Delivered) body()       {}
func (Failed) body()          {}
func (Gap) body()             {}
func (Unreadable) body()      {}
func (Noted) body()           {}
func (Bookmarked) body()      {}
func (CycleStarted) body()    {}
func (Thought) body()         {}
func (ToolCalled) body()      {}
func (ToolReturned) body()    {}
func (CycleSummarised) body() {}
func (Goal) body()            {}
func (Remembered) body()      {}
func (Forgot) body()          {}
func (Denied) body()          {}
func (Transitioned) body()    {}
func (Compacted) body()       {}
func (Stopped) body()         {}
func (SpanChanged) body()     {}
