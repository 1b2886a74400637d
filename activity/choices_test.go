package activity

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// A buttoned platform shows buttons.
type buttoned struct {
	*platform
	labels []string
}

func (p *buttoned) Send(ctx context.Context, m adapters.OutgoingMessage) (adapters.Receipt, error) {
	for _, c := range m.Choices {
		p.labels = append(p.labels, c.Label)
	}
	return p.platform.Send(ctx, m)
}

func (p *buttoned) AnswerPress(context.Context, string, string) error { return nil }

func (p *buttoned) EditChoices(ctx context.Context, m adapters.MessageRef, text string, choices []adapters.ChoiceButton) error {
	p.labels = nil
	for _, c := range choices {
		p.labels = append(p.labels, c.Label)
	}
	return p.Edit(ctx, m, text)
}

// TOOLS 4: a question has its options as buttons where the platform shows them, and as a
// numbered list elsewhere.
func TestOptionsAreButtonsOrAList(t *testing.T) {
	options := []string{"Tuesday", "Wednesday"}
	for name, want := range map[string]struct {
		buttons bool
		text    string
		labels  []string
	}{
		"buttons": {true, "Which day?", options},
		"a list":  {false, "Which day?\n\n1. Tuesday\n2. Wednesday", nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &buttoned{platform: &platform{}}
				var ad adapters.Adapter = p
				if !want.buttons {
					ad = p.platform
				}
				r := newRecord()
				a := spaces.Action{ID: "x", Chat: "c", Text: "Which day?" + spaces.OptionList(options), Policy: spaces.ResendOnce}
				for _, o := range options {
					a.Choices = append(a.Choices, spaces.ChoiceButton{Label: o, Value: "ask run " + o})
				}
				r.put(a)
				runEgress(t, NewEgress(ours, ad, r, NewSpaceMapping(r, r), EgressOptions{}))
				after(time.Minute)
				testutil.Same(t, "texts", []string{want.text}, p.texts("c"))
				if !slices.Equal(p.labels, want.labels) {
					t.Errorf("buttons %q, want %q", p.labels, want.labels)
				}
			})
		})
	}
}
