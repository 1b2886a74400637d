package spaces

import (
	"encoding/json"
	"fmt"
)

// Encode returns the stored form of a body. Fields are only ever added to it.
func Encode(b EventBody) ([]byte, error) {
	out, err := json.Marshal(b)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", b.Kind(), err)
	}
	return out, nil
}

// Decode reads what [Encode] wrote for a body of that kind. A kind written by a
// newer version comes back as [Unreadable], with its bytes.
func Decode(k EventKind, data []byte) (EventBody, error) {
	decode, ok := decoders[k]
	if !ok {
		return UnreadableUpdate{What: string(k), Reason: "written by a newer version", Raw: data}, nil
	}
	b, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("decode %s: %w", k, err)
	}
	return b, nil
}

var decoders = map[EventKind]func([]byte) (EventBody, error){
	KindSaid:         decode[MessagePosted],
	KindEdited:       decode[MessageEdited],
	KindDeleted:      decode[MessageDeleted],
	KindReacted:      decode[ReactionAdded],
	KindUnreacted:    decode[ReactionRemoved],
	KindJoined:       decode[MemberJoined],
	KindLeft:         decode[MemberLeft],
	KindRenamed:      decode[SpaceRenamed],
	KindPinned:       decode[MessagePinned],
	KindUnpinned:     decode[MessageUnpinned],
	KindMigrated:     decode[ChatMigrated],
	KindLinked:       decode[ChatLinked],
	KindUnlinked:     decode[ChatUnlinked],
	KindDelivered:    decode[ActionDelivered],
	KindFailed:       decode[SendFailed],
	KindGap:          decode[HistoryGap],
	KindUnreadable:   decode[UnreadableUpdate],
	KindTranscribed:  decode[VoiceTranscribed],
	KindNoted:        decode[NoteAdded],
	KindBookmarked:   decode[BookmarkSet],
	KindWoke:         decode[CycleStarted],
	KindThought:      decode[ThoughtRecorded],
	KindActed:        decode[ToolCalled],
	KindResult:       decode[ToolReturned],
	KindSummed:       decode[CycleSummarised],
	KindGoal:         decode[GoalSet],
	KindRemembered:   decode[MemoryAdded],
	KindForgot:       decode[MemoryRemoved],
	KindDenied:       decode[CallDenied],
	KindTransitioned: decode[StatesChanged],
	KindCompacted:    decode[ContextCompacted],
	KindStopped:      decode[CycleStopped],
	KindSpan:         decode[SpanChanged],
}

func decode[T EventBody](data []byte) (EventBody, error) {
	var b T
	err := json.Unmarshal(data, &b)
	return b, err
}
