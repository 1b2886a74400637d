package tokens

import _ "embed" // the table

// data is three parts, all numbers in little endian:
//
//   - 1<<slotBits slots of four bytes, an open table of hashes: zero for an empty
//     slot, otherwise a token's rank plus one above some bits of its hash;
//   - the offset of each token in the third part, by rank, and the end of the last;
//   - the bytes of all tokens, by rank.
//
//go:embed o200k.bin
var data string

const (
	slotBits = 18
	markBits = 32 - slotBits // of a slot, and of the hash in it
	slotMask = 1<<slotBits - 1
	markMask = 1<<markBits - 1
	offsets  = 4 << slotBits // where the second part begins
	size     = 199998        // tokens
	texts    = offsets + 4*(size+1)
)

// none is the rank of what is not a token.
const none = ^uint32(0)

// has reports whether piece is one token.
func has(piece string) bool { return rank(piece) != none }

// rank returns the place of piece in the vocabulary: what is merged first has the
// lowest. It returns none for what is not a token.
func rank(piece string) uint32 {
	slot, mark := place(piece)
	for ; ; slot = (slot + 1) & slotMask {
		found := number(4 * int(slot))
		if found == 0 {
			return none
		}
		if found&markMask != mark {
			continue
		}
		r := found>>markBits - 1
		at := offsets + 4*int(r)
		if data[texts+number(at):texts+number(at+4)] == piece {
			return r
		}
	}
}

// place returns the slot at which the search for piece begins, and the bits of its
// hash that are kept there.
func place(piece string) (slot, mark uint32) {
	h := uint64(14695981039346656037) // FNV-1a, and then its high bits are mixed
	for i := range len(piece) {
		h = (h ^ uint64(piece[i])) * 1099511628211
	}
	h = (h ^ h>>32) * 0x9e3779b97f4a7c15
	return uint32(h >> (64 - slotBits)), uint32(h>>16) & markMask
}

// number reads the number at an offset of data.
func number(at int) uint32 {
	b := data[at : at+4]
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}
