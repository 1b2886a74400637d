package activity

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/activity/media"
	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// A carrying platform takes files of up to ten bytes.
type carrying struct {
	*searchable
	files []string // name, type and bytes of each that was taken
}

var _ adapters.FileSender = (*carrying)(nil)

func (p *carrying) MaxFile(string) int64 { return 10 }

func (p *carrying) Send(ctx context.Context, post adapters.OutgoingMessage) (adapters.Receipt, error) {
	r, err := p.platform.Send(ctx, post)
	if err != nil {
		return r, err
	}
	for _, f := range post.Files {
		from, err := f.Open(ctx)
		if err != nil {
			return r, err
		}
		content, err := io.ReadAll(from)
		if err := errors.Join(err, from.Close()); err != nil {
			return r, err
		}
		p.files = append(p.files, fmt.Sprintf("%s %s %s", f.Name, f.MIME, content))
	}
	return r, nil
}

// A drawer is a shelf and a cupboard with one file, f1.
type drawer struct {
	media.FileIndex
	content string
	lost    bool // the bytes are gone from the disk
}

func (d drawer) File(_ context.Context, _, file string) (media.FileRecord, bool, error) {
	return media.FileRecord{State: media.FileStored, Hash: "h1", Bytes: int64(len(d.content)), Media: "image/png"}, file == "f1", nil
}

func (d drawer) Put(io.Reader) (string, int64, error) { return "", 0, errors.ErrUnsupported }

func (d drawer) Take(string) (io.ReadCloser, error) {
	if d.lost {
		return nil, errors.New("no such file")
	}
	return io.NopCloser(strings.NewReader(d.content)), nil
}

// SEQ-96, DELIVERY 2.4: each file is a message of its own behind the text. A file that
// the chat does not take is named there with its size, and later actions do not wait
// for it.
func TestFilesGoBehindTheWordsOrAreNamed(t *testing.T) {
	seen := spaces.MessageFile{Account: "slack:1", FileAttachment: spaces.FileAttachment{Kind: "photo", ID: "f1", Name: "../a *b*"}}
	for name, c := range map[string]struct {
		file   spaces.MessageFile
		drawer drawer
		cannot bool // the platform takes no files
		texts  []string
		files  []string
	}{
		"seen before":      {seen, drawer{content: "0123"}, false, []string{"look", `📎 a \*b\*\.png`}, []string{"a *b*.png image/png 0123"}},
		"written":          {spaces.MessageFile{FileAttachment: spaces.FileAttachment{Kind: "file", Name: "n.txt", MIME: "text/plain"}, Data: []byte("abc")}, drawer{}, false, []string{"look", `📎 n\.txt`}, []string{"n.txt text/plain abc"}},
		"too large":        {seen, drawer{content: strings.Repeat("x", 3000)}, false, []string{"look", `📎 a \*b\*\.png (3 KB) is too large for Telegram, which takes 1 KB.`}, nil},
		"gone from disk":   {seen, drawer{content: "x", lost: true}, false, []string{"look", `📎 a \*b\*\.png is no longer here.`}, nil},
		"never seen":       {spaces.MessageFile{Account: "slack:1", FileAttachment: spaces.FileAttachment{Kind: "voice", ID: "f2"}}, drawer{}, false, []string{"look", "📎 voice is no longer here."}, nil},
		"not taken at all": {seen, drawer{content: "0123"}, true, []string{"look", `📎 a \*b\*\.png (1 KB) cannot be shown here.`}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &carrying{searchable: &searchable{platform: &platform{}}}
				r := newRecord()
				r.put(spaces.Action{ID: "x", Event: "e", Chat: "c", Text: "look", Files: []spaces.MessageFile{c.file}, Policy: spaces.ResendOnce})
				var ad adapters.Adapter = p
				if c.cannot {
					ad = p.platform
				}
				runEgress(t, NewEgress(ours, ad, r, NewSpaceMapping(r, r), EgressOptions{Files: c.drawer, Blobs: c.drawer}))
				after(time.Minute)
				testutil.Same(t, "the chat has", c.texts, p.texts("c"))
				testutil.Same(t, "the files are", c.files, p.files)
				if a := r.action("x"); a.State != spaces.ActionSent || len(a.Refs) != 2 {
					t.Errorf("state %s with %d messages", a.State, len(a.Refs))
				}
			})
		})
	}
}

