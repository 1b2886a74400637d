package media_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/trestle-bridge/trestle/activity/media"
	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/store/blobs"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// An attic is a record with a room whose messages show files, and a platform
// that has them.
type attic struct {
	t      *testing.T
	dir    string
	store  *sqlstore.Store
	room   spaces.SpaceID
	said   int
	answer func(id string, n int) ([]byte, error) // to the n-th question for a file, from 1

	mu    sync.Mutex // guards asked
	asked map[string]int
}

const shelfAccount = "telegram:7"

func newAttic(t *testing.T) *attic {
	t.Helper()
	a := &attic{t: t, dir: t.TempDir(), asked: map[string]int{}}
	a.open()
	t.Cleanup(func() { a.close() })
	return a
}

func (a *attic) open() {
	a.t.Helper()
	store, err := sqlite.Open(a.t.Context(), sqlite.Options{Dir: filepath.Join(a.dir, "data"), NewID: newID})
	testutil.OK(a.t, err)
	a.store = store
	p, err := store.Border().Open(a.t.Context(), spaces.OpenRequest{
		Key: "hub", Name: "Hub", Circle: "home", At: time.Now(),
		Chats: []spaces.ChatMapping{{Account: shelfAccount, Chat: "-1", Live: true}},
	})
	testutil.OK(a.t, err)
	a.room = p.Space
}

func (a *attic) close() {
	a.t.Helper()
	testutil.OK(a.t, a.store.Close(context.WithoutCancel(a.t.Context())))
}

// folder is where the files are kept.
func (a *attic) folder() string { return filepath.Join(a.dir, "data", "attachments") }

// Fetch answers as the platform of this test.
func (a *attic) Fetch(ctx context.Context, f adapters.IncomingFile, _ int64) (io.ReadCloser, error) {
	a.mu.Lock()
	a.asked[f.ID]++
	n := a.asked[f.ID]
	a.mu.Unlock()
	body, err := a.answer(f.ID, n)
	if errors.Is(err, errKilled) {
		<-ctx.Done() // half of it has come when the process ends
		return nil, ctx.Err()
	}
	return io.NopCloser(bytes.NewReader(body)), err
}

// errKilled is the answer in whose middle the process is killed.
var errKilled = errors.New("killed")

// shows records a message with files.
func (a *attic) shows(size int64, files ...string) {
	a.t.Helper()
	a.said++
	said := spaces.MessagePosted{Text: "look", Ref: spaces.MessageRef{Account: shelfAccount, Chat: "-1", Message: string(rune('a' + a.said))}}
	for _, f := range files {
		said.Attachments = append(said.Attachments, spaces.FileAttachment{Kind: "photo", ID: f, Size: size})
	}
	_, err := a.store.Border().Record(a.t.Context(), spaces.IngestBatch{Account: shelfAccount, At: time.Now(), Items: []spaces.IngestItem{{
		Event: spaces.Event{Space: a.room, Object: spaces.ChatObject, At: time.Now(), Source: said.Ref.Message, Body: said},
	}}})
	testutil.OK(a.t, err)
}

// collects runs a collector for d.
func (a *attic) collects(d time.Duration, o media.FileFetcherOptions) {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(a.t.Context(), d)
	defer cancel()
	folder, err := blobs.Open(a.folder())
	testutil.OK(a.t, err)
	testutil.OK(a.t, media.NewFileFetcher(shelfAccount, a, a.store.Border(), folder, o).Run(ctx))
}

func (a *attic) file(id string) media.FileRecord {
	a.t.Helper()
	f, _, err := a.store.Border().File(a.t.Context(), shelfAccount, id)
	testutil.OK(a.t, err)
	return f
}

// told returns what the room was told of missing files.
func (a *attic) told() []string {
	a.t.Helper()
	events, err := a.store.Shell().Events(a.t.Context(), a.room, spaces.Primary, 0, 1000)
	testutil.OK(a.t, err)
	var out []string
	for _, e := range events {
		if b, ok := e.Body.(spaces.UnreadableUpdate); ok {
			out = append(out, b.What+" "+b.Reason)
		}
	}
	return out
}

func TestFileIsFetchedOnceAndKeptByItsHash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAttic(t)
		a.answer = func(id string, _ int) ([]byte, error) {
			return []byte("bytes of " + strings.TrimSuffix(id, "-copy")), nil
		}
		a.shows(10, "cat", "dog")
		a.shows(10, "cat", "cat-copy") // shown again, and the same bytes under another name
		a.collects(time.Minute, media.FileFetcherOptions{})
		a.collects(time.Minute, media.FileFetcherOptions{})
		for id, n := range a.asked {
			if n != 1 {
				t.Errorf("%s was fetched %d times", id, n)
			}
		}
		if a.file("cat").Hash != a.file("cat-copy").Hash || a.file("cat").Hash == a.file("dog").Hash {
			t.Errorf("hashes %q, %q, %q", a.file("cat").Hash, a.file("cat-copy").Hash, a.file("dog").Hash)
		}
		folder, err := blobs.Open(a.folder())
		testutil.OK(t, err)
		got, err := os.ReadFile(folder.Path(a.file("cat").Hash))
		if err != nil || string(got) != "bytes of cat" {
			t.Errorf("got %q, %v", got, err)
		}
		if n := len(a.told()); n != 0 {
			t.Errorf("the room was told %q", a.told())
		}
	})
}

