package imagescale

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"
)

// painted returns a picture whose left half is red and whose right half is seen
// through.
func painted(tb testing.TB, w, h int) []byte {
	tb.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w / 2 {
			m.SetNRGBA(x, y, color.NRGBA{R: 255, A: 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// a small picture stays as it is; a large one keeps its form and colours
// within the bound, on white.
func TestLargePicturesAreMadeSmall(t *testing.T) {
	small := painted(t, 60, 40)
	if p, err := FitImage(small, 64); err != nil || !bytes.Equal(p.Data, small) || p.Media != "image/png" || p.Width != 60 || p.Height != 40 {
		t.Errorf("small: %s %d times %d, %v", p.Media, p.Width, p.Height, err)
	}
	p, err := FitImage(painted(t, 600, 400), 64)
	if err != nil || p.Media != "image/jpeg" || p.Width != 64 || p.Height != 42 {
		t.Fatalf("large: %s %d times %d, %v", p.Media, p.Width, p.Height, err)
	}
	m, err := jpeg.Decode(bytes.NewReader(p.Data))
	if err != nil || m.Bounds().Dx() != 64 {
		t.Fatalf("%v, %v", m, err)
	}
	for x, want := range map[int]color.RGBA{8: {255, 0, 0, 255}, 56: {255, 255, 255, 255}} {
		r, g, b, _ := m.At(x, 20).RGBA()
		if far(r, want.R) || far(g, want.G) || far(b, want.B) {
			t.Errorf("at %d it is %d %d %d, want about %v", x, r>>8, g>>8, b>>8, want)
		}
	}
}

func far(got uint32, want uint8) bool {
	return max(int(got>>8), int(want))-min(int(got>>8), int(want)) > 12
}

// what is no picture, or one that would fill the memory, is
// refused by its head.
func TestWhatCannotBeShownIsRefused(t *testing.T) {
	huge := painted(t, 2, 2)
	copy(huge[16:], "\x00\x01\x00\x00\x00\x01\x00\x00") // 65,536 times 65,536, it says
	for name, data := range map[string][]byte{
		"words": []byte("no picture"), "nothing": nil, "a head alone": painted(t, 600, 400)[:60], "a bomb": huge,
		"too many bytes": append(painted(t, 2, 2), make([]byte, maxBytes)...), "a large webp": []byte("RIFF____WEBPVP8 " + strings.Repeat("x", maxAsIs)),
	} {
		if _, err := FitImage(data, 64); !errors.Is(err, ErrUnfit) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if p, err := FitImage([]byte("RIFF____WEBPVP8 "), 64); err != nil || p.Width != 64 || p.Media != "image/webp" {
		t.Errorf("a small webp: %+v, %v", p, err)
	}
}

// what a picture is charged rises with what it covers.
func TestPicturesAreChargedByTheirSize(t *testing.T) {
	for _, c := range []struct{ w, h, want int }{{1, 1, 255}, {512, 512, 255}, {513, 512, 425}, {1024, 1024, 765}} {
		if got := (ScaledImage{Width: c.w, Height: c.h}).Tokens(); got != c.want {
			t.Errorf("%d times %d: %d tokens, want %d", c.w, c.h, got, c.want)
		}
	}
}

// no bytes make it panic, or give back more than was asked for.
func FuzzFit(f *testing.F) {
	f.Add(painted(f, 40, 30), 16)
	f.Add([]byte("GIF89a"), 1)
	f.Add([]byte("RIFF____WEBPVP8 "), 5)
	f.Fuzz(func(t *testing.T, data []byte, side int) {
		side = min(max(side, 1), 256)
		if c, _, err := image.DecodeConfig(bytes.NewReader(data)); err == nil && c.Width*c.Height > 1<<20 {
			return // decoding it takes too long here
		}
		p, err := FitImage(data, side)
		if err == nil && (max(p.Width, p.Height) > side || len(p.Data) == 0) {
			t.Errorf("%d times %d with %d bytes", p.Width, p.Height, len(p.Data))
		}
	})
}

func BenchmarkFit(b *testing.B) {
	data := painted(b, 4000, 3000)
	for b.Loop() {
		if _, err := FitImage(data, 1024); err != nil {
			b.Fatal(err)
		}
	}
}
