package server

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/trestle-bridge/trestle/activity/media"
	"github.com/trestle-bridge/trestle/internal/imagescale"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/shell"
)

// maxPicture is the largest picture in bytes that is scaled.
const maxPicture = 20 << 20

// imageLoader returns fetched pictures for models, one at a time, since scaling takes memory.
type imageLoader struct {
	shelf    media.FileIndex
	cupboard media.BlobStore
	turn     chan struct{} // holds one token while a picture is being scaled
}

var _ shell.ImageSource = imageLoader{}

func newImageLoader(s media.FileIndex, c media.BlobStore) imageLoader {
	return imageLoader{s, c, make(chan struct{}, 1)}
}

// Picture returns a file as a picture with sides of at most that many pixels.
func (s imageLoader) Picture(ctx context.Context, account, file string, side int) (llm.ModelImage, error) {
	known, found, err := s.shelf.File(ctx, account, file)
	switch {
	case err != nil:
		return llm.ModelImage{}, fmt.Errorf("find picture: %w", err)
	case !found || known.State == media.FileMissing:
		return llm.ModelImage{}, errors.New("the picture is not here")
	case known.State == media.FileWanted:
		return llm.ModelImage{}, shell.ErrComing
	case known.Bytes > maxPicture:
		return llm.ModelImage{}, fmt.Errorf("the picture has %d bytes", known.Bytes)
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return llm.ModelImage{}, context.Cause(ctx)
	}
	kept, err := s.cupboard.Take(known.Hash)
	if err != nil {
		return llm.ModelImage{}, err
	}
	content, err := io.ReadAll(io.LimitReader(kept, maxPicture))
	if err := errors.Join(err, kept.Close()); err != nil {
		return llm.ModelImage{}, fmt.Errorf("read picture: %w", err)
	}
	p, err := imagescale.FitImage(content, side)
	if err != nil {
		return llm.ModelImage{}, err
	}
	return llm.ModelImage{Media: p.Media, Data: p.Data, Tokens: p.Tokens()}, nil
}
