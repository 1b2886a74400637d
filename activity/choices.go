package activity

import (
	"context"
	"time"

	"github.com/trestle-bridge/trestle/activity/access"
	"github.com/trestle-bridge/trestle/activity/commands"
	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/spaces"
)

// pressTime bounds how long the answer to a press may take: the updates behind it wait.
const pressTime = 3 * time.Second

// tooManyPresses is what a person is told who presses more often than is looked at.
const tooManyPresses = "That is too often: please try again in a minute."

// AnswerPresses has presses of buttons answered by the account's adapter, if that can show
// buttons. It is called before the first update is accepted.
func (in *Ingress) AnswerPresses(ad adapters.Adapter) {
	in.presses, _ = ad.(adapters.ChoiceOfferer)
	in.stopper, _ = ad.(adapters.Stopper)
}

// takeChoice does what a person chose by a button and answers the press, so that the
// platform shows it as done. A press is no event of a room. One that is delivered again
// changes nothing, because a choice counts once.
func (in *Ingress) takeChoice(ctx context.Context, u adapters.Update, picked adapters.ChoicePicked, places []spaces.ChatPlacement, at time.Time) {
	text := ""
	who := access.SenderID{Scope: u.From.Scope, User: u.From.ID}
	o := in.options.Load()
	_, isStop := spaces.ParseStop(picked.Value)
	switch {
	case len(places) == 0 || o.Commands == nil || u.From.Kind != adapters.Human || u.From.ID == "":
	case !in.senders.AllowCommand(who, at) && !isStop: // a stop is obeyed in any case
		text = tooManyPresses
	default:
		q := commands.CommandRequest{Who: identity(in.account, u.From), Account: in.account.Key(), Direct: u.Chat.Kind == adapters.Direct, At: at}
		text = o.Commands.RunPressed(ctx, picked.Value, q, places, in.logger)
	}
	if in.presses == nil || picked.Press == "" {
		return
	}
	limited, cancel := context.WithTimeout(ctx, pressTime)
	defer cancel()
	err := adapters.CatchPanic(in.logger, "answer press", func() error {
		return in.presses.AnswerPress(limited, picked.Press, spaces.TruncateText(text, adapters.MaxPressText))
	})
	if err != nil && ctx.Err() == nil {
		in.logger.Info("press not answered", "chat", u.Chat.ID, "err", err)
	}
}

// takeStop does what a person pressed the platform's own Stop for. With an error nothing
// was stopped, and the update is to come again. Where there is nothing to stop, the platform
// is told so: it may have shown the Stop since before a restart.
func (in *Ingress) takeStop(ctx context.Context, u adapters.Update, picked adapters.ChoicePicked, places []spaces.ChatPlacement, at time.Time) error {
	o := in.options.Load()
	if len(places) == 0 || o.Commands == nil || u.From.Kind != adapters.Human || u.From.ID == "" {
		return nil
	}
	q := commands.CommandRequest{Who: identity(in.account, u.From), Direct: u.Chat.Kind == adapters.Direct, At: at}
	place := spaces.StopPlace{Thread: spaces.ThreadID(u.Thread.ID), Pressed: u.At}
	if picked.Message != "" {
		place.Message = spaces.MessageRef{Account: in.account.Key(), Chat: u.Chat.ID, Message: picked.Message}
	}
	met, err := o.Commands.StopHere(ctx, place, q, places)
	if err != nil || met || in.stopper == nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, pressTime)
	defer cancel()
	err = adapters.CatchPanic(in.logger, "show run", func() error {
		_, err := in.stopper.ShowRun(limited, adapters.RunStatus{Chat: u.Chat.ID, Thread: u.Thread.ID, Message: picked.Message, State: adapters.RunActive})
		return err
	})
	if err != nil && ctx.Err() == nil {
		in.logger.Info("end of a run not shown", "chat", u.Chat.ID, "err", err)
	}
	return nil
}

// choiceButtons returns buttons as a platform shows them.
func choiceButtons(choices []spaces.ChoiceButton) []adapters.ChoiceButton {
	var buttons []adapters.ChoiceButton
	for _, c := range choices[:min(len(choices), adapters.MaxChoices)] {
		buttons = append(buttons, adapters.ChoiceButton{Label: spaces.TruncateText(c.Label, adapters.MaxChoiceLabel), Value: c.Value})
	}
	return buttons
}

// labels returns what the buttons say.
func labels(choices []spaces.ChoiceButton) []string {
	var all []string
	for _, c := range choices {
		all = append(all, c.Label)
	}
	return all
}
