package spaces

import (
	"encoding/json"
	"fmt"
)

// Encode returns the stored form of a body. Fields are only ever added to it.
func Encode(b Body) ([]byte, error) {
	out, err := json.Marshal(b)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", b.Kind(), err)
	}
	return out, nil
}

// Decode reads what [Encode] wrote for a body of that kind. A kind written by a
// newer version comes back as [Unreadable], with its bytes.
func Decode(k Kind, data []byte) (Body, error) {
	decode, ok := decoders[k]
	if !ok {
		return Unreadable{What: string(k), Reason: "written by a newer version", Raw: data}, nil
	}
	b, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("decode %s: %w", k, err)
	}
	return b, nil
}

var decoders = map[Kind]func([]byte) (Body, error){
	KindSaid:         decode[Said],
	KindEdited:       decode[Edited],
	KindDeleted:      decode[Deleted],
	KindReacted:      decode[Reacted],
	KindUnreacted:    decode[Unreacted],
	KindJoined:       decode[Joined],
	KindLeft:         decode[Left],
	KindRenamed:      decode[Renamed],
	KindPinned:       decode[Pinned],
	KindUnpinned:     decode[Unpinned],
	KindMigrated:     decode[Migrated],
	KindLinked:       decode[Linked],
	KindUnlinked:     decode[Unlinked],
	KindDelivered:    decode[Delivered],
	KindFailed:       decode[Failed],
	KindGap:          decode[Gap],
	KindUnreadable:   decode[Unreadable],
	KindTranscribed:  decode[Transcribed],
	KindNoted:        decode[Noted],
	KindBookmarked:   decode[Bookmarked],
	KindWoke:         decode[CycleStarted],
	KindThought:      decode[Thought],
	KindActed:        decode[ToolCalled],
	KindResult:       decode[ToolReturned],
	KindSummed:       decode[CycleSummarised],
	KindGoal:         decode[Goal],
	KindRemembered:   decode[Remembered],
	KindForgot:       decode[Forgot],
	KindDenied:       decode[Denied],
	KindTransitioned: decode[Transitioned],
	KindCompacted:    decode[Compacted],
	KindStopped:      decode[Stopped],
	KindSpan:         decode[SpanChanged],
}

func decode[T Body](data []byte) (Body, error) {
	var b T
	err := json.Unmarshal(data, &b)
	return b, err
}
