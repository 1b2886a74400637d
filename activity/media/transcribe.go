package media

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/retry"
	"github.com/trestle-bridge/trestle/spaces"
)

// ErrInaudible says that a recording cannot be transcribed, now or later.
var ErrInaudible = errors.New("the recording cannot be heard")

const (
	// maxVoiceTries is how often a voice is asked about before it is given up.
	maxVoiceTries = 4
	// maxVoice bounds the bytes of a voice: what endpoints take.
	maxVoice = 25 << 20
	// voicePatience is how long hearing one voice may take.
	voicePatience = 2 * time.Minute
	// storeTimeout is how long storing a result may take.
	storeTimeout = 10 * time.Second
)

// A TranscriptionWorker has the spoken messages heard that people send, after they have been
// fetched, and writes what was said into their rooms, once.
type TranscriptionWorker struct {
	voices   TranscriptionQueue
	cupboard BlobStore
	hearing  VoiceTranscriber
	o        TranscriptionOptions
	bell     retry.WakeSignal
}

// TranscriptionOptions bound what a scribe does.
type TranscriptionOptions struct {
	// Model names who hears, for the record. Default: none.
	Model string
	// Allowed reports whether the budget of a voice's room and of the day has room
	// for another voice. Default: always.
	Allowed func(ctx context.Context, v VoiceMessage, at time.Time) (bool, error)
	// Logger takes a line for each voice. Default: none are written.
	Logger *slog.Logger
}

// NewTranscriptionWorker returns a scribe.
func NewTranscriptionWorker(v TranscriptionQueue, c BlobStore, t VoiceTranscriber, o TranscriptionOptions) *TranscriptionWorker {
	if o.Allowed == nil {
		o.Allowed = func(context.Context, VoiceMessage, time.Time) (bool, error) { return true, nil }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &TranscriptionWorker{voices: v, cupboard: c, hearing: t, o: o, bell: retry.NewWakeSignal()}
}

// Run has voices heard until ctx is done, one at a time. One that a stop cut off
// is heard anew.
func (s *TranscriptionWorker) Run(ctx context.Context) error {
	retry.PollLoop(ctx, s.bell, pollInterval, s.round, func(err error) { s.o.Logger.Error("voices not looked after", "err", err) })
	return nil
}

// Ring tells that there may be something to hear. It never blocks.
func (s *TranscriptionWorker) Ring() { s.bell.Set() }

func (s *TranscriptionWorker) round(ctx context.Context) (busy bool, err error) {
	due, err := s.voices.Pending(ctx, time.Now(), 1)
	if err != nil || len(due) == 0 {
		return false, err
	}
	h, err := s.hear(ctx, due[0])
	if err != nil || ctx.Err() != nil && h.State != VoiceHeard {
		return false, err // it is still wanted
	}
	s.o.Logger.Info("voice settled", "space", string(h.Voice.Space), "state", string(h.State), "bytes", h.Voice.Bytes, "tries", h.Voice.Tries+1)
	// What was paid for is recorded although the process stops.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	return true, s.voices.Complete(ctx, h)
}

// hear makes one attempt. An error is the record's trouble.
func (s *TranscriptionWorker) hear(ctx context.Context, v VoiceMessage) (TranscriptionResult, error) {
	h := TranscriptionResult{Voice: v, State: VoiceUnheard, At: time.Now(), Model: s.o.Model}
	allowed, err := s.o.Allowed(ctx, v, h.At)
	switch {
	case err != nil:
		return h, fmt.Errorf("budget of %s: %w", v.Space, err)
	case !allowed, v.Bytes > maxVoice:
		return h, nil
	}
	recording, err := s.cupboard.Take(v.Hash)
	if err != nil {
		s.o.Logger.Error("voice is not where it was put", "err", err)
		return h, nil
	}
	limited, cancel := context.WithTimeout(ctx, voicePatience)
	defer cancel()
	text, usage, err := s.hearing.Transcribe(limited, voiceName(v), recording, v.Bytes)
	h.Usage, h.At = usage, time.Now()
	if closed := recording.Close(); err == nil {
		err = closed
	}
	switch {
	case err == nil:
		h.State, h.Text = VoiceHeard, spaces.TruncateText(strings.TrimSpace(text), spaces.MaxTextBytes)
	case !errors.Is(err, ErrInaudible) && v.Tries+1 < maxVoiceTries:
		s.o.Logger.Warn("voice not heard", "err", err, "tries", v.Tries+1)
		h.State, h.Due = VoiceWanted, h.At.Add(10*retry.BackoffAfter(v.Tries+1))
	default:
		s.o.Logger.Warn("voice given up", "err", err, "tries", v.Tries+1)
	}
	return h, nil
}

// voiceName returns a name whose end says what a recording is: endpoints go by it.
func voiceName(v VoiceMessage) string {
	if end := FileExtension(v.Media); end != "" {
		return "voice" + end
	}
	if v.Kind == "video_note" {
		return "voice.mp4"
	}
	return "voice.ogg"
}
