package adapters

import (
	"fmt"
	"hash/fnv"
	"time"
)

// An Update is one thing that happened on a platform.
type Update struct {
	// ID is the platform's name for this delivery, for tracing only.
	ID string
	// Key is the identity of the content: the same fact delivered
	// twice, by any road, has the same key, and no other fact ever has it.
	// Minted by the adapter, unique within the account.
	Key string
	// Common is true when every account of the platform that sees the fact gives it
	// this Key, so that two accounts in one chat tell of one thing.
	Common bool
	// Alike is set where accounts of the platform name the same fact each in their own
	// way: what it says, by which all who see it know it. It need not be the only
	// fact that says so; each account tells of those in the order they happened.
	Alike string `json:",omitzero"`
	// Kept is true when the platform had kept it and gave it later, from history, or may
	// have, because an earlier process's session is taken up again and nothing tells what
	// that has missed from what happens now.
	Kept   bool `json:",omitzero"`
	Chat   Chat
	Thread Thread    // zero outside threads
	From   Person    // who did it; zero when the platform does not say
	At     time.Time // zero when the platform does not say
	Body   UpdateBody
	// Raw is the platform's own form, kept for what we could not read. May be nil.
	Raw []byte
}

// ChatKind says what sort of conversation a chat is.
type ChatKind string

// The kinds of chat.
const (
	Direct  ChatKind = "direct"  // one person and us
	Group   ChatKind = "group"   // a closed group
	Channel ChatKind = "channel" // a room of a workspace or server, or a broadcast channel
)

// A Chat is one conversation on a platform.
type Chat struct {
	ID    string // minted by the platform; unique within the account
	Kind  ChatKind
	Title string // may be empty, then leave the known one alone
	// Group is the server or workspace the chat belongs to; empty where there is none.
	Group string
	// Guest is true when the account is no member of the chat: a person there asked it for one
	// answer, and who reads that is not known.
	Guest bool `json:",omitzero"`
}

// A Thread is a conversation inside a chat.
type Thread struct {
	ID    string // unique within the chat
	Title string // may be empty
}

// PersonKind tells people from programs.
type PersonKind string

// The kinds of sender.
const (
	Human   PersonKind = "human"
	Bot     PersonKind = "bot"
	Service PersonKind = "service" // a chat that speaks as itself, an anonymous admin, the platform
)

// A Person is a person who acts on a platform. ID alone identifies; names
// change and may be chosen to deceive.
type Person struct {
	ID     string // minted by the platform, immutable
	Scope  string // where ID is unique: the Slack team, or the chat that vouches for a program; empty elsewhere
	Kind   PersonKind
	Name   string // display name
	Handle string // without @; may be empty
	// Portrait is their picture, at an https address that anybody may open and that
	// holds no credential. It goes with the Name: empty beside one, they have none.
	Portrait string `json:",omitzero"`
	// Zone is the name of their time zone, such as "Europe/Zurich", where the platform
	// tells it; else empty.
	Zone string `json:",omitzero"`
}

// UpdateBody is what an update says. The set is closed.
//
//sumtype:decl
type UpdateBody interface{ body() }

// IncomingMessage is something said.
type IncomingMessage struct {
	ID      string // platform id, unique within the chat
	Text    string // as CommonMark where the platform has formatting, else plain
	ReplyTo string // platform id of the message answered; empty: none
	// ReplyFrom and ReplyAt say who wrote the message answered, and when, where
	// another account may know it by another id; zero elsewhere.
	ReplyFrom Person    `json:",omitzero"`
	ReplyAt   time.Time `json:",omitzero"`
	Mentions  []Person
	// ToUs is true when the platform marks the message as meant for us: a mention
	// of our account, a reply to us, a command addressed to us.
	ToUs bool
	// ByReply is true when all that makes it meant for us is that it answers a
	// message of our account, which may be a copy of another's words.
	ByReply     bool
	Command     *ChatCommand // set when the message begins with a command
	Attachments []IncomingFile
	Forwarded   string // who said it first, as shown; empty: not forwarded
	Broadcast   bool   // said in a thread and shown in the chat itself as well
	Viewing     string `json:",omitzero"` // the chat that its author had open beside this one, as shown; empty: not told
}

