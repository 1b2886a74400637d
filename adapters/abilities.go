package adapters

import (
	"context"
	"io"
	"net/http"
	"time"
)

// What some platforms can and others cannot. An adapter that has an ability
// implements its interface; whoever wants it asks by a type assertion, once.

// A Hook is an adapter whose platform calls us over HTTP. A request that comes
// while no Receive runs is answered 503, so that the platform tries again; one
// that does not prove where it comes from is refused before it is parsed
// (SECURITY S9).
type Hook interface {
	Adapter
	http.Handler
	// HookPath is the path, from its slash on, under which the platform was told
	// to call. Empty: this account is not configured to be called.
	HookPath() string
	// RefusedCalls returns how many requests were refused since the start. Of these the
	// log is told once a minute at most.
	RefusedCalls() int64
}

// A Fetcher opens a file that was seen on a message.
type Fetcher interface {
	// Fetch opens the bytes of an attachment, at most limit of them; the caller
	// closes. A larger file is [Invalid], as is one that the platform no longer
	// has. The account's credentials go to the platform's own hosts only
	// (SECURITY S10).
	Fetch(ctx context.Context, a Attachment, limit int64) (io.ReadCloser, error)
}

// A Historian reads what was said before, or while nobody listened.
type Historian interface {
	// History hands the messages of a stretch to take, page after page, each page
	// oldest first. They carry the keys that live updates carry, so that what is
	// known already changes nothing. It waits out the platform's limits. After an
	// error the caller may go on with the cursor of the last page taken.
	History(ctx context.Context, s Stretch, take func(context.Context, Page) error) error
}

// A Stretch is a part of what was said in one chat.
type Stretch struct {
	Chat   string
	Thread string    // empty: the chat itself, and the threads that begin in it
	From   time.Time // zero: from the beginning
	To     time.Time // zero: until now
	Cursor []byte    // of the last page taken; nil: from From
}

// A Page is one read of history.
type Page struct {
	Updates []Update
	Cursor  []byte // where the next page begins; opaque; nil with the last page
}

// A Lister knows the chats of a server or workspace that the account can read.
type Lister interface {
	// Chats returns the chats of a group as [Chat.Group] names it; an empty group
	// matches all.
	Chats(ctx context.Context, group string) ([]Chat, error)
}

// A Previewer can show a text while it is being written.
type Previewer interface {
	// Preview shows the text of p, so far, as a sign like typing that fades by
	// itself: it is no message, and [Adapter.Send] follows with the whole. Posts
	// with the same Key replace each other. A chat where the platform has no such
	// sign is [Invalid].
	Preview(ctx context.Context, p Post) error
	// Whole reports whether a chat shows such a text whole. Elsewhere there is a line
	// of it at most.
	Whole(chat string) bool
}

// A Menu can show people which commands there are.
type Menu interface {
	// Commands sets the list that the platform offers while somebody types.
	Commands(ctx context.Context, c []MenuEntry) error
}

// A MenuEntry is one command of a [Menu].
type MenuEntry struct {
	Name string // without the slash
	Help string // a few words
}

// An Examiner finds what is wrong with an account before anybody else does.
type Examiner interface {
	// Examine looks at the account and the chats it should serve, for real and
	// without changing anything. It returns at least one finding. With served another
	// process receives for the account, and nothing is tried that would take from it
	// what it waits for.
	Examine(ctx context.Context, chats []string, served bool) []Finding
}

// Level says how bad a finding is.
type Level string

// The levels, from good to bad.
const (
	Fine    Level = "ok"
	Warning Level = "warn"
	Failure Level = "fail"
)

// A Finding is one thing an examination has to say.
type Finding struct {
	Code  string // "TRS-T02": stable, and the name of a page of the guide; empty with [Fine]
	Level Level
	What  string // a plain sentence: what is so
	Mend  string // what the operator should do; empty with [Fine]
}

// A Face is how an agent appears where several speak through one account.
type Face struct {
	Name   string
	Avatar string // an https address, or an emoji in colons; empty: the account's
}

// A Masquerader can post under the face of [Post.Face].
type Masquerader interface {
	// Masks reports whether posts in a chat can have a face of their own, as far as
	// that is known without asking. Where a right turns out to be missing,
	// [Post.Unmasked] is sent instead.
	Masks(chat string) bool
	// Revise is [Editor.Edit] for a part that was sent with an Unmasked: text
	// replaces it where it has a face of its own, and unmasked where it has none.
	Revise(ctx context.Context, m Ref, text, unmasked string) error
}

// A File is something to send along with a message.
type File struct {
	Name string
	MIME string
	// Open gives the bytes from the beginning, once for every attempt; the caller closes.
	Open func(ctx context.Context) (io.ReadCloser, error)
}

// A Carrier takes [Post.Files]. At least one file a post is taken.
type Carrier interface {
	// MaxFile returns how many bytes a file for that chat may have at most.
	MaxFile(chat string) int64
}

// A Broadcaster can show an answer in a thread in the chat itself as well.
type Broadcaster interface {
	// Broadcasts reports whether a chat has that.
	Broadcasts(chat string) bool
}

// A Threader can open a thread on a message.
type Threader interface {
	// Thread returns the thread that hangs on a message of the chat itself, and opens
	// it under a name made of title, which is CommonMark, where there is none yet.
	// Doing so again changes nothing. A message on which none can hang is [Invalid].
	Thread(ctx context.Context, m Ref, title string) (string, error)
}

// A Finder can look whether a part arrived whose sending nobody could judge.
type Finder interface {
	// Find looks for a part by its Key where Send would have put it. False means
	// that it did not arrive, and may be sent: whoever asks leaves the platform a
	// moment to show what it took. An error tells nothing.
	Find(ctx context.Context, p Post) (Receipt, bool, error)
}
