// Package media downloads the files of messages, transcribes voice messages, and
// deletes stored files that no message refers to any more.
package media

import (
	"context"
	"io"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// FileIndex keeps what became of the files seen on messages. Each has a row from the
// commit of the event that first showed it (commit 1); its bytes come later.
type FileIndex interface {
	// Wanted returns files of the account that are due to be fetched, those that
	// wait longest first.
	Wanted(ctx context.Context, account string, at time.Time, limit int) ([]PendingFile, error)
	// Shelve makes the outcome of one attempt durable. A file given up is recorded
	// in the room that showed it, and what other chats of a room wait for is ordered
	// for them, in the same transaction. It returns the accounts that have something
	// to carry now.
	Shelve(ctx context.Context, o FetchResult) (waiting []string, err error)
	// File returns what is known of a file; false when it was never seen.
	File(ctx context.Context, account, file string) (FileRecord, bool, error)
	// Shelved returns how many bytes are kept, each content counted once.
	Shelved(ctx context.Context) (int64, error)
}

// BlobStore keeps the bytes of files.
type BlobStore interface {
	// Take opens what was put under a hash; the caller closes.
	Take(hash string) (io.ReadCloser, error)
	// Put keeps what body gives, durably, and returns its SHA-256 in hex and its
	// length. The same bytes are kept once. Calls may overlap.
	Put(body io.Reader) (hash string, size int64, err error)
}

// A PendingFile is a file that was seen and is not here.
type PendingFile struct {
	Account string
	ID      string // the platform's own name for it
	Kind    string
	Name    string
	Size    int64 // as the platform says; 0 when it does not
	Space   spaces.SpaceID
	Event   spaces.EventID // the first message that showed it
	Tries   int            // that failed so far
}

// FileState is the state of a file.
type FileState string

// The states of a file. The last two are terminal.
const (
	FileWanted  FileState = "wanted"
	FileStored  FileState = "stored"
	FileMissing FileState = "missing" // given up; the room was told
)

// A FetchResult is what became of one attempt to fetch a file.
type FetchResult struct {
	File  PendingFile
	State FileState
	At    time.Time
	// Due is when it is tried again, with FileWanted. Counted tells whether the
	// attempt counts among those that are not made for ever.
	Due     time.Time
	Counted bool
	Reason  string // a plain sentence, unless it is stored
	Hash    string // SHA-256 in hex, with FileStored
	Bytes   int64  // with FileStored
	Media   string // what the bytes look like, with FileStored
}

// A FileRecord is a file with what became of it.
type FileRecord struct {
	State  FileState
	Hash   string
	Bytes  int64
	Media  string
	Reason string
}

// FileExtension returns the extension of a media type's files, with its dot; empty
// for a type that is not known.
func FileExtension(mediaType string) string { return extensions[mediaType] }

// extensions are those of the media types that platforms send without a file name.
var extensions = map[string]string{
	"image/jpeg": ".jpg", "image/png": ".png", "image/gif": ".gif", "image/webp": ".webp",
	"audio/ogg": ".ogg", "audio/mpeg": ".mp3", "audio/mp4": ".m4a", "video/mp4": ".mp4", "video/webm": ".webm",
	"application/ogg": ".ogg", "application/pdf": ".pdf", "text/plain": ".txt",
}
