package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/activity/media"
	"github.com/trestle-bridge/trestle/internal/config"
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
	return fm.hasBudget(ctx, v.Space, at)
}

// hasBudget reports whether the budgets of a space and of everything have room for more in the day of at.
func (core *Core) hasBudget(ctx context.Context, space spaces.SpaceID, at time.Time) (bool, error) {
	spent, err := core.Store.Shell().Spent(ctx, at, "", space)
	if err != nil {
		return false, err
	}
	b := core.Config().SettingsFor("", core.keyOf(space)).Budget
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

// maxSpoken bounds the characters of a message that is spoken: what endpoints take.
const maxSpoken = 4096

// keptRecordings is how many recordings are kept for further attempts to send them.
const keptRecordings = 16

// A messageSpeaker has what agents answer to voice messages spoken. It implements
// [activity.MessageSpeaker].
type messageSpeaker struct {
	*agentSet

	mu     sync.Mutex // guards what follows
	of     config.ModelEndpoint
	opened llm.SpeechSynthesizer // the endpoint of
	order  []spaces.EventID      // of made, the oldest first
	made   map[spaces.EventID][]byte
}

var _ activity.MessageSpeaker = (*messageSpeaker)(nil)

// Spoken implements [activity.MessageSpeaker].
func (m *messageSpeaker) Spoken(ctx context.Context, a spaces.Action) (bool, error) {
	c := m.Config()
	if a.Cycle == "" || c.Model.Offline || c.SettingsFor(string(a.Agent), m.keyOf(a.Space)).Voice.Speak == "" {
		return false, nil
	}
	return m.border.AskedByVoice(ctx, a.Cycle, a.Space)
}

// Speak implements [activity.MessageSpeaker].
func (m *messageSpeaker) Speak(ctx context.Context, a spaces.Action, text string) ([]byte, error) {
	if recording := m.recording(a.Event); recording != nil {
		return recording, nil
	}
	if n := utf8.RuneCountInString(text); n == 0 || n > maxSpoken {
		return nil, fmt.Errorf("%d characters are not spoken, up to %d are", n, maxSpoken)
	}
	if allowed, err := m.hasBudget(ctx, a.Space, time.Now()); err != nil || !allowed {
		return nil, cmp.Or(err, errors.New("the budget of the day is used up"))
	}
	endpoint, err := m.endpoint()
	if err != nil {
		return nil, err
	}
	voice := m.Config().SettingsFor(string(a.Agent), m.keyOf(a.Space)).Voice
	recording, u, err := endpoint.Speak(ctx, voice.Speak, voice.Name, text)
	usage := m.usageAt(voice.Speak, u)
	if err == nil {
		usage.Calls = 1
		m.keep(a.Event, recording)
	}
	return recording, errors.Join(err, m.border.CountSpeech(context.WithoutCancel(ctx), time.Now(), a.Space, usage))
}

// endpoint returns the endpoint at the top of the configuration.
func (m *messageSpeaker) endpoint() (llm.SpeechSynthesizer, error) {
	if m.speech != nil {
		return m.speech, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if of := m.Config().Model; m.opened == nil || m.of != of {
		client, err := m.OpenEndpoint(of)
		if err != nil {
			return nil, err
		}
		speech, ok := client.(llm.SpeechSynthesizer)
		if !ok {
			return nil, fmt.Errorf("the provider %s speaks nothing", of.Provider)
		}
		m.opened, m.of = speech, of
	}
	return m.opened, nil
}

// recording returns what was made of a message; nil where nothing is kept of it.
func (m *messageSpeaker) recording(of spaces.EventID) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.made[of]
}

// keep keeps a recording until newer ones take its place.
func (m *messageSpeaker) keep(of spaces.EventID, recording []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.made == nil {
		m.made = map[spaces.EventID][]byte{}
	}
	if m.order = append(m.order, of); len(m.order) > keptRecordings {
		delete(m.made, m.order[0])
		m.order = m.order[1:]
	}
	m.made[of] = recording
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
