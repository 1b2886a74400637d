package adapters

import (
	"context"
	"io"
	"net/http"
	"time"
)

// Optional abilities of platforms. An adapter that has an ability implements its
// interface; a caller finds out by a type assertion, once.

// A WebhookReceiver is an adapter whose platform calls us over HTTP. A request that comes
// while no Receive runs is answered 503, so that the platform tries again; one
// that does not prove where it comes from is refused before it is parsed.
type WebhookReceiver interface {
	Adapter
	http.Handler
	// HookPath is the path, from its slash on, under which the platform was told
	// to call. Empty: this account is not configured to be called.
	HookPath() string
	// RefusedCalls returns how many requests were refused since the start. Of these the
	// log is told once a minute at most.
	RefusedCalls() int64
}

// A FileDownloader opens a file that was seen on a message.
type FileDownloader interface {
	// Fetch opens the bytes of an attachment, at most limit of them; the caller
	// closes. A larger file is [Invalid], as is one that the platform no longer
	// has. The account's credentials go to the platform's own hosts only.
	Fetch(ctx context.Context, a IncomingFile, limit int64) (io.ReadCloser, error)
}

// A HistoryReader reads what was said before, or while no process listened.
type HistoryReader interface {
	// History hands the messages of a stretch to take, page after page, each page
	// oldest first. They carry the keys that live updates carry, so that what is
	// known already changes nothing. It waits out the platform's limits. After an
	// error the caller may go on with the cursor of the last page taken.
	History(ctx context.Context, s HistoryRange, take func(context.Context, HistoryPage) error) error
}

// A HistoryRange is a part of what was said in one chat.
type HistoryRange struct {
	Chat   string
	Thread string    // empty: the chat itself, and the threads that begin in it
	From   time.Time // zero: from the beginning
	To     time.Time // zero: until now
	Cursor []byte    // of the last page taken; nil: from From
}

// A HistoryPage is one read of history.
type HistoryPage struct {
	Updates []Update
	Cursor  []byte // where the next page begins; opaque; nil with the last page
}

// A ChatLister knows the chats of a server or workspace that the account can read.
type ChatLister interface {
	// Chats returns the chats of a group as [Chat.Group] names it; an empty group
	// matches all.
	Chats(ctx context.Context, group string) ([]Chat, error)
}

// A DraftShower can show a text while it is being written.
type DraftShower interface {
	// Preview shows the text of p, so far, as a sign like typing that fades by
	// itself: it is no message, and [Adapter.Send] follows with the whole. Posts
	// with the same Key replace each other. A chat where the platform has no such
	// sign is [Invalid].
	Preview(ctx context.Context, p OutgoingMessage) error
	// Whole reports whether a chat shows such a text whole. Elsewhere there is a line
	// of it at most.
	Whole(chat string) bool
	// Stoppable reports whether people have the platform's own Stop below a text that is
	// shown with [OutgoingMessage.Choices], as far as that is known yet. What cannot be
	// stopped may keep them from writing while it is shown.
	Stoppable() bool
}

// A CommandMenu can show people which commands there are.
type CommandMenu interface {
	// Commands sets the list that the platform offers while a person types.
	Commands(ctx context.Context, c []CommandMenuEntry) error
}

// A CommandMenuEntry is one command of a [CommandMenu].
type CommandMenuEntry struct {
	Name string // without the slash
	Help string // a few words
}

// An AccountDiagnoser finds what is wrong with an account before people notice it.
type AccountDiagnoser interface {
	// Examine looks at the account and the chats it should serve, for real and
	// without changing anything. It returns at least one finding. With served another
	// process receives for the account, and nothing is tried that would take from it
	// what it waits for.
	Examine(ctx context.Context, chats []string, served bool) []AccountDiagnosis
}

// DiagnosisSeverity says how bad a finding is.
type DiagnosisSeverity string

// The levels, from good to bad.
const (
	Fine    DiagnosisSeverity = "ok"
	Warning DiagnosisSeverity = "warn"
	Failure DiagnosisSeverity = "fail"
)

// An AccountDiagnosis is one thing an examination has to say.
type AccountDiagnosis struct {
	Level DiagnosisSeverity `json:"level"`
	Code  string            `json:"code,omitempty"` // "TRS-T02": stable, and the name of a page of the guide; empty with [Fine]
	What  string            `json:"what"`           // a plain sentence: what was found
	Mend  string            `json:"mend,omitempty"` // what the operator should do; empty with [Fine]
}

// An AgentPersona is how an agent appears where several speak through one account.
type AgentPersona struct {
	Name   string
	Avatar string // an https address, or an emoji in colons; empty: the account's
}

// A PersonaSender can post under the face of [OutgoingMessage.Face].
type PersonaSender interface {
	// SupportsPersona reports whether posts in a chat can have a face of their own, as far as
	// that is known without asking. Where a right turns out to be missing,
	// [OutgoingMessage.Unmasked] is sent instead.
	SupportsPersona(chat string) bool
	// EditAs is [Editor.Edit] for a part that was sent with an Unmasked: text
	// replaces it where it has a face of its own, and unmasked where it has none.
	EditAs(ctx context.Context, m MessageRef, text, unmasked string) error
}

// An OutgoingFile is something to send along with a message.
type OutgoingFile struct {
	Name string
	MIME string
	// Open gives the bytes from the beginning, once for every attempt; the caller closes.
	Open func(ctx context.Context) (io.ReadCloser, error)
	// Spoken is how long it lasts, of a recording in Ogg Opus of what the message says, which is shown as
	// a voice message where the platform has them. Zero: it is any other file.
	Spoken time.Duration
}

// A FileSender takes [OutgoingMessage.Files]. At least one file a post is taken.
type FileSender interface {
	// MaxFile returns how many bytes a file for that chat may have at most.
	MaxFile(chat string) int64
}

// A ThreadBroadcaster can show an answer in a thread in the chat itself as well.
type ThreadBroadcaster interface {
	// Broadcasts reports whether a chat has that.
	Broadcasts(chat string) bool
}

// A ThreadOpener can open a thread on a message.
type ThreadOpener interface {
	// Thread returns the thread that hangs on a message of the chat itself, and opens
	// it under a name made of title, which is CommonMark, where there is none yet.
	// Doing so again changes nothing. A message on which none can hang is [Invalid].
	Thread(ctx context.Context, m MessageRef, title string) (string, error)
}

// A DeliveryChecker can look whether a part arrived whose sending had an unknown outcome.
type DeliveryChecker interface {
	// Find looks for a part by its Key where Send would have put it. False means that it
	// did not arrive, and may be sent: the caller first gives the platform a moment to
	// show what it accepted. After an error neither is known.
	Find(ctx context.Context, p OutgoingMessage) (Receipt, bool, error)
}

// TypedCommand returns a command as people type it on a platform. Slack reserves
// what begins with a slash.
func TypedCommand(platform, name string) string {
	if platform == "slack" {
		return "!" + name
	}
	return "/" + name
}
