package media_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/activity/media"
	"github.com/trestle-bridge/trestle/internal/store/blobs"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// deletes records that the n-th message was deleted.
func (a *attic) deletes(n int) {
	a.t.Helper()
	ref := spaces.MessageRef{Account: shelfAccount, Chat: "-1", Message: string(rune('a' + n))}
	_, err := a.store.Border().Record(context.WithoutCancel(a.t.Context()), spaces.IngestBatch{Account: shelfAccount, At: time.Now(), Items: []spaces.IngestItem{{
		Event: spaces.Event{Space: a.room, Object: spaces.ChatObject, At: time.Now(), Source: "deleted " + ref.Message, Body: spaces.MessageDeleted{Ref: ref}},
		Ref:   ref,
	}}})
	testutil.OK(a.t, err)
}

// cellar returns the folder as a process that starts finds it.
func (a *attic) cellar() *blobs.BlobDir {
	a.t.Helper()
	folder, err := blobs.Open(a.folder())
	testutil.OK(a.t, err)
	return folder
}

// sweeps runs a sweeper for d.
func (a *attic) sweeps(d time.Duration, c media.BlobGC) {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(a.t.Context(), d)
	defer cancel()
	testutil.OK(a.t, media.NewBlobCollector(a.store.Border(), c, slog.New(slog.DiscardHandler)).Run(ctx))
}

// lies returns the contents that are on the disk, in the order of their names.
func (a *attic) lies() string {
	a.t.Helper()
	folder := a.cellar()
	hashes, err := folder.Hashes()
	testutil.OK(a.t, err)
	var out []string
	for _, h := range hashes {
		content, err := os.ReadFile(folder.Path(h))
		testutil.OK(a.t, err)
		out = append(out, string(content))
	}
	return strings.Join(out, " ")
}

func (a *attic) wantOnDisk(when, want string) {
	a.t.Helper()
	if got := a.lies(); got != want {
		a.t.Errorf("%s: %q are on the disk, want %q", when, got, want)
	}
}

// ADR 19: bytes stay as long as a message shows them, also under another name.
func TestBytesGoWithTheLastMessageThatShowsThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAttic(t)
		a.answer = func(id string, _ int) ([]byte, error) { return []byte(strings.TrimSuffix(id, "-copy")), nil }
		a.shows(10, "cat", "dog")
		a.shows(10, "cat")
		a.shows(10, "cat-copy")
		a.collects(time.Minute, media.FileFetcherOptions{})
		cellar := a.cellar()
		for n, step := range []struct {
			when, left string
			bytes      int64
		}{{"before", "cat dog", 6}, {"the first is deleted", "cat", 3}, {"the second", "cat", 3}, {"the last", "", 0}} {
			if n > 0 {
				a.deletes(n)
			}
			a.sweeps(2*time.Minute, cellar)
			a.wantOnDisk(step.when, step.left)
			if got, err := a.store.Border().Shelved(t.Context()); err != nil || got != step.bytes {
				t.Errorf("%s: %d bytes are counted (%v), want %d", step.when, got, err, step.bytes)
			}
		}
		a.shows(10, "dog") // posted again
		a.collects(time.Minute, media.FileFetcherOptions{})
		a.sweeps(2*time.Minute, cellar)
		a.wantOnDisk("it was posted again", "dog")
	})
}

// The kill comes between the commit and the removal.
func TestBytesGoWithTheNextStartAfterAKill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAttic(t)
		a.answer = func(id string, _ int) ([]byte, error) { return []byte(id), nil }
		a.shows(10, "cat")
		a.shows(10, "dog")
		a.collects(time.Minute, media.FileFetcherOptions{})
		a.deletes(1)
		a.close()
		a.open()
		a.wantOnDisk("after the kill", "cat dog")
		a.sweeps(time.Second, a.cellar())
		a.wantOnDisk("after the start", "dog")
	})
}

// A message is deleted while its file is on the way: its bytes belong to no message
// when they arrive.
func TestBytesOfAMessageDeletedMeanwhileDoNotStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAttic(t)
		a.answer = func(id string, _ int) ([]byte, error) {
			a.deletes(1)
			return []byte(id), nil
		}
		a.shows(10, "cat")
		cellar := a.cellar()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- media.NewBlobCollector(a.store.Border(), cellar, slog.New(slog.DiscardHandler)).Run(ctx)
		}()
		synctest.Wait() // it has swept once
		a.collects(time.Minute, media.FileFetcherOptions{})
		<-time.After(3 * time.Minute)
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		a.wantOnDisk("later", "")
	})
}

// hesitant is a cellar whose first removal fails.
type hesitant struct {
	media.BlobGC
	failed bool
}

func (h *hesitant) Remove(hash string) (bool, error) {
	if !h.failed {
		h.failed = true
		return false, errors.New("the disk is busy")
	}
	return h.BlobGC.Remove(hash)
}

func TestRemovalThatFailsIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAttic(t)
		a.answer = func(id string, _ int) ([]byte, error) { return []byte(id), nil }
		a.shows(10, "cat")
		a.collects(time.Minute, media.FileFetcherOptions{})
		a.deletes(1)
		a.sweeps(2*time.Minute, &hesitant{BlobGC: a.cellar()})
		a.wantOnDisk("after a second try", "")
	})
}
