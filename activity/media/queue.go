package media

import (
	"context"
	"io"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// VoiceTTL is how long after it came a voice is still worth hearing: what was said
// while nothing was transcribed is not paid for later.
const VoiceTTL = time.Hour

// IsVoice reports whether files of a kind are spoken messages. Music is none.
func IsVoice(kind string) bool { return kind == "voice" || kind == "video_note" }

// TranscriptionQueue keeps which spoken messages have been heard. Each has a row from the
// commit that stored its bytes.
type TranscriptionQueue interface {
	// Pending returns voices that are due and not older than [VoiceTTL], those that
	// wait longest first.
	Pending(ctx context.Context, at time.Time, limit int) ([]VoiceMessage, error)
	// Complete makes the outcome of one attempt durable, with what it took and, if it
	// was heard, the event that tells the room, in one transaction. A voice that is
	// settled already stays as it is, and the room is told nothing twice.
	Complete(ctx context.Context, h TranscriptionResult) error
	// Waits reports whether a voice may still be heard, or is still to be fetched.
	Waits(ctx context.Context, account, file string, at time.Time) (bool, error)
}

// A VoiceMessage is a spoken message that is here.
type VoiceMessage struct {
	Account string
	ID      string // the platform's own name for the file
	Space   spaces.SpaceID
	Event   spaces.EventID // the first message that carried it
	Kind    string
	Name    string
	Hash    string
	Bytes   int64
	Media   string
	Tries   int // that failed so far
}

// TranscriptionState is the state of a transcription.
type TranscriptionState string

// The states of a voice. The last two are terminal.
const (
	VoiceWanted  TranscriptionState = "wanted"
	VoiceHeard   TranscriptionState = "heard"
	VoiceUnheard TranscriptionState = "unheard" // given up; the message stays as it is
)

// TranscriptionResult is what became of one attempt to hear a voice.
type TranscriptionResult struct {
	Voice VoiceMessage
	State TranscriptionState
	At    time.Time
	Due   time.Time // when it is tried again, with VoiceWanted
	Text  string    // what was said; empty when nothing was
	Model string
	Usage spaces.TokenUsage
}

// A VoiceTranscriber hears voices.
type VoiceTranscriber interface {
	// Transcribe returns the speech of a recording as plain text, and the usage of the
	// call. name has the extension of the recording's format. An error that is not worth
	// another attempt wraps [ErrInaudible]. Calls may overlap.
	Transcribe(ctx context.Context, name string, recording io.Reader, size int64) (string, spaces.TokenUsage, error)
}