// DELIVERY 2.4, K18, K19: a file whose result is unknown is looked for like text, and
// the text is not posted again with it.
func TestAFileIsSentOnceThoughItsAnswerIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &carrying{searchable: &searchable{platform: &platform{}}}
		lost := false
		p.script = func(c call) error {
			if lost || !strings.HasPrefix(c.Text, "📎") {
				return nil
			}
			lost = true
			p.mu.Lock()
			p.ledger = append(p.ledger, c)
			p.mu.Unlock()
			return refusal(adapters.Unknown)
		}
		r := newRecord()
		file := spaces.MessageFile{FileAttachment: spaces.FileAttachment{Kind: "file", Name: "n"}, Data: []byte("abc")}
		r.put(spaces.Action{ID: "x", Event: "e", Chat: "c", Text: "look", Files: []spaces.MessageFile{file}, Policy: spaces.ResendOnce})
		runEgress(t, NewEgress(ours, p, r, NewSpaceMapping(r, r), EgressOptions{}))
		after(time.Minute)
		if diff := cmp.Diff([]string{"look", "📎 n"}, p.texts("c")); diff != "" || p.looks != 1 {
			t.Errorf("looked %d times; the chat has (-want +got):\n%s", p.looks, diff)
		}
	})
}

// An edit of a message that lost a file deletes the copies of its files, once.
func TestEditThatNamesFilesDeletesTheirCopies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &carrying{searchable: &searchable{platform: &platform{}}}
		r := newRecord()
		file := spaces.MessageFile{FileAttachment: spaces.FileAttachment{Kind: "file", Name: "n"}, Data: []byte("abc")}
		gone := []spaces.MessageFile{{FileAttachment: spaces.FileAttachment{ID: "old"}}}
		r.put(spaces.Action{ID: "1", Event: "e", Chat: "c", Text: "look", Files: []spaces.MessageFile{file}})
		r.put(spaces.Action{ID: "2", Event: "f", Chat: "c", Kind: spaces.ActEdit, Target: "e", Text: "look here", Files: gone})
		r.put(spaces.Action{ID: "3", Event: "g", Chat: "c", Kind: spaces.ActDelete, Target: "e"})
		runEgress(t, NewEgress(ours, p, r, NewSpaceMapping(r, r), EgressOptions{}))
		after(time.Minute)
		var got []string
		for _, c := range p.accepted() {
			got = append(got, c.Op+" "+c.Text)
		}
		testutil.Same(t, "the platform was asked", []string{"send look", "send 📎 n", "edit look here", "delete ", "delete "}, got)
	})
}

// SEQ-96: an edit changes the words and leaves the files; a delete takes all.
func TestEditsLeaveFilesAndDeletesTakeThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &carrying{searchable: &searchable{platform: &platform{}}}
		r := newRecord()
		file := spaces.MessageFile{FileAttachment: spaces.FileAttachment{Kind: "file", Name: "n"}, Data: []byte("abc")}
		r.put(spaces.Action{ID: "1", Event: "e", Chat: "c", Text: "look", Files: []spaces.MessageFile{file}})
		r.put(spaces.Action{ID: "2", Event: "f", Chat: "c", Kind: spaces.ActEdit, Target: "e", Text: "look here"})
		r.put(spaces.Action{ID: "3", Event: "g", Chat: "c", Kind: spaces.ActDelete, Target: "e"})
		runEgress(t, NewEgress(ours, p, r, NewSpaceMapping(r, r), EgressOptions{}))
		after(time.Minute)
		var got []string
		for _, c := range p.accepted() {
			got = append(got, c.Op+" "+c.Text)
		}
		testutil.Same(t, "the platform was asked", []string{"send look", "send 📎 n", "edit look here", "delete ", "delete "}, got)
	})
}
