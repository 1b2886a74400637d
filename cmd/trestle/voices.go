package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/model"
	"github.com/trestle-bridge/trestle/internal/model/openai"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// hears reports whether the configuration names a model that hears voices.
func (p *parts) hears() bool {
	c := p.config()
	return c.SettingsFor("", "").Voice.Model != "" && !c.Model.Offline && p.files != nil
}

// write has voices heard and their words written down until ctx is done.
func (p *parts) write(ctx context.Context) error {
	if !p.hears() {
		return nil
	}
	hearer, name := p.hearer, p.config().SettingsFor("", "").Voice.Model
	if hearer == nil {
		endpoint, err := p.openEndpoint(p.config().Model)
		if err != nil {
			p.log.Error("voices are not heard", "error", err)
			return nil
		}
		hearer = hearing{endpoint, name}
	}
	s := activity.NewScribe(p.border, p.files, hearer, activity.ScribeOptions{Model: name, Allowed: p.mayHear, Logger: p.log})
	p.scribe.Store(s)
	return s.Run(ctx)
}

// mayHear reports whether the day's budgets have room for a voice. One that is
// spent leaves voices as they are.
func (p *parts) mayHear(ctx context.Context, v activity.Voice, at time.Time) (bool, error) {
	spent, err := p.store.Shell().Spent(ctx, at, "", v.Space)
	if err != nil {
		return false, err
	}
	b := p.config().SettingsFor("", p.keyOf(v.Space)).Budget
	return (b.PerDay == 0 || spent.All < b.PerDay) && (b.SpacePerDay == 0 || spent.Space < b.SpacePerDay), nil
}

// hearing is an endpoint's model that hears voices.
type hearing struct {
	endpoint *openai.Client
	model    string
}

var _ activity.Transcriber = hearing{}

// Transcribe asks the endpoint.
func (h hearing) Transcribe(ctx context.Context, name string, recording io.Reader, size int64) (string, spaces.Usage, error) {
	text, u, err := h.endpoint.Transcribe(ctx, h.model, name, recording, size)
	if e, ok := errors.AsType[*model.Error](err); ok && !e.Kind.Retryable() && e.Kind != model.Denied {
		err = fmt.Errorf("%w: %w", activity.ErrInaudible, err)
	}
	usage := spaces.Usage{Prompt: u.Prompt, Output: u.Output}
	if err == nil {
		usage.Calls = 1
	}
	return text, usage, err
}

// ears know which voices are still to be heard.
type ears struct{ voices activity.Voices }

var _ shell.Ears = ears{}

// Coming reports whether a file is a voice whose words are still to come.
func (e ears) Coming(ctx context.Context, account string, file spaces.Attachment) (bool, error) {
	if !activity.IsVoice(file.Kind) || file.ID == "" {
		return false, nil
	}
	return e.voices.Waits(ctx, account, file.ID, time.Now())
}
