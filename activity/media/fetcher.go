package media

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/failpoint"
	"github.com/trestle-bridge/trestle/internal/retry"
	"github.com/trestle-bridge/trestle/spaces"
)

// maxFileTries is how often a file is asked for before it is given up.
const maxFileTries = 5

// filePatience is how long one file may take to arrive.
const filePatience = time.Minute

// unauthorizedRetry is the pause before a file is requested again after the platform
// refused the credentials.
const unauthorizedRetry = 5 * time.Minute

// pollInterval is how often the queues are read without a wake-up.
const pollInterval = time.Second

// FileFetcher fetches the files that one account's messages carry, after the
// messages are in the record and beside everything else. A file is fetched
// once, however many messages show it; what cannot be had is said in its room.
type FileFetcher struct {
	account  string
	fetcher  adapters.FileDownloader
	shelf    FileIndex
	cupboard BlobStore
	o        FileFetcherOptions
	logger   *slog.Logger
	bell     retry.WakeSignal // rung when something may be wanted
}

// FileFetcherOptions bound what a collector takes.
type FileFetcherOptions struct {
	// MaxFile bounds one file, in bytes. Default: 20 MB.
	MaxFile int64
	// MaxAll bounds the folder, in bytes; beyond it nothing more is fetched.
	// Default: 2 GB.
	MaxAll int64
	// MaxConcurrent is how many files are fetched at once. Default: 2.
	MaxConcurrent int
	// Notify is told after each file which accounts have something to carry for it. It
	// must not block. Default: no call; egress polls.
	Notify func(accounts []string)
	// Logger takes a line for each file. Default: none are written.
	Logger *slog.Logger
}

// NewFileFetcher returns the collector of an account, named by its key. Several
// collectors may share a cupboard.
func NewFileFetcher(account string, f adapters.FileDownloader, s FileIndex, b BlobStore, o FileFetcherOptions) *FileFetcher {
	if o.MaxFile <= 0 {
		o.MaxFile = 20 << 20
	}
	if o.MaxAll <= 0 {
		o.MaxAll = 2 << 30
	}
	if o.MaxConcurrent <= 0 {
		o.MaxConcurrent = 2
	}
	if o.Notify == nil {
		o.Notify = func([]string) {}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &FileFetcher{account: account, fetcher: f, shelf: s, cupboard: b, o: o, logger: o.Logger.With("account", account), bell: retry.NewWakeSignal()}
}

// Run fetches what is wanted until ctx is done. What an earlier process had begun
// is begun anew.
func (c *FileFetcher) Run(ctx context.Context) error {
	retry.PollLoop(ctx, c.bell, pollInterval, c.round, func(err error) { c.logger.Error("files not looked after", "err", err) })
	return nil
}

// round fetches what is due and reports whether there was anything.
func (c *FileFetcher) round(ctx context.Context) (busy bool, err error) {
	due, err := c.shelf.Wanted(ctx, c.account, time.Now(), c.o.MaxConcurrent)
	if err != nil || len(due) == 0 {
		return false, err
	}
	kept, err := c.shelf.Shelved(ctx)
	if err != nil {
		return false, err
	}
	var hands sync.WaitGroup
	errs := make([]error, len(due))
	for i, f := range due {
		hands.Go(func() { errs[i] = c.collect(ctx, f, kept) })
	}
	hands.Wait()
	return true, errors.Join(errs...)
}

// collect fetches one file and records what became of it.
func (c *FileFetcher) collect(ctx context.Context, f PendingFile, kept int64) error {
	o := FetchResult{File: f}
	switch {
	case f.Size > c.o.MaxFile:
		o.State, o.Reason = FileMissing, fmt.Sprintf("it has %d MB, and %d MB is the most that is fetched", f.Size>>20, c.o.MaxFile>>20)
	case kept+f.Size > c.o.MaxAll:
		o.State, o.Reason = FileMissing, fmt.Sprintf("the folder of files is full: %d MB", c.o.MaxAll>>20)
	default:
		o = c.fetch(ctx, f)
	}
	if ctx.Err() != nil && o.State != FileStored {
		return nil // it is still wanted
	}
	if o.State == FileStored {
		if err := failpoint.Point("file.fetched"); err != nil {
			return fmt.Errorf("after a file: %w", err)
		}
	}
	o.At = time.Now()
	c.logger.Info("file settled", "kind", f.Kind, "state", string(o.State), "bytes", o.Bytes, "tries", f.Tries+1, "reason", o.Reason)
	waiting, err := c.shelf.Shelve(ctx, o)
	if err != nil {
		return fmt.Errorf("shelve file: %w", err)
	}
	c.o.Notify(waiting)
	return nil
}

// fetch makes one attempt.
func (c *FileFetcher) fetch(ctx context.Context, f PendingFile) FetchResult {
	o := FetchResult{File: f}
	ctx, cancel := context.WithTimeout(ctx, filePatience)
	defer cancel()
	body, err := c.fetcher.Fetch(ctx, adapters.IncomingFile{Kind: f.Kind, ID: f.ID, Name: f.Name, Size: f.Size}, c.o.MaxFile)
	if err != nil {
		return c.failed(o, err)
	}
	if o.Hash, o.Bytes, err = c.keep(body); err != nil {
		return c.failed(o, err)
	}
	o.State = FileStored
	if known, ok := body.(interface{ MediaType() string }); ok {
		o.Media = spaces.TruncateText(known.MediaType(), spaces.MaxNameBytes)
	}
	return o
}

// failed decides what a failed attempt means.
func (c *FileFetcher) failed(o FetchResult, err error) FetchResult {
	now := time.Now()
	kind := adapters.KindOf(err)
	o.State, o.Counted, o.Reason, o.Hash, o.Bytes = FileWanted, true, "it could not be kept here", "", 0
	if said, ok := errors.AsType[*adapters.Error](err); ok {
		o.Reason = spaces.TruncateText(said.Error(), spaces.MaxNameBytes)
	} else { // it may name places on our disk, which are not shown in the room
		c.logger.Error("file not kept", "err", err)
	}
	o.Due = now.Add(10 * retry.BackoffAfter(o.File.Tries+1))
	switch {
	case kind.Permanent(), o.File.Tries+1 >= maxFileTries:
		o.State = FileMissing
	case kind == adapters.Limited:
		wait, _ := adapters.RetryDelay(err)
		o.Counted, o.Due = false, now.Add(wait)
	case kind == adapters.Unauthorized:
		o.Counted, o.Due = false, now.Add(unauthorizedRetry)
	}
	return o
}

// keep puts a body away.
func (c *FileFetcher) keep(body io.ReadCloser) (hash string, size int64, err error) {
	defer func() { err = errors.Join(err, body.Close()) }()
	return c.cupboard.Put(body)
}

// Ring tells that there may be something new to fetch. It never blocks; a lost ring
// costs the time of a poll.
func (c *FileFetcher) Ring() { c.bell.Set() }
