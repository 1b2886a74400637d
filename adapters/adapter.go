package adapters

import (
	"context"
	"time"
)

// An Adapter is one account on one platform.
type Adapter interface {
	// Connect proves the credentials and says who we are there. It is called
	// before Receive and again after every failure of Receive. After an
	// error of kind [Unauthorized] it is called again slowly, and after a final one
	// ([IsFinal]) not before the configuration changes.
	Connect(ctx context.Context) (BotAccount, error)

	// Receive hands batches to sink, in the platform's order for each chat, until
	// ctx is done (then it returns nil) or the connection is lost (then the
	// reason). It resumes after the cursor of the last batch the sink took; a
	// nil cursor means from the oldest the platform still holds. At most one
	// Receive runs at a time.
	Receive(ctx context.Context, cursor []byte, sink UpdateSink) error

	// Split cuts a CommonMark text into the parts the platform will take as one
	// message each, in order and already in the platform's form. It is pure:
	// the same text gives the same parts, so that a restart continues at the
	// part it had reached. An empty text has no parts.
	Split(text string) []string

	// Send posts one part. A nil error means the platform accepted it; any other
	// outcome is an [*Error] whose kind says whether it may have been accepted.
	// Calls may overlap.
	Send(ctx context.Context, p OutgoingMessage) (Receipt, error)
}

// An UpdateSink takes what an adapter received.
type UpdateSink interface {
	// Accept records the batch. A nil result means that every update and the
	// cursor are durable, by this call or an earlier one, so the platform may
	// forget them. The sink owns the batch from then on. Accept may be called
	// concurrently for different chats; the updates of one chat must arrive in order.
	Accept(ctx context.Context, b UpdateBatch) error

	// Alive tells that the platform proved to be there: a poll returned, a
	// heartbeat was acknowledged. It never blocks.
	Alive(at time.Time)
}

// An UpdateBatch is what one read of the platform gave. One without updates only moves
// the cursor.
type UpdateBatch struct {
	Updates []Update
	// Cursor is where Receive resumes once this batch is durable. Opaque to all
	// but the adapter; nil leaves the stored one.
	Cursor []byte
}

// A BotAccount says who we are on a platform.
type BotAccount struct {
	Platform string // "telegram", "slack", "discord", "local", "hook"
	ID       string // minted by the platform, unique there for ever
	Name     string // shown to people
	Handle   string // what people write after @, without the @; may be empty
}

// Key is the account's name in stored data: platform and id. A renamed entry of
// the configuration keeps its chats because they hang on this key.
func (a BotAccount) Key() string { return a.Platform + ":" + a.ID }

// A MessageEditor can replace the words of a message it sent by one part of a text, as
// [Adapter.Split] returned it. An edit that changes nothing is success. An edit takes the
// buttons of the message away.
type MessageEditor interface {
	Edit(ctx context.Context, m MessageRef, text string) error
}

// A MessageDeleter can delete a message. One that is gone already is success.
type MessageDeleter interface {
	Delete(ctx context.Context, m MessageRef) error
}

// A ReactionSetter can set its one reaction on a message; an empty emoji takes it back.
type ReactionSetter interface {
	React(ctx context.Context, m MessageRef, emoji string) error
}

// A TypingNotifier can show that something is being written in the chat and thread of at. The
// sign fades by itself. at.Message is the message that is being answered; empty: none is known.
type TypingNotifier interface {
	Typing(ctx context.Context, at MessageRef) error
}

// A RateLimitReporter knows the platform's own limits for one chat. The border asks it for
// the budget that sends, edits and typing of that chat share.
type RateLimitReporter interface {
	Pace(chat Chat) RateLimit
}

// RateLimit is a token bucket: Burst calls at once, then one every Every. The zero
// Pace is unlimited.
type RateLimit struct {
	Every time.Duration
	Burst int
}

// A MessageRef names one message on a platform.
type MessageRef struct {
	Chat    string
	Thread  string // empty outside threads
	Message string
}

// An OutgoingMessage is one part of a message to send.
type OutgoingMessage struct {
	Chat    string
	Thread  string // empty: the chat itself
	ReplyTo string // platform id of the message answered; empty: none. A vanished target is no error
	// Start is the first message of the thread of answers that contains ReplyTo, for
	// platforms that attach every answer to the first. Empty: ReplyTo itself.
	Start string
	Text  string // as [Adapter.Split] returned it
	// Broadcast shows an answer in a thread in the chat itself as well, where the
	// adapter is a [ThreadBroadcaster]; elsewhere it is ignored.
	Broadcast bool
	// Key is an opaque id, the same for every attempt at this part, for platforms
	// that can refuse or find a second copy.
	Key string
	// Mentions are the people named in Text that the platform should notify.
	Mentions []Person
	// Face is who seems to speak, where the platform lets an account choose;
	// elsewhere it is ignored. The zero Face is the account's own.
	Face AgentPersona
	// Unmasked is what a [PersonaSender] sends in place of Text where the Face cannot
	// be shown: the same words, with who says them. Empty: Text.
	Unmasked string
	// Decided is when the caller decided to send this; no attempt was made before. Zero:
	// not known.
	Decided time.Time
	// Choices are the buttons below the message, at most [MaxChoices], where the adapter
	// is a [ChoiceOfferer]; elsewhere they are ignored.
	Choices []ChoiceButton
	// Files go along with the words, which may then be few: a platform may take
	// them for a caption. What it cannot take makes the send [Invalid].
	Files []OutgoingFile
}

// A Receipt proves that the platform accepted a message.
type Receipt struct {
	Message string // platform id, unique within the chat
	At      time.Time
}