// ChatCommand is a chat command at the head of a message: "/stop now".
type ChatCommand struct {
	Name string // lower case, without the slash
	Args string
	// Only is true when nothing but a command can have been meant, as it stands behind a word
	// of the app's own: "/trestle stop".
	Only bool `json:",omitzero"`
}

// IncomingFile is a file seen on a message. The bytes are not fetched here.
type IncomingFile struct {
	Kind string // "photo", "voice", "file", "video", "sticker", …
	ID   string // what the adapter needs to fetch it
	Name string
	MIME string
	Size int64 // bytes; 0 when unknown
}

// MessageEdit replaces the words and attachments of an earlier message. New holds the
// whole new content.
type MessageEdit struct {
	New IncomingMessage
	// KeepsFiles is true when the platform does not say what the message carries: then it
	// carries what it did, and New has no attachments.
	KeepsFiles bool `json:",omitzero"`
}

// MessageDeletion removes messages.
type MessageDeletion struct{ Messages []string }

// ReactionChange is the set of one person's emoji on one message, before and after. A
// platform that tells of one emoji at a time leaves out those that stay.
type ReactionChange struct {
	Message  string
	Old, New []string // Unicode emoji, or a platform name in colons
}

// ReactionsCleared means that a message lost what everybody had put on it: one emoji, or
// every one when it is empty. Who did it the update says, if the platform does.
type ReactionsCleared struct {
	Message string
	Emoji   string
}

// PeopleJoined means that people (perhaps we) entered the chat.
type PeopleJoined struct{ People []Person }

// PeopleLeft means that people (perhaps we) left the chat or were removed.
type PeopleLeft struct {
	People []Person
	By     Person // who removed them; zero when they left by themselves
	// Unseen is true when the platform hid the chat from them without an event, as the
	// adapter inferred. It concerns known members of the chat alone.
	Unseen bool `json:",omitzero"`
}

// ChatRenamed means that the chat, or the update's thread, has a new title.
type ChatRenamed struct{ Title string }

// MessagePinned means that a message was pinned.
type MessagePinned struct{ Message string }

// MessageUnpinned means that a message was unpinned.
type MessageUnpinned struct{ Message string }

// ChatMigrated means that the chat goes on under another id. Nothing more comes under the old one.
type ChatMigrated struct {
	To string
	// Same is true when messages and threads have their old ids there.
	Same bool `json:",omitzero"`
}

// ChatGained means that we were let into the chat: added, unblocked, promoted.
type ChatGained struct{}

// ChatLost means that we are no longer in the chat: removed, blocked.
type ChatLost struct{ Reason string }

// UpdateGap tells of a stretch of time whose updates the platform no longer has.
type UpdateGap struct {
	From, To time.Time
	Reason   string
}

// UnreadableUpdate is what we could not read: an unknown kind, or bytes that do not
// parse. Raw holds it. It is recorded, counted, and stops nothing.
type UnreadableUpdate struct {
	Kind     string // the platform's word for it, when known
	Reason   string
	Panicked bool `json:",omitzero"` // reading it ran into a fault of this program
}

func (IncomingMessage) body()  {}
func (MessageEdit) body()      {}
func (MessageDeletion) body()  {}
func (ReactionChange) body()   {}
func (ReactionsCleared) body() {}
func (PeopleJoined) body()     {}
func (PeopleLeft) body()       {}
func (ChatRenamed) body()      {}
func (MessagePinned) body()    {}
func (MessageUnpinned) body()  {}
func (ChatMigrated) body()     {}
func (ChatGained) body()       {}
func (ChatLost) body()         {}
func (UpdateGap) body()        {}
func (UnreadableUpdate) body() {}

// HashContent returns a short name for content, for keys.
func HashContent(content string) string {
	h := fnv.New128a()
	_, _ = h.Write([]byte(content)) // a hash never fails
	return fmt.Sprintf("%x", h.Sum(nil))
}

// RawKey is the [Update.Key] of what we could not read: its bytes are its identity.
func RawKey(raw []byte) string { return "raw:" + HashContent(string(raw)) }
