package media

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

// sweepEvery is how often a sweeper asks whether the record has forgotten a file.
const sweepEvery = 30 * time.Second

// BlobRefs tells what the record still knows of the files that were put away.
type BlobRefs interface {
	// Removals returns how many contents the record has ever forgotten. It rises with
	// each, in the commit that forgets it.
	Removals(ctx context.Context) (int64, error)
	// Holds reports whether a file with the content of that hash is known.
	Holds(ctx context.Context, hash string) (bool, error)
}

// BlobGC is the blob store as the garbage collector uses it.
type BlobGC interface {
	// Hashes returns what is there, in no order.
	Hashes() ([]string, error)
	// Remove takes the bytes with that hash off the disk. False means that they were
	// put there a moment ago, and that who put them may not have said so yet.
	Remove(hash string) (removed bool, err error)
}

// A BlobCollector takes the bytes off the disk that the record knows of no more: of
// files whose messages were all deleted, and of files that a crash kept the record
// from hearing of. It looks at everything when it starts, so a kill between a
// commit and the removal delays it at most until then.
type BlobCollector struct {
	stock  BlobRefs
	cellar BlobGC
	logger *slog.Logger
}

// NewBlobCollector returns a sweeper; the logger takes a line for each sweep that found
// something.
func NewBlobCollector(s BlobRefs, c BlobGC, logger *slog.Logger) *BlobCollector {
	return &BlobCollector{s, c, logger}
}

// Run sweeps until ctx is done.
func (s *BlobCollector) Run(ctx context.Context) error {
	swept := int64(-1) // how far the record had come at the last whole sweep
	for ctx.Err() == nil {
		n, err := s.stock.Removals(ctx)
		if err == nil && n != swept {
			var whole bool
			if whole, err = s.sweep(ctx); whole {
				swept = n
			}
		}
		if err != nil && ctx.Err() == nil {
			s.logger.Error("files not swept", "err", err)
		}
		adapters.SleepContext(ctx, sweepEvery)
	}
	return nil
}

// sweep removes blobs without a row, and reports whether it looked at all.
func (s *BlobCollector) sweep(ctx context.Context) (whole bool, err error) {
	hashes, err := s.cellar.Hashes()
	if err != nil {
		return false, fmt.Errorf("list files: %w", err)
	}
	whole = true
	removed := 0
	var errs []error
	for _, hash := range hashes {
		held, err := s.stock.Holds(ctx, hash)
		if err != nil {
			return false, err
		}
		if held {
			continue
		}
		gone, err := s.cellar.Remove(hash)
		errs = append(errs, err)
		whole = whole && gone && err == nil
		if gone {
			removed++
		}
	}
	if removed > 0 {
		s.logger.Info("files removed that nothing shows", "files", removed)
	}
	return whole, errors.Join(errs...)
}
