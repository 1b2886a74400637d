package activity

import (
	"context"
	"errors"
	"time"

	"github.com/trestle-bridge/trestle/activity/access"
	"github.com/trestle-bridge/trestle/spaces"
)

// ErrUnmapped is returned when a chat belongs to no space.
var ErrUnmapped = errors.New("chat is mapped to no space")

// ChatDirectory knows which chat belongs to which space.
type ChatDirectory interface {
	// Place returns where the updates of a chat go; several when it is mapped to
	// several spaces, the oldest mapping first. No placement is [ErrUnmapped].
	Place(ctx context.Context, account, chat string) ([]spaces.ChatPlacement, error)
	// Open makes sure of a space, its chats and its agents' uplinks, in one
	// transaction, and returns it. Opening what is already so changes nothing.
	Open(ctx context.Context, o spaces.OpenRequest) (spaces.ChatPlacement, error)
	// Migrate moves every mapping of a chat, and every action that waits for it, to
	// the new id and records it. A chat without a mapping is no error: it may have
	// been moved before. Where messages and threads keep their ids, those that are
	// known are known under the new one, too.
	Migrate(ctx context.Context, account string, m spaces.ChatMove, at time.Time) error
	// Live notes that a chat can or cannot be reached. It opens or closes the
	// connection spans of its space and records linked or unlinked. What is already
	// so changes nothing, nor does a chat without a mapping.
	Live(ctx context.Context, account, chat string, live bool, reason string, at time.Time) error
}

// ChatLister lists mappings.
type ChatLister interface {
	// Chats returns the mappings of an account, of a space, or of an account's part
	// in a space, oldest first; an empty argument matches all.
	Chats(ctx context.Context, account string, space spaces.SpaceID) ([]spaces.ChatMapping, error)
}

// EventLog takes what adapters received.
type EventLog interface {
	// Record appends a batch, its cursor and the inbox rows of every uplinked
	// mind, in one transaction. An item already recorded (same space and
	// source) changes nothing. An item that does not cohere is recorded as such and does not
	// stop the others. Mentions that a message already carries are agents'; the
	// entities of [spaces.Incoming.Mentions] follow them.
	Record(ctx context.Context, in spaces.IngestBatch) (spaces.IngestResult, error)
	// Cursor returns what the last recorded batch of the account carried, or nil.
	Cursor(ctx context.Context, account string) ([]byte, error)
	// SetConnected closes the open spans of every space of the account when it went
	// deaf, but where another account hears, and opens new ones when it hears again.
	SetConnected(ctx context.Context, account string, hears bool, at time.Time) error
}

// Outbox holds decided actions until a platform has them.
type Outbox interface {
	// Claim moves due actions of the account to sending, durably, and returns
	// them: at most one for each chat and thread, the oldest, and none behind one
	// that is still under way. Expired ones are settled as such on the way.
	Claim(ctx context.Context, account string, at time.Time, limit int) ([]spaces.Action, error)
	// Settle records what became of sends, all in one transaction: receipts,
	// retry times, failures, each with its event.
	Settle(ctx context.Context, at time.Time, s []SendResult) error
	// Next returns when [Outbox.Claim] will next have something to give: the earliest
	// time at which the oldest unfinished action of a chat and thread becomes due,
	// leaving out those under way and all that are behind another. That is in the far
	// future when all that waits is behind another, and false when nothing waits.
	Next(ctx context.Context, account string) (due time.Time, waiting bool, err error)
	// Recover puts back what is in sending and no egress carries: what an earlier
	// process left, or a commit without an answer. It is ready again if
	// its policy allows a second copy, otherwise unknown with its event. carried
	// are left alone: it is asked once no other write is under way, for a commit that
	// was first may have handed over what it stored as being sent. Nil is for none.
	// A look that is not zero says that the platform can be asked whether a message
	// arrived: all that was being sent is then ready at that time. What waits and was
	// decided more than a minute from now, by a clock that has been put back since,
	// is ready at once.
	Recover(ctx context.Context, account string, at time.Time, carried func() []spaces.ActionID, look time.Time) error
	// ShiftDue has what waits after at be due by so much earlier, but not before at: the
	// clock of this process was put back by it. Where a record has another clock than
	// its process's nothing changes.
	ShiftDue(ctx context.Context, account string, by time.Duration, at time.Time) error
	// MessageRefs returns the platform's names of a message in one chat: those of its
	// words, one a part, and those of its files. There are none when it never
	// arrived there.
	MessageRefs(ctx context.Context, account, chat string, message spaces.EventID) (words, files []spaces.MessageRef, err error)
	// ReplyRoot returns the platform's name of the message with which, in one chat, the
	// chain of replies of a message begins: its own when it answers nothing
	// there, empty when it never arrived there.
	ReplyRoot(ctx context.Context, account, chat string, message spaces.EventID) (string, error)
	// ThreadAnchor tells where a thread of a room hangs in one chat of it, for actions with
	// a RoomThread.
	ThreadAnchor(ctx context.Context, account, chat string, space spaces.SpaceID, thread spaces.ThreadID) (ThreadAnchor, error)
	// ThreadTitle returns how a thread of a room is called, or else the words of the
	// message it hangs on as they are now, as CommonMark; empty when they were deleted.
	ThreadTitle(ctx context.Context, space spaces.SpaceID, thread spaces.ThreadID) (string, error)
	// ResolveMentions returns the people that a message mentions as the account's platform
	// knows them, in the order of its words, at most [MaxNamed] people; each by every
	// name that the words may hold. Agents are left out, and people who are not on that
	// platform or no member of the room. A person who is there by another identity
	// is found by kin, which may be nil. broadcast is true for a message that is to be
	// shown beside its thread.
	ResolveMentions(ctx context.Context, account string, message spaces.EventID, kin IdentityLookup) (people []spaces.PlatformIdentity, broadcast bool, err error)
}

