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
	"image/color"
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

// samples is how many places along each side of a field are looked at; the colour
// of the field is their mean.
const samples = 3

// shrinkImage returns the picture with no side longer than side, on white.
func shrinkImage(from image.Image, side int) *image.RGBA {
	b := from.Bounds()
	w, h := b.Dx(), b.Dy()
	if longest := max(w, h); longest > side {
		w, h = max(w*side/longest, 1), max(h*side/longest, 1)
	}
	to := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		top, bottom := b.Min.Y+y*b.Dy()/h, b.Min.Y+(y+1)*b.Dy()/h
		for x := range w {
			left, right := b.Min.X+x*b.Dx()/w, b.Min.X+(x+1)*b.Dx()/w
			to.SetRGBA(x, y, mean(from, image.Rect(left, top, max(right, left+1), max(bottom, top+1))))
		}
	}
	return to
}

// mean returns the mean colour of a field, looked at in a few places.
func mean(from image.Image, field image.Rectangle) color.RGBA {
	across, down := min(field.Dx(), samples), min(field.Dy(), samples)
	var red, green, blue uint32
	for j := range down {
		y := field.Min.Y + j*field.Dy()/down
		for i := range across {
			r, g, b, a := from.At(field.Min.X+i*field.Dx()/across, y).RGBA()
			white := 0xffff - a // what shines through
			red, green, blue = red+(r+white)>>8, green+(g+white)>>8, blue+(b+white)>>8
		}
	}
	n := uint32(across * down)
	return color.RGBA{uint8(red / n), uint8(green / n), uint8(blue / n), 0xff}
}
