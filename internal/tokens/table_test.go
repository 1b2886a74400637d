package tokens

import (
	"encoding/binary"
	"flag"
	"os"
	"testing"

	"github.com/tiktoken-go/tokenizer"
)

var update = flag.Bool("update", false, "write the table anew")

func codec(tb testing.TB) tokenizer.Codec {
	tb.Helper()
	c, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func TestTableHoldsTheVocabulary(t *testing.T) {
	c := codec(t)
	slots := make([]uint32, 1<<slotBits)
	ends, all := []uint32{0}, []byte(nil)
	for r := range uint32(size) {
		piece, err := c.Decode([]uint{uint(r)})
		if err != nil {
			t.Fatalf("rank %d: %v", r, err)
		}
		slot, mark := place(piece)
		for slots[slot] != 0 {
			slot = (slot + 1) & slotMask
		}
		slots[slot] = (r+1)<<markBits | mark
		all = append(all, piece...)
		ends = append(ends, uint32(len(all)))
	}
	if piece, err := c.Decode([]uint{size}); err == nil {
		t.Fatalf("the vocabulary goes on with %q", piece)
	}
	var want []byte
	for _, n := range append(slots, ends...) {
		want = binary.LittleEndian.AppendUint32(want, n)
	}
	want = append(want, all...)
	if *update {
		if err := os.WriteFile("o200k.bin", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if data != string(want) {
		t.Error("o200k.bin is not what the vocabulary makes; run with -update")
	}
}
