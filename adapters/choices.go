package adapters

import "context"

// Bounds of the buttons below one message, which every platform with buttons keeps.
const (
	MaxChoices     = 8   // buttons
	MaxChoiceLabel = 75  // bytes of a label: Slack's bound, in characters
	MaxChoiceValue = 64  // bytes of a value: Telegram's bound of callback_data
	MaxPressText   = 200 // bytes of the answer to a press: Telegram's bound, in characters
)

// A ChoiceButton is a button below a message.
type ChoiceButton struct {
	Label string // what people read: plain text of at most MaxChoiceLabel bytes
	Value string // what comes back with a press: 1 to MaxChoiceValue bytes, unique below the message
}

// A ChoiceOfferer shows the buttons of [OutgoingMessage.Choices], and delivers a press of
// one as a [ChoicePicked]. [MessageEditor.Edit] takes the buttons of a message away.
type ChoiceOfferer interface {
	// AnswerPress ends a press on its platform, which waits a few seconds for it.
	// press is [ChoicePicked.Press]. The text, plain and of at most [MaxPressText] bytes, is
	// shown to the person who pressed and to no one else; an empty one shows nothing. What
	// names no press is [Invalid], and so is a press that was given up or answered before
	// where the platform says so.
	AnswerPress(ctx context.Context, press, text string) error
	// EditChoices is [MessageEditor.Edit] that gives the message these buttons.
	EditChoices(ctx context.Context, m MessageRef, text string, choices []ChoiceButton) error
}

// ChoicePicked means that a person pressed a button below a message of ours. What the
// person chose is Value, which a client may forge: it proves nothing.
type ChoicePicked struct {
	Message string // platform id of the message with the button
	Value   string // [ChoiceButton.Value]
	Press   string // the platform's name of the press, for [ChoiceOfferer.AnswerPress]; empty: it waits for no answer
	// Stop is true for a press of the platform's own Stop ([Stopper]), which has no Value. It
	// means the update's thread, or the thread that hangs on Message where that is given.
	Stop bool
}

func (ChoicePicked) body() {}
