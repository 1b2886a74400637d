package media

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"
)

// opus returns a recording of that many samples in three Ogg pages: headers, and sound.
func opus(samples uint64) []byte {
	page := func(position uint64, content string) []byte {
		head := append([]byte("OggS\x00\x00"), binary.LittleEndian.AppendUint64(nil, position)...)
		return append(append(head, make([]byte, 13)...), content...)
	}
	return bytes.Join([][]byte{page(0, "OpusHead\x01"), page(0, "OpusTags"), page(samples, "sound")}, nil)
}

func TestLengthOfARecordingIsKnown(t *testing.T) {
	for name, c := range map[string]struct {
		recording []byte
		want      time.Duration
	}{
		"a second and a half":  {opus(72_000), 1500 * time.Millisecond},
		"silence":              {opus(0), 0},
		"days":                 {opus(1 << 40), 0},
		"cut in its last page": {opus(72_000)[:len(opus(72_000))-24], 0},
		"Vorbis":               {bytes.Replace(opus(72_000), []byte("OpusHead"), []byte("\x01vorbis\x00"), 1), 0},
		"words":                {[]byte("no recording"), 0},
		"nothing":              {nil, 0},
	} {
		if got, ok := OggDuration(c.recording); got != c.want || ok != (c.want > 0) {
			t.Errorf("%s: %v %t, want %v", name, got, ok, c.want)
		}
	}
}

// Whatever an endpoint sends, its length is that of an hour or less.
func FuzzOggDuration(f *testing.F) {
	f.Add(opus(48_000))
	f.Add([]byte("OggS\x00OpusHeadOggS\x00"))
	f.Fuzz(func(t *testing.T, recording []byte) {
		if d, ok := OggDuration(recording); ok && (d <= 0 || d > time.Hour) || !ok && d != 0 {
			t.Errorf("%v %t", d, ok)
		}
	})
}