// K6: fetch resumes after a kill.
func TestFetchResumesAfterAKill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAttic(t)
		a.answer = func(_ string, n int) ([]byte, error) {
			if n == 1 {
				return nil, errKilled
			}
			return []byte("whole"), nil
		}
		a.shows(5, "cat")
		a.collects(10*time.Second, media.FileFetcherOptions{})
		a.close()
		a.open()
		a.collects(10*time.Second, media.FileFetcherOptions{})
		if f := a.file("cat"); f.State != media.FileStored || f.Bytes != 5 {
			t.Errorf("got %+v", f)
		}
	})
}

// K6: after N tries a visible attachment_missing; what can never be had is not tried again.
func TestFileThatCannotBeHadIsSaidOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAttic(t)
		a.answer = func(id string, n int) ([]byte, error) {
			switch id {
			case "never":
				return nil, &adapters.Error{Kind: adapters.NotSent, Op: "fetch file", Err: errors.New("it cannot be reached")}
			case "gone":
				return nil, &adapters.Error{Kind: adapters.Invalid, Op: "fetch file", Err: errors.New("it is not there")}
			case "later":
				if n <= 7 { // more often than anything is tried that fails
					return nil, &adapters.Error{Kind: adapters.Limited, Op: "getFile", RetryAfter: time.Minute}
				}
			}
			return []byte("x"), nil
		}
		a.shows(5, "never", "gone", "later")
		a.shows(30<<20, "huge")
		a.collects(time.Hour, media.FileFetcherOptions{})
		for id, want := range map[string]int{"never": 5, "gone": 1, "later": 8, "huge": 0} {
			if a.asked[id] != want {
				t.Errorf("%s was asked for %d times, want %d", id, a.asked[id], want)
			}
		}
		if f := a.file("later"); f.State != media.FileStored {
			t.Errorf("what had to wait: %+v", f)
		}
		told := strings.Join(a.told(), "\n")
		for _, want := range []string{"cannot be reached", "it is not there", "it has 30 MB, and 20 MB is the most"} {
			if strings.Count(told, want) != 1 {
				t.Errorf("told %q, want once %q", told, want)
			}
		}
		if n := len(a.told()); n != 3 {
			t.Errorf("told %d times, want 3", n)
		}
	})
}

func TestFullFolderTakesNothingMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAttic(t)
		a.answer = func(string, int) ([]byte, error) { return bytes.Repeat([]byte("x"), 600), nil }
		a.shows(600, "one")
		a.collects(time.Minute, media.FileFetcherOptions{MaxAll: 1000})
		a.shows(600, "two")
		a.collects(time.Minute, media.FileFetcherOptions{MaxAll: 1000})
		if a.file("one").State != media.FileStored || a.file("two").State != media.FileMissing || a.asked["two"] != 0 {
			t.Errorf("got %+v and %+v", a.file("one"), a.file("two"))
		}
	})
}

// The disk's own trouble is tried again, and no place on it is told to the room.
func TestTroubleOfTheDiskNamesNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAttic(t)
		a.answer = func(string, int) ([]byte, error) { return []byte("x"), nil }
		testutil.OK(t, os.WriteFile(a.folder(), []byte("in the way"), 0o600))
		a.shows(1, "cat")
		a.collects(time.Hour, media.FileFetcherOptions{})
		if told := a.told(); len(told) != 1 || strings.Contains(told[0], a.dir) || a.asked["cat"] != 5 {
			t.Errorf("told %q after %d tries", told, a.asked["cat"])
		}
	})
}

// A brokenShelf takes no outcome while it is full.
type brokenShelf struct {
	media.FileIndex
	full bool
}

func (s *brokenShelf) Shelve(ctx context.Context, o media.FetchResult) ([]string, error) {
	if s.full {
		return nil, errors.New("no room")
	}
	return s.FileIndex.Shelve(ctx, o)
}

// DELIVERY 2.5 I14, F30: a file whose outcome cannot be recorded is fetched again, but more and more
// slowly, and at last recorded.
func TestAFileThatCannotBeRecordedIsNotFetchedAllTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAttic(t)
		a.answer = func(string, int) ([]byte, error) { return []byte("whole"), nil }
		a.shows(5, "cat")
		folder, err := blobs.Open(a.folder())
		testutil.OK(t, err)
		shelf := &brokenShelf{FileIndex: a.store.Border(), full: true}
		c := media.NewFileFetcher(shelfAccount, a, shelf, folder, media.FileFetcherOptions{})
		for range 2 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			if err := c.Run(ctx); err != nil {
				t.Error(err)
			}
			cancel()
			if n := a.asked["cat"]; n < 10 || n > 100 {
				t.Errorf("it was fetched %d times in an hour", n)
			}
			shelf.full = false
		}
		if f := a.file("cat"); f.State != media.FileStored {
			t.Errorf("got %+v", f)
		}
	})
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }
