package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/model"
	"github.com/trestle-bridge/trestle/internal/picture"
	"github.com/trestle-bridge/trestle/shell"
)

// maxPicture bounds the bytes of a picture that is looked at.
const maxPicture = 20 << 20

// sight shows agents the pictures among the files that were fetched, one at a
// time: making one smaller takes memory.
type sight struct {
	shelf    activity.Shelf
	cupboard activity.Cupboard
	turn     chan struct{} // holds one token while somebody looks
}

var _ shell.Sight = sight{}

func newSight(s activity.Shelf, c activity.Cupboard) sight {
	return sight{s, c, make(chan struct{}, 1)}
}

// Picture returns a file as a picture of at most that size.
func (s sight) Picture(ctx context.Context, account, file string, side int) (model.Picture, error) {
	known, found, err := s.shelf.File(ctx, account, file)
	switch {
	case err != nil:
		return model.Picture{}, fmt.Errorf("find picture: %w", err)
	case !found || known.State == activity.FileMissing:
		return model.Picture{}, errors.New("the picture is not here")
	case known.State == activity.FileWanted:
		return model.Picture{}, shell.ErrComing
	case known.Bytes > maxPicture:
		return model.Picture{}, fmt.Errorf("the picture has %d bytes", known.Bytes)
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return model.Picture{}, context.Cause(ctx)
	}
	kept, err := s.cupboard.Take(known.Hash)
	if err != nil {
		return model.Picture{}, err
	}
	content, err := io.ReadAll(io.LimitReader(kept, maxPicture))
	if err := errors.Join(err, kept.Close()); err != nil {
		return model.Picture{}, fmt.Errorf("read picture: %w", err)
	}
	p, err := picture.Fit(content, side)
	if err != nil {
		return model.Picture{}, err
	}
	return model.Picture{Media: p.Media, Data: p.Data, Tokens: p.Tokens()}, nil
}
