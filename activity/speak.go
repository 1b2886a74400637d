package activity

import (
	"bytes"
	"context"
	"io"
	"strings"

	"github.com/trestle-bridge/trestle/activity/media"
	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/markup"
	"github.com/trestle-bridge/trestle/spaces"
)

// A MessageSpeaker makes recordings of what agents say. Its methods may be called concurrently.
type MessageSpeaker interface {
	// Spoken reports whether a message is to be spoken as well as written.
	Spoken(ctx context.Context, a spaces.Action) (bool, error)
	// Speak returns a recording in Ogg Opus of the words of a message, which have no marks of Markdown.
	Speak(ctx context.Context, a spaces.Action, words string) ([]byte, error)
}

// spokenMark are the words of a recording on platforms that want words with each file.
const spokenMark = "🔊"

// spoken returns words as they are spoken: without marks of Markdown, addresses of links, code blocks and
// tables, which are drawn as such.
func spoken(words string) string {
	t := spokenWords.Read(words)
	var out strings.Builder
	from := 0
	for _, s := range t.Spans {
		if s.Look == markup.Pre && s.From >= from {
			out.WriteString(t.Words[from:s.From])
			from = s.To
		}
	}
	out.WriteString(t.Words[from:])
	return strings.TrimSpace(out.String())
}

var spokenWords = markup.New(markup.Options{Reach: func(address string) (string, markup.LinkPolicy) { return address, markup.Linked }})

// speaks reports whether an action's words are to be spoken as well. What cannot be found out is only
// written.
func (e *stepBuilder) speaks(ctx context.Context, a spaces.Action) bool {
	if e.o.Speaker == nil || e.fileSender == nil || a.Agent == "" || a.Recipient != "" || a.Text == "" {
		return false
	}
	wanted, err := e.o.Speaker.Spoken(ctx, a)
	if err != nil {
		e.logger.Error("not found out whether a message is to be spoken", "action", string(a.ID), "err", err)
	}
	return wanted && err == nil
}

// speakStep returns the step that sends a recording of an action's words behind them. Where none can be
// made, or the platform takes none, nothing is sent: the words are there.
func (e *stepBuilder) speakStep(at *sendTarget, part int) sendStep {
	a := at.action
	return sendStep{file: true, do: func(ctx context.Context) (adapters.Receipt, error) {
		recording, err := e.o.Speaker.Speak(ctx, a, spoken(a.Text))
		length, ok := media.OggDuration(recording)
		if err != nil || !ok || int64(len(recording)) > e.fileSender.MaxFile(a.Chat) {
			e.logger.Warn("message not spoken", "action", string(a.ID), "chat", a.Chat, "bytes", len(recording), "err", err)
			return adapters.Receipt{}, nil
		}
		p := adapters.OutgoingMessage{Text: spokenMark, Files: []adapters.OutgoingFile{{
			Name: "voice.ogg", MIME: "audio/ogg", Spoken: length,
			Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(recording)), nil },
		}}}
		s := e.post(at, part, p)
		if a.Thread != "" || a.RoomThread != "" {
			s = e.elsewhere(at, s, spokenMark, "")
		}
		receipt, err := s.do(ctx)
		if err != nil && adapters.KindOf(err).Permanent() {
			e.logger.Warn("recording not taken", "action", string(a.ID), "chat", a.Chat, "err", err)
			return adapters.Receipt{}, nil
		}
		return receipt, err
	}}
}
