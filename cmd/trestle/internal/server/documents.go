package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"

	"github.com/trestle-bridge/trestle/activity/media"
	"github.com/trestle-bridge/trestle/internal/document"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// Bounds of reading files.
const (
	maxDocument = 32 << 20 // bytes of a file that is read
	maxTexts    = 16 << 20 // bytes of texts that are kept in memory
)

// A documentReader reads the files of messages, one at a time, since reading takes memory.
// It keeps the newest texts, by the hash of the file.
type documentReader struct {
	index media.FileIndex
	blobs media.BlobStore
	turn  chan struct{} // holds one token while a file is read

	mu    sync.Mutex // guards the fields below
	texts map[string]shell.DocumentText
	order []string // of texts, the one used last at the end
	size  int
}

var _ shell.DocumentSource = (*documentReader)(nil)

func newDocumentReader(index media.FileIndex, blobs media.BlobStore) *documentReader {
	return &documentReader{index: index, blobs: blobs, turn: make(chan struct{}, 1), texts: map[string]shell.DocumentText{}}
}

// Text implements [shell.DocumentSource].
func (d *documentReader) Text(ctx context.Context, account string, file spaces.FileAttachment) (shell.DocumentText, error) {
	known, found, err := d.index.File(ctx, account, file.ID)
	switch {
	case err != nil:
		return shell.DocumentText{}, fmt.Errorf("find file: %w", err)
	case !found || known.State == media.FileMissing:
		return shell.DocumentText{}, errors.New("it could not be fetched from its platform")
	case known.State == media.FileWanted:
		return shell.DocumentText{}, shell.ErrComing
	case known.Bytes > maxDocument:
		return shell.DocumentText{}, document.ErrTooLarge
	}
	select {
	case d.turn <- struct{}{}:
		defer func() { <-d.turn }()
	case <-ctx.Done():
		return shell.DocumentText{}, context.Cause(ctx)
	}
	if text, ok := d.kept(known.Hash + file.Name); ok {
		return text, nil
	}
	content, err := d.blobs.Take(known.Hash)
	if err != nil {
		return shell.DocumentText{}, err
	}
	data, err := io.ReadAll(io.LimitReader(content, maxDocument))
	if err := errors.Join(err, content.Close()); err != nil {
		return shell.DocumentText{}, fmt.Errorf("read file: %w", err)
	}
	got, err := document.Extract(ctx, document.FileSource{Data: data, Name: file.Name, MediaType: file.MIME}, document.ExtractLimits{Input: maxDocument})
	if err != nil {
		return shell.DocumentText{}, err
	}
	text := shell.DocumentText{Text: got.Markdown, About: got.Kind.Describe(), Cut: got.Cut}
	if got.Pages > 1 {
		text.About += ", " + strconv.Itoa(got.Pages) + " parts"
	}
	d.keep(known.Hash+file.Name, text)
	return text, nil
}

// kept returns the text that was kept under a key.
func (d *documentReader) kept(key string) (shell.DocumentText, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	text, ok := d.texts[key]
	if ok {
		d.order = append(slices.DeleteFunc(d.order, func(k string) bool { return k == key }), key)
	}
	return text, ok
}

// keep keeps a text, and drops the ones that were used longest ago.
func (d *documentReader) keep(key string, text shell.DocumentText) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.texts[key], d.order, d.size = text, append(d.order, key), d.size+len(text.Text)
	for d.size > maxTexts && len(d.order) > 1 {
		d.size -= len(d.texts[d.order[0]].Text)
		delete(d.texts, d.order[0])
		d.order = d.order[1:]
	}
}
