// Package imagescale makes pictures small enough to be shown to a model.
//
// It promises that what it returns is no larger than was asked, that no picture
// makes it take more memory than its bounds say, and that the same bytes give the
// same picture. It does not turn a picture that was taken sideways: the platforms
// do that when it is posted. It knows nothing of messages or models.
package imagescale

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // read, and shown as it stands at first
	"image/jpeg"
	_ "image/png"
)

// The bounds of what is looked at at all.
const (
	maxBytes  = 20 << 20
	maxPixels = 40_000_000 // decoded, at most four bytes each
	maxAsIs   = 1 << 20    // bytes; a picture of more is written anew
	quality   = 85         // of what is written anew
)

// ErrUnfit is what a picture fails with that cannot be shown: bytes that are no
// picture, or one that is too large to look at.
var ErrUnfit = errors.New("the picture cannot be shown")

// A ScaledImage is what can be shown.
type ScaledImage struct {
	Media         string // "image/jpeg", "image/png", "image/gif" or "image/webp"
	Data          []byte
	Width, Height int // in pixels; side by side when the form does not tell
}

// FitImage returns the picture that data holds with no side longer than side pixels. A
// small one stays as it is; any other is written as JPEG. Its errors wrap [ErrUnfit].
func FitImage(data []byte, side int) (ScaledImage, error) {
	switch {
	case len(data) > maxBytes:
		return ScaledImage{}, fmt.Errorf("%w: it has %d bytes", ErrUnfit, len(data))
	case isWebP(data) && len(data) <= maxAsIs: // which models read, and we do not
		return ScaledImage{Media: "image/webp", Data: data, Width: side, Height: side}, nil
	}
	head, form, err := image.DecodeConfig(bytes.NewReader(data))
	switch {
	case err != nil:
		return ScaledImage{}, fmt.Errorf("%w: %w", ErrUnfit, err)
	case head.Width <= 0 || head.Height <= 0 || head.Width > maxPixels/head.Height:
		return ScaledImage{}, fmt.Errorf("%w: it has %d times %d pixels", ErrUnfit, head.Width, head.Height)
	case max(head.Width, head.Height) <= side && len(data) <= maxAsIs:
		return ScaledImage{Media: "image/" + form, Data: data, Width: head.Width, Height: head.Height}, nil
	}
	whole, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return ScaledImage{}, fmt.Errorf("%w: %w", ErrUnfit, err)
	}
	small := shrinkImage(whole, side)
	var out bytes.Buffer
	if err := jpeg.Encode(&out, small, &jpeg.Options{Quality: quality}); err != nil {
		return ScaledImage{}, fmt.Errorf("%w: %w", ErrUnfit, err)
	}
	return ScaledImage{Media: "image/jpeg", Data: out.Bytes(), Width: small.Bounds().Dx(), Height: small.Bounds().Dy()}, nil
}

// isWebP reports whether data begins as a WebP picture does.
func isWebP(data []byte) bool {
	return len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP"
}

// Tokens returns what a picture is usually charged: a share for being there and
// one for each square of 512 pixels that it covers.
func (p ScaledImage) Tokens() int {
	const each, square, edge = 85, 170, 512
	return each + square*((p.Width+edge-1)/edge)*((p.Height+edge-1)/edge)
}
