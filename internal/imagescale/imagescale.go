// Package imagescale scales images down for model requests.
//
// The result is no larger than requested and depends on the input alone; memory is
// limited for any input. EXIF orientation is ignored: the platforms apply it when an
// image is posted.
package imagescale

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // the first frame is used
	"image/jpeg"
	_ "image/png"
)

// Limits of the input.
const (
	maxBytes  = 20 << 20
	maxPixels = 40_000_000 // decoded, at most four bytes each
	maxAsIs   = 1 << 20    // bytes; a larger file is encoded again
	quality   = 85         // of encoded JPEG
)

// ErrUnfit is returned for data that is not an image or is too large to decode.
var ErrUnfit = errors.New("the picture cannot be shown")

// A ScaledImage fits a model request.
type ScaledImage struct {
	Media         string // "image/jpeg", "image/png", "image/gif" or "image/webp"
	Data          []byte
	Width, Height int // in pixels; the limit if unknown
}

// FitImage returns the image in data with no side longer than side pixels. A small
// image is returned unchanged, any other is encoded as JPEG. Its errors wrap
// [ErrUnfit].
func FitImage(data []byte, side int) (ScaledImage, error) {
	switch {
	case len(data) > maxBytes:
		return ScaledImage{}, fmt.Errorf("%w: it has %d bytes", ErrUnfit, len(data))
	case isWebP(data) && len(data) <= maxAsIs: // models read it, the standard library does not
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

// isWebP reports whether data begins with a WebP header.
func isWebP(data []byte) bool {
	return len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP"
}

// Tokens estimates the tokens of the image: a base and a share for each square of
// 512 pixels.
func (p ScaledImage) Tokens() int {
	const each, square, edge = 85, 170, 512
	return each + square*((p.Width+edge-1)/edge)*((p.Height+edge-1)/edge)
}

// samples is the number of sampled pixels along each side of a target pixel's area;
// the colour is their mean.
const samples = 3

// shrinkImage returns the image with no side longer than side, on white.
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

// mean returns the mean colour of sampled pixels in an area.
func mean(from image.Image, field image.Rectangle) color.RGBA {
	across, down := min(field.Dx(), samples), min(field.Dy(), samples)
	var red, green, blue uint32
	for j := range down {
		y := field.Min.Y + j*field.Dy()/down
		for i := range across {
			r, g, b, a := from.At(field.Min.X+i*field.Dx()/across, y).RGBA()
			white := 0xffff - a // of the background
			red, green, blue = red+(r+white)>>8, green+(g+white)>>8, blue+(b+white)>>8
		}
	}
	n := uint32(across * down)
	return color.RGBA{uint8(red / n), uint8(green / n), uint8(blue / n), 0xff}
}
