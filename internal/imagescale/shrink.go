package imagescale

import (
	"image"
	"image/color"
)

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
