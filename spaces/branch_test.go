package spaces

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// SEQ-10, I11
func TestOnlyWhatFitsItsLineIsAppended(t *testing.T) {
	main := &Branch{Space: "den", ID: Primary, Head: "v3", HeadSeq: 3}
	known := func(id EventID) bool { return id == "v1" || id == "v2" }
	tests := []struct {
		name    string
		branch  *Branch
		parents []EventID
		refused string // part of the reason; empty: fits
	}{
		{"no parents named", main, nil, ""},
		{"on the head", main, []EventID{"v3"}, ""},
		{"on an earlier event", main, []EventID{"v1"}, ""},
		{"on several", main, []EventID{"v2", "v3", "v1"}, ""},
		{"first on an empty branch", &Branch{Space: "den", ID: Primary}, nil, ""},
		{"unknown branch", nil, []EventID{"v3"}, `space den has no branch "main"`},
		{"unknown parent", main, []EventID{"v9"}, `parent v9 is not on branch "main" of den`},
		{"one unknown among known", main, []EventID{"v3", "v1", "v9"}, "parent v9"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := Cohere(tt.branch, Event{Space: "den", Branch: Primary, Parents: tt.parents}, known)
			if tt.refused == "" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			if !errors.Is(err, ErrTimelineDecoherence) || !strings.Contains(err.Error(), tt.refused) {
				t.Errorf("got %v, want decoherence: %s", err, tt.refused)
			}
		})
	}
}

// The head is the usual parent; asking the store for it would cost every append.
func TestHeadNeedsNoLookUp(t *testing.T) {
	err := Cohere(&Branch{Head: "v3"}, Event{Parents: []EventID{"v3"}}, func(id EventID) bool {
		t.Errorf("asked for %s", id)
		return false
	})
	if err != nil {
		t.Error(err)
	}
}

func anEvent() Event {
	return Event{
		Space: "den", Branch: Primary, Seq: 4, ID: "v4", Parents: []EventID{"v3", "v2"}, Object: ChatObject, Thread: "t",
		ReplyTo: "v2", Actor: "e1", At: noon, RecvAt: noon.Add(time.Second), Source: "telegram:1|m7", Readers: 2,
		Cause: "v2", Root: "v1", Depth: 1, Body: MessagePosted{Text: "hi"},
	}
}

func link(t rapid.TB, prev []byte, e Event) []byte {
	t.Helper()
	body, err := Encode(e.Body)
	if err != nil {
		t.Fatal(err)
	}
	return Link(prev, e, body)
}

// The chain of a record that exists must verify for ever (I11).
func TestHashStays(t *testing.T) {
	const want = "9378b49326263ba8b83057c7fffeb347b156188d48e50eda263ae6e28ecf9eae"
	if got := hex.EncodeToString(link(t, []byte("earlier"), anEvent())); got != want {
		t.Errorf("hash is %s, want %s", got, want)
	}
}

// I11
func TestAnyChangeOfAnEventChangesTheHash(t *testing.T) {
	prev, e := []byte("earlier"), anEvent()
	seen := map[string]string{string(link(t, prev, e)): "the event itself"}
	try := func(what string, hash []byte) {
		t.Helper()
		if same, ok := seen[string(hash)]; ok {
			t.Errorf("%s has the hash of %s", what, same)
		}
		seen[string(hash)] = what
	}
	try("another past", link(t, []byte("another"), e))
	try("no past", link(t, nil, e))
	for i := range reflect.TypeFor[Event]().NumField() {
		changed := anEvent()
		f := reflect.ValueOf(&changed).Elem().Field(i)
		switch v := f.Interface().(type) {
		case time.Time:
			f.Set(reflect.ValueOf(v.Add(time.Millisecond)))
		case []EventID:
			f.Set(reflect.ValueOf([]EventID{v[1], v[0]}))
		case EventBody:
			f.Set(reflect.ValueOf(MessagePosted{Text: "ho"}))
		default:
			if f.CanInt() {
				f.SetInt(f.Int() + 1)
			} else {
				f.SetString(f.String() + "x")
			}
		}
		try(reflect.TypeFor[Event]().Field(i).Name+" changed", link(t, prev, changed))
	}
	for _, parents := range [][]EventID{nil, {"v3"}, {"v3v2"}, {"v3", "v2", ""}} {
		e.Parents = parents
		try(fmt.Sprintf("parents %q", parents), link(t, prev, e))
	}
	e = anEvent()
	e.Object, e.Thread = e.Object+"t", "" // the same letters, cut elsewhere
	try("letters moved to another field", link(t, prev, e))
	e = anEvent()
	e.Body = MessageEdited{Text: "hi"} // the same stored form
	try("another kind", link(t, prev, e))
}

// Swapping two events, or dropping one, shows at the end of the chain.
func TestOrderIsPartOfTheHash(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 12).Draw(t, "events")
		var log []Event
		for i := range n {
			e := anEvent()
			e.Seq, e.ID = int64(i+1), EventID(fmt.Sprint("v", i))
			e.Body = MessagePosted{Text: rapid.String().Draw(t, "text")}
			log = append(log, e)
		}
		i := rapid.IntRange(0, n-2).Draw(t, "i")
		j := rapid.IntRange(i+1, n-1).Draw(t, "j")
		swapped := slices.Clone(log)
		swapped[i], swapped[j] = swapped[j], swapped[i]
		dropped := slices.Delete(slices.Clone(log), i, i+1)
		want := chainOf(t, log)
		if !bytes.Equal(want, chainOf(t, slices.Clone(log))) {
			t.Error("the same log has two hashes")
		}
		if bytes.Equal(want, chainOf(t, swapped)) {
			t.Errorf("events %d and %d can be swapped", i, j)
		}
		if bytes.Equal(want, chainOf(t, dropped)) {
			t.Errorf("event %d can be dropped", i)
		}
	})
}

func chainOf(t rapid.TB, log []Event) (hash []byte) {
	t.Helper()
	for _, e := range log {
		hash = link(t, hash, e)
	}
	return hash
}