// DraftStore keeps drafts that are messages: from before their post until a message has
// taken them over ([Outbox.Settle] lets go of them with its receipt) or they are
// deleted.
type DraftStore interface {
	// Draft stores that a draft is about to be posted, unless its step is decided or
	// its run over. What an earlier process has stored of the step stays as it is, and
	// is returned.
	Draft(ctx context.Context, d spaces.MessageDraft, at time.Time) (was StoredDraft, state DraftState, err error)
	// MarkPosted stores which message a draft is.
	MarkPosted(ctx context.Context, id spaces.DraftID, message string) error
	// Forget forgets a draft that is no message, or none any more. One that is not known
	// is no error.
	Forget(ctx context.Context, id spaces.DraftID) error
	// MarkLost keeps of a draft only where it would be, for questions about its run:
	// whether it is there is unknown. It is no draft any more.
	MarkLost(ctx context.Context, id spaces.DraftID) error
	// Drafts returns those of an account, the oldest first.
	Drafts(ctx context.Context, account string) ([]StoredDraft, error)
}

// DraftState is what [Drafts.Draft] found.
type DraftState string

// The states.
const (
	DraftNew     DraftState = "new"     // nothing of it was posted
	DraftKnown   DraftState = "known"   // it may have been
	DraftRefused DraftState = "refused" // nothing more may be shown of the step
)

// A StoredDraft is a draft as it is stored. Its text is that of its post.
type StoredDraft struct {
	spaces.MessageDraft
	Message string // empty: whether it was posted is unknown
	At      time.Time
	Left    bool // no message can take it over any more
}

// AckStore keeps the reactions that show people that a run works on their message: from
// before they are set until they are taken back.
type AckStore interface {
	// Acknowledge stores that a run's reaction is about to be set, and reports whether the
	// caller is to set it: not when one stands there already, of this or another run. It
	// stores nothing when the run is over, or when an agent has reacted to the message or the
	// process has in place of a notice: the account may have no second reaction there.
	Acknowledge(ctx context.Context, k spaces.AckReaction, at time.Time) (bool, error)
	// Acks returns those of an account, the oldest first.
	Acks(ctx context.Context, account string) ([]StoredAck, error)
	// ForgetAcks forgets a run's reaction to a message; an empty run forgets those of all
	// runs. One that is not known is no error.
	ForgetAcks(ctx context.Context, message spaces.MessageRef, run spaces.CycleID) error
}

// A StoredAck is a reaction that shows work, as it is stored.
type StoredAck struct {
	spaces.AckReaction
	At time.Time
	// Left is true once the run is over, nothing that it decided for the chat is still to be
	// sent, and no later run is to work on the message, as one is after a failure of the model.
	Left bool
}

// A ThreadAnchor is where a thread of a room hangs in one chat of it.
type ThreadAnchor struct {
	There  spaces.ThreadID   // the thread that the chat has for it; empty when it is not known to have one
	Anchor spaces.MessageRef // the message in the chat on which it hangs; zero when none is there
}

// IdentityLookup returns the identity on this account's platform of a person who is
// known by another one elsewhere; false if no operator linked one.
type IdentityLookup func(spaces.PlatformIdentity) (spaces.PlatformIdentity, bool)

// MaxNamed bounds how many people one message calls.
const MaxNamed = 3

// NoticeStore stores what the process itself says in a chat: a pairing code, an
// answer to a command. A notice is a row of the outbox without a cycle, a space or an
// event; it obeys the same order, rate limits and expiry as a message of an agent.
type NoticeStore interface {
	access.NoticePoster
	// Posted reports whether a notice of that key was posted, by any process.
	Posted(ctx context.Context, key string) (bool, error)
}

// RejectedSender is a sender who was turned away in a chat. What they said is nowhere.
type RejectedSender struct {
	Account, Chat string
	Scope, User   string // who, as their platform calls them; empty for no particular person
	Kind          string // message, edit, reaction, …
	Count         int64
	First, Last   time.Time
}

// A SendResult is what became of one attempt at one part of an action. Several of
// one action in one call are applied in order.
type SendResult struct {
	Action spaces.ActionID
	// State is Sent when the last part was accepted, Sending when a part was
	// accepted and another follows at once, Ready to try again at NotBefore, or a
	// terminal state. Sent and Sending count one more part as accepted, also
	// without a Ref: an edit has none.
	State spaces.ActionState
	// Part counts the parts accepted, with this one. A settlement that repeats a
	// part changes nothing: its caller did not learn that it was stored. 0 with the
	// other states, and where there is nothing to repeat.
	Part int
	Ref  spaces.MessageRef // the accepted message; zero otherwise
	// Gone are parts of the message that an edit was for and did without, with Sent: they
	// are deleted.
	Gone      []spaces.MessageRef
	File      bool      // Ref is a file of the message, not its words
	NotBefore time.Time // with Ready
	Resent    bool      // the next attempt repeats an unknown one
	MovedTo   string    // the chat goes on here; the action with it
	// Code is adapters.Kind as text, for failures. Ready without a code was no
	// attempt: the action only waits for its turn.
	Code   string
	Reason string // a plain sentence for the agent
}
