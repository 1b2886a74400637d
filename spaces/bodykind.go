package spaces

// EventKind is the name of a body in stored data.
type EventKind string

// The kinds of event in rooms.
const (
	KindSaid       EventKind = "said"
	KindEdited     EventKind = "edited"
	KindDeleted    EventKind = "deleted"
	KindReacted    EventKind = "reacted"
	KindUnreacted  EventKind = "unreacted"
	KindJoined     EventKind = "joined"
	KindLeft       EventKind = "left"
	KindRenamed    EventKind = "renamed"
	KindPinned     EventKind = "pinned"
	KindUnpinned   EventKind = "unpinned"
	KindMigrated   EventKind = "migrated"
	KindLinked     EventKind = "linked"
	KindUnlinked   EventKind = "unlinked"
	KindDelivered  EventKind = "delivered"
	KindFailed     EventKind = "failed"
	KindGap        EventKind = "gap"
	KindUnreadable EventKind = "unreadable"

	KindTranscribed EventKind = "transcribed"
)

// RoomKinds returns the kinds of event in rooms.
func RoomKinds() []EventKind {
	return []EventKind{
		KindSaid, KindEdited, KindDeleted, KindReacted, KindUnreacted, KindJoined, KindLeft, KindRenamed, KindPinned, KindUnpinned,
		KindMigrated, KindLinked, KindUnlinked, KindDelivered, KindFailed, KindGap, KindUnreadable, KindTranscribed,
	}
}

// The kinds of event in inner logs.
const (
	KindNoted        EventKind = "noted"
	KindBookmarked   EventKind = "bookmarked"
	KindWoke         EventKind = "woke"
	KindThought      EventKind = "thought"
	KindActed        EventKind = "acted"
	KindResult       EventKind = "result"
	KindSummed       EventKind = "summed"
	KindGoal         EventKind = "goal"
	KindRemembered   EventKind = "remembered"
	KindForgot       EventKind = "forgot"
	KindDenied       EventKind = "denied"
	KindTransitioned EventKind = "transitioned"
	KindCompacted    EventKind = "compacted"
	KindStopped      EventKind = "stopped"
	KindSpan         EventKind = "span"
)

// Kind returns KindSaid.
func (MessagePosted) Kind() EventKind { return KindSaid }

// Kind returns KindEdited.
func (MessageEdited) Kind() EventKind { return KindEdited }

// Kind returns KindDeleted.
func (MessageDeleted) Kind() EventKind { return KindDeleted }

// Kind returns KindReacted.
func (ReactionAdded) Kind() EventKind { return KindReacted }

// Kind returns KindUnreacted.
func (ReactionRemoved) Kind() EventKind { return KindUnreacted }

// Kind returns KindTranscribed.
func (VoiceTranscribed) Kind() EventKind { return KindTranscribed }

// Kind returns KindJoined.
func (MemberJoined) Kind() EventKind { return KindJoined }

// Kind returns KindLeft.
func (MemberLeft) Kind() EventKind { return KindLeft }

// Kind returns KindRenamed.
func (SpaceRenamed) Kind() EventKind { return KindRenamed }

// Kind returns KindPinned.
func (MessagePinned) Kind() EventKind { return KindPinned }

// Kind returns KindUnpinned.
func (MessageUnpinned) Kind() EventKind { return KindUnpinned }

// Kind returns KindMigrated.
func (ChatMigrated) Kind() EventKind { return KindMigrated }

// Kind returns KindLinked.
func (ChatLinked) Kind() EventKind { return KindLinked }

// Kind returns KindUnlinked.
func (ChatUnlinked) Kind() EventKind { return KindUnlinked }

// Kind returns KindDelivered.
func (ActionDelivered) Kind() EventKind { return KindDelivered }

// Kind returns KindFailed.
func (SendFailed) Kind() EventKind { return KindFailed }

// Kind returns KindGap.
func (HistoryGap) Kind() EventKind { return KindGap }

// Kind returns KindUnreadable.
func (UnreadableUpdate) Kind() EventKind { return KindUnreadable }

// Kind returns KindNoted.
func (NoteAdded) Kind() EventKind { return KindNoted }

// Kind returns KindBookmarked.
func (BookmarkSet) Kind() EventKind { return KindBookmarked }

// Kind returns KindWoke.
func (CycleStarted) Kind() EventKind { return KindWoke }

// Kind returns KindThought.
func (ThoughtRecorded) Kind() EventKind { return KindThought }

// Kind returns KindActed.
func (ToolCalled) Kind() EventKind { return KindActed }

// Kind returns KindResult.
func (ToolReturned) Kind() EventKind { return KindResult }

// Kind returns KindSummed.
func (CycleSummarised) Kind() EventKind { return KindSummed }

// Kind returns KindGoal.
func (GoalSet) Kind() EventKind { return KindGoal }

// Kind returns KindRemembered.
func (MemoryAdded) Kind() EventKind { return KindRemembered }

// Kind returns KindForgot.
func (MemoryRemoved) Kind() EventKind { return KindForgot }

// Kind returns KindDenied.
func (CallDenied) Kind() EventKind { return KindDenied }

// Kind returns KindTransitioned.
func (StatesChanged) Kind() EventKind { return KindTransitioned }

// Kind returns KindCompacted.
func (ContextCompacted) Kind() EventKind { return KindCompacted }

// Kind returns KindStopped.
func (CycleStopped) Kind() EventKind { return KindStopped }

// Kind returns KindSpan.
func (SpanChanged) Kind() EventKind { return KindSpan }

func (MessagePosted) body()    {}
func (MessageEdited) body()    {}
func (MessageDeleted) body()   {}
func (ReactionAdded) body()    {}
func (ReactionRemoved) body()  {}
func (VoiceTranscribed) body() {}
func (MemberJoined) body()     {}
func (MemberLeft) body()       {}
func (SpaceRenamed) body()     {}
func (MessagePinned) body()    {}
func (MessageUnpinned) body()  {}
func (ChatMigrated) body()     {}
func (ChatLinked) body()       {}
func (ChatUnlinked) body()     {}
func (ActionDelivered) body()  {}
func (SendFailed) body()       {}
func (HistoryGap) body()       {}
func (UnreadableUpdate) body() {}
func (NoteAdded) body()        {}
func (BookmarkSet) body()      {}
func (CycleStarted) body()     {}
func (ThoughtRecorded) body()  {}
func (ToolCalled) body()       {}
func (ToolReturned) body()     {}
func (CycleSummarised) body()  {}
func (GoalSet) body()          {}
func (MemoryAdded) body()      {}
func (MemoryRemoved) body()    {}
func (CallDenied) body()       {}
func (StatesChanged) body()    {}
func (ContextCompacted) body() {}
func (CycleStopped) body()     {}
func (SpanChanged) body()      {}
