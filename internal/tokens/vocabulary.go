package tokens

import (
	_ "embed"
)

// vocabulary holds the o200k tokens in order of rank, so that those that are
// common lie together, and a table of hashes by which they are found. First the
// length of each, a byte; then the slots of the table, four bytes each; then where
// each sixteenth token begins, four bytes each; then their text.
//
// It is not in Go's memory: what was not looked at lately costs nothing.
//
//go:embed o200k.bin
var vocabulary string

// The layout of the vocabulary.
const (
	tokenCount = 199_998
	slotCount  = 1 << 18 // a quarter of them is empty
	stride     = 16

	slotsAt  = tokenCount
	startsAt = slotsAt + 4*slotCount
	textAt   = startsAt + 4*((tokenCount+stride-1)/stride)
)

// A slot is empty, 0, or holds the rank of a token from 1 in its lower bits and a
// part of the token's hash in the others.
const (
	rankBits = 18
	rankMask = 1<<rankBits - 1
)

// rank returns the rank of a token, from 0; lower ones are merged first.
func rank(token string) (uint32, bool) {
	h := hash(token)
	for at := h % slotCount; ; at = (at + 1) % slotCount {
		slot := uint32At(slotsAt + 4*at)
		if slot == 0 {
			return 0, false
		}
		if (slot^h)&^rankMask == 0 && text(slot&rankMask-1) == token {
			return slot&rankMask - 1, true
		}
	}
}

// text returns the token of that rank.
func text(rank uint32) string {
	first := rank / stride * stride
	from := textAt + uint32At(startsAt+4*(rank/stride))
	for _, size := range []byte(vocabulary[first:rank]) {
		from += uint32(size)
	}
	return vocabulary[from : from+uint32(vocabulary[rank])]
}

// uint32At returns the four bytes at a place of the vocabulary as a number.
func uint32At(at uint32) uint32 {
	b := vocabulary[at : at+4]
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

// hash is FNV-1a, mixed once more so that its upper bits depend on every byte.
func hash(token string) uint32 {
	h := uint32(2166136261)
	for i := range len(token) {
		h = (h ^ uint32(token[i])) * 16777619
	}
	h ^= h >> 15
	return h * 2654435769
}
