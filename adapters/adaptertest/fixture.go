package adaptertest

import "github.com/trestle-bridge/trestle/adapters"

// A SuiteFixture is an adapter with its platform in hand. Fields and verbs are required
// unless their comment says what nil or empty means. Verbs return once the
// platform has done it, not once the adapter has seen it. What a rig starts it
// ends in a cleanup of the test it was opened with.
type SuiteFixture struct {
	Adapter adapters.Adapter
	// Restart returns a new adapter on the same account, as a new process would
	// make it. The earlier one receives no more.
	Restart func() adapters.Adapter

	Chat    string // a chat in which we and the person of Say are
	Other   string // another one
	Thread  string // a thread of Chat; empty: the platform has none
	Mention string // text that mentions the account; empty: the platform has no mentions
	Secret  string // a credential that must show nowhere; empty: there is none

	// Keeps is true where the platform stores messages for a client that was not connected
	// and marks them as old, rather than deliver them later as if they had just been
	// posted.
	Keeps bool

	// Sender is what the person of Say is to the platform. Default: a human.
	Sender adapters.PersonKind
	// Refused returns how many messages were refused whole, which their senders were
	// told; nil: what is said arrives in some form.
	Refused func() int

	// Say has the person say something.
	Say func(HumanLine) (message string)
	// Edit has the person edit a message; nil: people cannot.
	Edit func(chat, message, text string)
	// EditUnseen has an edit arrive whose original never did; nil: cannot be.
	EditUnseen func(chat, text string) (message string)
	// Delete has the person delete a message; nil: adapters are not told.
	Delete func(chat, message string)
	// DeleteUnseen has the deletion arrive of a message that never did; nil with Delete.
	DeleteUnseen func(chat string) (message string)
	// React sets the person's reactions to a message; nil: people cannot.
	React func(chat, message string, emoji ...string)
	// Comes and Goes have a person enter and leave the chat; nil: the platform cannot.
	Comes, Goes func(chat string) (person string)
	// Unknown makes an update of an unknown kind arrive; nil: the platform has none.
	Unknown func()
	// Malformed has an update arrive that cannot be read; nil: cannot be.
	Malformed func()
	// Redeliver has the platform deliver again what it was told to forget; nil: it never does.
	Redeliver func()
	// Disorder has everything from now on delivered several times and mixed; nil: cannot be.
	Disorder func()
	// Acked tells whether the platform was told to forget the message's update;
	// nil: it does not keep them.
	Acked func(message string) bool
	// Press has the person press the button with that label below a message of ours;
	// nil: the platform has no buttons.
	Press func(chat, message, label string)
	// Told returns what the person was told alone in the chat, oldest first; nil with
	// Press and Private.
	Told func(chat string) []string
	// Private has a person do what it needs that they can be told something alone in the
	// chat or a thread of it, and returns their platform id; nil: the adapter is no
	// PrivateSender.
	Private func(chat, thread string) (person string)
	// Stranger is the platform id of a person who is not in the chat; empty with Private.
	Stranger string

	// Fail arranges for the next call of that sort to fail that way, and reports
	// whether the platform can fail so; nil: it never fails.
	Fail func(CallFailure) bool
	// Requests counts the requests to post a message that reached the platform so
	// far; nil with Fail.
	Requests func() int
	// Sent returns what we posted to the chat, oldest first, as it is now.
	Sent func(chat string) []SentMessage
	// Gone returns the id of a message that the chat once had; nil: the platform
	// does not know which it has.
	Gone func(chat string) (message string)
	// Typed tells whether we were seen typing in the chat; nil: it is never seen.
	Typed func(chat string) bool
	// Logs returns what the adapter has logged so far; nil: it does not log.
	Logs func() string
}

// A HumanLine is something a person says.
type HumanLine struct {
	Chat    string
	Thread  string
	ReplyTo string
	Text    string
}

// SentMessage is a message of ours as the platform has it.
type SentMessage struct {
	Message   string
	Thread    string
	ReplyTo   string
	Text      string // without markup
	Deleted   bool
	Reactions []string // ours
	Buttons   []string // the labels of those below it
}

// A CallFailure is one way in which a platform lets a call down.
type CallFailure string

// The failures of sending, and what each must be told as.
const (
	Unreachable CallFailure = "unreachable"  // no connection: NotSent
	TooFast     CallFailure = "too fast"     // Limited, for two seconds
	BadMessage  CallFailure = "bad message"  // Invalid
	NoThread    CallFailure = "no thread"    // NoTarget
	Blocked     CallFailure = "blocked"      // Forbidden
	MovedAway   CallFailure = "moved away"   // Moved
	AnswerLost  CallFailure = "answer lost"  // the message was posted, the connection cut: Unknown
	RequestLost CallFailure = "request lost" // it was not, but who can tell: Unknown
	Broken      CallFailure = "broken"       // 5xx: Unknown
	Garbled     CallFailure = "garbled"      // 2xx that cannot be read: Unknown
	Hung        CallFailure = "hung"         // no answer at all: Unknown
)

// The failures of receiving.
const (
	ReadLost    CallFailure = "read lost"    // the connection breaks
	OtherReader CallFailure = "other reader" // another receives: Conflict
	Dismissed   CallFailure = "dismissed"    // the credentials died: Unauthorized
)
