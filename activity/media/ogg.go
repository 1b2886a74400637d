package media

import (
	"bytes"
	"encoding/binary"
	"time"
)

// OggDuration returns how long a recording in Ogg Opus lasts; false for anything else. An Ogg page tells
// how many samples of 48 kHz end with it (RFC 7845, section 4).
func OggDuration(recording []byte) (d time.Duration, ok bool) {
	const page = "OggS\x00"
	if !bytes.HasPrefix(recording, []byte(page)) || !bytes.Contains(recording[:min(len(recording), 128)], []byte("OpusHead")) {
		return 0, false
	}
	last := bytes.LastIndex(recording, []byte(page))
	if len(recording) < last+14 {
		return 0, false
	}
	samples := binary.LittleEndian.Uint64(recording[last+6:])
	if samples == 0 || samples > 48_000*60*60 {
		return 0, false
	}
	return time.Duration(samples) * time.Second / 48_000, true
}
