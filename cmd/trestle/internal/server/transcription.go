package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/trestle-bridge/trestle/activity/media"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// transcribes reports whether the configuration names a model that transcribes voices.
func (fm *fileManager) transcribes() bool {
	c := fm.Config()
	return c.SettingsFor("", "").Voice.Model != "" && !c.Model.Offline && fm.files != nil
}

// runTranscription transcribes voices until ctx is done.
func (fm *fileManager) runTranscription(ctx context.Context) error {
	if !fm.transcribes() {
		return nil
	}
	hearer, name := fm.transcriber, fm.Config().SettingsFor("", "").Voice.Model
	if hearer == nil {
		endpoint, err := fm.OpenEndpoint(fm.Config().Model)
		if err != nil {
			fm.Log.Error("voices are not heard", "error", err)
			return nil
		}
		transcriber, ok := endpoint.(llm.AudioTranscriber)
		if !ok {
			fm.Log.Error("voices are not heard: the provider of the model transcribes nothing", "provider", fm.Config().Model.Provider)
			return nil
		}
		hearer = transcriptionEndpoint{transcriber, name, func(u llm.TokenUsage) spaces.TokenUsage { return fm.usageAt(name, u) }}
	}
	s := media.NewTranscriptionWorker(fm.border, fm.files, hearer, media.TranscriptionOptions{Model: name, Allowed: fm.mayTranscribe, Logger: fm.Log})
	fm.voices.Store(s)
	return s.Run(ctx)
}

// mayTranscribe reports whether the daily budgets have tokens left for a voice.
func (fm *fileManager) mayTranscribe(ctx context.Context, v media.VoiceMessage, at time.Time) (bool, error) {
	spent, err := fm.Store.Shell().Spent(ctx, at, "", v.Space)
	if err != nil {
		return false, err
	}
	b := fm.Config().SettingsFor("", fm.keyOf(v.Space)).Budget
	return !b.PerDay.Reached(spent.All) && !b.SpacePerDay.Reached(spent.Space), nil
}

// transcriptionEndpoint is a model that transcribes voices, with its endpoint.
type transcriptionEndpoint struct {
	endpoint llm.AudioTranscriber
	model    string
	usage    func(llm.TokenUsage) spaces.TokenUsage
}

var _ media.VoiceTranscriber = transcriptionEndpoint{}

// Transcribe calls the endpoint.
func (h transcriptionEndpoint) Transcribe(ctx context.Context, name string, recording io.Reader, size int64) (string, spaces.TokenUsage, error) {
	text, u, err := h.endpoint.Transcribe(ctx, h.model, name, recording, size)
	if e, ok := errors.AsType[*llm.Error](err); ok && !e.Kind.Retryable() && e.Kind != llm.Denied {
		err = fmt.Errorf("%w: %w", media.ErrInaudible, err)
	}
	usage := h.usage(u)
	if err == nil {
		usage.Calls = 1
	}
	return text, usage, err
}

// transcriptionStatus knows which voices are still to be transcribed.
type transcriptionStatus struct{ voices media.TranscriptionQueue }

var _ shell.TranscriptionStatus = transcriptionStatus{}

// Coming reports whether a file is a voice that is not transcribed yet.
func (e transcriptionStatus) Coming(ctx context.Context, account string, file spaces.FileAttachment) (bool, error) {
	if !media.IsVoice(file.Kind) || file.ID == "" {
		return false, nil
	}
	return e.voices.Waits(ctx, account, file.ID, time.Now())
}
