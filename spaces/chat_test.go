package spaces

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

// at names a message on the platform.
func at(message string) MessageRef {
	return MessageRef{Account: "telegram:1", Chat: "-100", Message: message}
}

// A teller writes a log: each event gets the next seq, an id and a time.
type teller struct{ log []Event }

// tell appends a body by an actor; the event's id is v and its seq, its time so
// many minutes past noon.
func (w *teller) tell(actor EntityID, b EventBody) *Event {
	n := len(w.log) + 1
	w.log = append(w.log, Event{
		Space: "den", Branch: Primary, Seq: int64(n), ID: EventID(fmt.Sprint("v", n)), Object: ChatObject,
		Actor: actor, At: minute(n), Body: b,
	})
	return &w.log[n-1]
}

func minute(n int) time.Time { return noon.Add(time.Duration(n) * time.Minute) }

func fold(log []Event) *Chat {
	c := NewChat()
	for _, e := range log {
		c.Apply(e)
	}
	return c
}

// What all messages of a room say of it is in memory once.
func TestMessagesShareWhoAndWhere(t *testing.T) {
	anew := strings.Clone
	var w teller
	for i := range 6 {
		e := w.tell(EntityID(anew([]string{"kai", "ada"}[i%2])), MessagePosted{Text: "hello", Ref: MessageRef{Account: anew("telegram:1"), Chat: anew("-100"), Message: strconv.Itoa(i)}})
		e.Thread = ThreadID(anew("topic"))
	}
	c := fold(w.log)
	first, last := c.Messages[1], c.Messages[5]
	for name, both := range map[string][2]string{
		"sender": {string(first.Sender), string(last.Sender)}, "thread": {string(first.Thread), string(last.Thread)},
		"account": {first.Refs[0].Account, last.Refs[0].Account}, "chat": {first.Refs[0].Chat, last.Refs[0].Chat},
	} {
		if both[0] != both[1] || unsafe.StringData(both[0]) != unsafe.StringData(both[1]) {
			t.Errorf("the %s is kept twice: %q, %q", name, both[0], both[1])
		}
	}
}

// SEQ-17, SEQ-18
func TestMessageHoldsAllThatWasSaid(t *testing.T) {
	var w teller
	origin := &SendOrigin{Space: "hub", Cycle: "c1"}
	files := []FileAttachment{{Kind: "photo", ID: "f1"}}
	e := w.tell("kai", MessagePosted{
		Text: "look", Ref: at("1"), Mentions: []EntityID{"ada"}, Attachments: files, Forwarded: "Mo", Viewing: "#ops", Broadcast: true, Origin: origin,
	})
	e.Thread, e.ReplyTo = "topic", "v0"
	w.tell("mo", ReactionAdded{Ref: at("1"), Emoji: "👍"})
	w.tell("kai", MessageEdited{Ref: at("1"), Text: "look here"})
	w.tell("kai", MessageEdited{Target: "v1", Text: "look there"})
	w.tell("mo", MessagePinned{Ref: at("1")})
	want := []ChatMessage{{
		ID: "v1", Seq: 1, Sender: "kai", Text: "look there", At: minute(1), Thread: "topic", ReplyTo: "v0",
		Refs: []MessageRef{at("1")}, Mentions: []EntityID{"ada"}, Attachments: files, FileAccount: at("1").Account, Forwarded: "Mo", Viewing: "#ops", Broadcast: true, Origin: origin,
		Reactions: []EmojiReaction{{"👍", "mo"}}, Pinned: true,
		Edits: []TextRevision{{Text: "look", At: minute(1)}, {Text: "look here", At: minute(3)}}, EditedAt: minute(4),
	}}
	if diff := cmp.Diff(want, fold(w.log).Messages); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEditWithTheSameWordsIsNone(t *testing.T) {
	var w teller
	w.tell("kai", MessagePosted{Text: "look", Ref: at("1")})
	w.tell("kai", MessageEdited{Ref: at("1"), Text: "look"})
	if m := fold(w.log).Messages[0]; len(m.Edits) != 0 || !m.EditedAt.IsZero() {
		t.Errorf("edited: %+v", m)
	}
}

func TestEditReplacesWhatAMessageCarries(t *testing.T) {
	place := func(where string) []FileAttachment { return []FileAttachment{{Kind: "location", Name: where}} }
	elsewhere := MessageRef{Account: "telegram:8", Chat: "1", Message: "1"}
	for _, c := range []struct {
		name    string
		edits   []MessageEdited
		want    []FileAttachment
		account string
		text    string
		edited  int
	}{
		{"moved", []MessageEdited{{Text: "here", Attachments: place("2")}, {Text: "here", Attachments: place("3")}}, place("3"), at("1").Account, "here", 2},
		{"removed", []MessageEdited{{Text: "here", Attachments: []FileAttachment{}}}, []FileAttachment{}, at("1").Account, "here", 1},
		{"the same", []MessageEdited{{Text: "here", Attachments: place("1")}}, place("1"), at("1").Account, "here", 0},
		{"words alone", []MessageEdited{{Text: "there"}}, place("1"), at("1").Account, "there", 1},
		{"by another account", []MessageEdited{{Ref: elsewhere, Target: "v1", Text: "here", Attachments: place("2")}}, place("2"), "telegram:8", "here", 1},
	} {
		for _, early := range []bool{false, true} {
			if early && !c.edits[0].Ref.IsZero() {
				continue // names the message by its event
			}
			var w teller
			said := MessagePosted{Text: "here", Ref: at("1"), Attachments: place("1")}
			if !early {
				w.tell("kai", said)
			}
			for _, e := range c.edits {
				if e.Ref.IsZero() {
					e.Ref = at("1")
				}
				w.tell("kai", e)
			}
			if early {
				w.tell("kai", said)
			}
			m := fold(w.log).Messages[0]
			if diff := cmp.Diff(c.want, m.Attachments); diff != "" || m.FileAccount != c.account || m.Text != c.text || len(m.Edits) != c.edited || m.EditedAt.IsZero() != (c.edited == 0) {
				t.Errorf("%s (early %v): %+v (-want +got):\n%s", c.name, early, m, diff)
			}
			if c.name == "moved" && !cmp.Equal(m.Edits[1].Attachments, place("2")) {
				t.Errorf("%s: it carried %+v", c.name, m.Edits)
			}
		}
	}
}

func TestThreadIsCalledAsMessagesAndRenamesTell(t *testing.T) {
	type step struct {
		say, rename, past string
		want              string
	}
	for name, steps := range map[string][]step{
		"the first title goes on being told": {{say: "Roof", want: "Roof"}, {rename: "Garden", want: "Garden"}, {say: "Roof", want: "Garden"}},
		"renamed before the first message":   {{rename: "Garden", want: "Garden"}, {say: "Roof", want: "Garden"}, {say: "Roof", want: "Garden"}},
		"a rename was missed":                {{say: "Roof", want: "Roof"}, {say: "Garden", want: "Garden"}, {say: "", want: "Garden"}},
		"history is older":                   {{say: "Garden", want: "Garden"}, {past: "Roof", want: "Garden"}, {say: "Garden", want: "Garden"}},
		"history alone":                      {{past: "Roof", want: "Roof"}, {say: "Garden", want: "Garden"}},
	} {
		var w teller
		for i, s := range steps {
			var e *Event
			if s.rename != "" {
				e = w.tell("kai", SpaceRenamed{Title: s.rename})
			} else {
				e = w.tell("kai", MessagePosted{Text: "hi", Ref: at(fmt.Sprint(i)), ThreadTitle: s.say + s.past, Past: s.past != ""})
			}
			e.Thread = "t1"
			if got := fold(w.log).Threads["t1"]; got != s.want {
				t.Errorf("%s: after step %d it is called %q, want %q", name, i, got, s.want)
			}
		}
	}
}

func TestReactionsAreASetByEmojiAndPerson(t *testing.T) {
	var w teller
	w.tell("kai", MessagePosted{Text: "look", Ref: at("1")})
	for _, who := range []EntityID{"mo", "kai", "mo"} {
		w.tell(who, ReactionAdded{Ref: at("1"), Emoji: "👍"})
	}
	w.tell("mo", ReactionAdded{Ref: at("1"), Emoji: "🎉"})
	w.tell("kai", ReactionRemoved{Ref: at("1"), Emoji: "👍"})
	w.tell("kai", ReactionRemoved{Ref: at("1"), Emoji: "🎉"}) // never put there
	if diff := cmp.Diff([]EmojiReaction{{"👍", "mo"}, {"🎉", "mo"}}, fold(w.log).Messages[0].Reactions); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A moderator clears one emoji, or all of them, of all people.
func TestClearedReactionsAreEverybodys(t *testing.T) {
	var w teller
	w.tell("kai", MessagePosted{Text: "look", Ref: at("1")})
	for _, emoji := range []string{"👍", "🎉"} {
		w.tell("mo", ReactionAdded{Ref: at("1"), Emoji: emoji})
		w.tell("kai", ReactionAdded{Ref: at("1"), Emoji: emoji})
	}
	w.tell("", ReactionRemoved{Ref: at("1"), Emoji: "👍", Everybody: true})
	testutil.Same(t, "one emoji cleared", []EmojiReaction{{"🎉", "mo"}, {"🎉", "kai"}}, fold(w.log).Messages[0].Reactions)
	w.tell("", ReactionRemoved{Ref: at("1"), Everybody: true})
	if got := fold(w.log).Messages[0].Reactions; len(got) != 0 {
		t.Errorf("all cleared, and there are %v", got)
	}
}

func TestUnpinnedMessageIsNotPinned(t *testing.T) {
	var w teller
	w.tell("kai", MessagePosted{Text: "look", Ref: at("1")})
	w.tell("kai", MessagePinned{Ref: at("1")})
	w.tell("kai", MessageUnpinned{Ref: at("1")})
	if fold(w.log).Messages[0].Pinned {
		t.Error("still pinned")
	}
}

// DESIGN 2
func TestDeletedMessageKeepsItsPlaceAndNothingElse(t *testing.T) {
	var w teller
	w.tell("kai", MessagePosted{
		Text: "secret", Ref: at("1"), Mentions: []EntityID{"ada"}, Attachments: []FileAttachment{{ID: "f"}}, Forwarded: "Mo", Viewing: "#ops",
	}).Thread = "topic"
	w.tell("kai", MessageEdited{Ref: at("1"), Text: "secrets"})
	w.tell("kai", MessageDeleted{Ref: at("1")})
	w.tell("kai", MessageEdited{Ref: at("1"), Text: "secret again"})
	w.tell("mo", ReactionAdded{Ref: at("1"), Emoji: "👍"})
	w.tell("mo", MessagePinned{Target: "v1"})
	want := []ChatMessage{{ID: "v1", Seq: 1, Sender: "kai", At: minute(1), Thread: "topic", Refs: []MessageRef{at("1")}, Deleted: true}}
	if diff := cmp.Diff(want, fold(w.log).Messages); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// SEQ-99, R-16
func TestReceiptsTellWhereTheAgentsMessageStands(t *testing.T) {
	var w teller
	w.tell("agent:ada", MessagePosted{Text: "a long answer"})
	w.tell("", ActionDelivered{Message: "v1", Action: "a1", Refs: []MessageRef{at("8"), at("9")}})
	w.tell("mo", ReactionAdded{Ref: at("9"), Emoji: "👍"})
	w.tell("mo", MessageDeleted{Ref: at("5")}) // of another person
	w.tell("", ActionDelivered{Message: "v1", Action: "a1", Refs: []MessageRef{at("8"), at("9")}})
	c := fold(w.log)
	testutil.Same(t, "refs", []MessageRef{at("8"), at("9")}, c.Messages[0].Refs)
	testutil.Same(t, "reactions", []EmojiReaction{{"👍", "mo"}}, c.Messages[0].Reactions)
	c.Apply(Event{Seq: 6, ID: "v6", Body: ActionDelivered{Message: "v0", Action: "a0", Refs: []MessageRef{at("3")}}})
	if c.Upto != 6 || c.About(MessageDeleted{Ref: at("3")}) != nil {
		t.Errorf("a receipt for a message of another branch left something: upto %d", c.Upto)
	}
}

func TestMessageBearsTheFailureThatStands(t *testing.T) {
	failed := func(a ActionID, s ActionState) EventBody { return SendFailed{Message: "v1", Action: a, State: s} }
	delivered := func(a ActionID) EventBody {
		return ActionDelivered{Message: "v1", Action: a, Refs: []MessageRef{at(string(a))}}
	}
	tests := []struct {
		name string
		log  []EventBody
		want ActionState
	}{
		{"failed", []EventBody{failed("a", ActionFailed)}, ActionFailed},
		{"unknown, then found delivered", []EventBody{failed("a", ActionUnknown), delivered("a")}, ""},
		{"unknown, then given up", []EventBody{failed("a", ActionUnknown), failed("a", ActionExpired)}, ActionExpired},
		{"one chat of two", []EventBody{failed("a", ActionFailed), delivered("b")}, ActionFailed},
		{"the other chat of two", []EventBody{delivered("a"), failed("b", ActionFailed)}, ActionFailed},
		{"two chats, one comes right", []EventBody{failed("a", ActionFailed), failed("b", ActionUnknown), delivered("b")}, ActionFailed},
		{"deleted meanwhile", []EventBody{MessageDeleted{Target: "v1"}, failed("a", ActionFailed)}, ""},
		{"an edit of it failed", []EventBody{SendFailed{Message: "v9", Action: "a", State: ActionFailed}}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var w teller
			w.tell("agent:ada", MessagePosted{Text: "hi"})
			for _, b := range tt.log {
				w.tell("", b)
			}
			if got := fold(w.log).Messages[0].Failure; got != tt.want {
				t.Errorf("failure is %q, want %q", got, tt.want)
			}
		})
	}
}

func TestFactsPeopleShouldSeeAreNotices(t *testing.T) {
	var w teller
	notices := []EventBody{
		MemberJoined{Who: "mo"},
		MemberLeft{Who: "mo"},
		SpaceRenamed{Title: "Den"},
		HistoryGap{Reason: "outage"},
		UnreadableUpdate{What: "poll"},
		ChatLinked{Chat: "-100"},
		ChatUnlinked{Chat: "-100"},
		ChatMigrated{From: "-1", To: "-100"},
		SendFailed{Message: "v0", State: ActionFailed},
	}
	for _, b := range notices {
		w.tell("kai", b)
	}
	var got []EventBody
	for _, m := range fold(w.log).Messages {
		if m.Sender != "kai" || m.Text != "" {
			t.Errorf("notice %s looks like a message: %+v", m.ID, m)
		}
		got = append(got, m.Notice)
	}
	if diff := cmp.Diff(notices, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Every body has its place in the fold, the inner ones none.
func TestEveryBodyFolds(t *testing.T) {
	for _, b := range samples {
		c := NewChat()
		c.Apply(Event{Seq: 1, ID: "v1", Body: b})
		inner := (&InnerState{}).holds(b) || map[EventKind]bool{
			KindWoke: true, KindThought: true, KindActed: true, KindResult: true, KindSummed: true, KindDenied: true,
			KindTransitioned: true, KindCompacted: true, KindStopped: true, KindSpan: true, KindForgot: true,
		}[b.Kind()]
		if inner && len(c.Messages) > 0 {
			t.Errorf("%s of an inner log stands in a chat", b.Kind())
		}
		if id, ref := Target(b); (id != "" || !ref.IsZero()) != (c.early[ref] != nil) {
			t.Errorf("%s is about %q %v and waits: %v", b.Kind(), id, ref, c.early)
		}
	}
}

// holds reports whether folding b leaves something.
func (s *InnerState) holds(b EventBody) bool {
	s.Apply(Event{Seq: 1, Body: b})
	return len(s.Notes.All)+len(s.Goals.All)+len(s.Memories.All)+len(s.Bookmarks.Bookmarks) > 0
}

func TestThreadsKeepTheirNewestTitle(t *testing.T) {
	var w teller
	w.tell("kai", SpaceRenamed{Title: "Plans"}).Thread = "t1"
	w.tell("kai", SpaceRenamed{Title: "The room"})
	w.tell("kai", SpaceRenamed{Title: "Plans for May"}).Thread = "t1"
	w.tell("kai", SpaceRenamed{Title: "Food"}).Thread = "t2"
	if diff := cmp.Diff(map[ThreadID]string{"t1": "Plans for May", "t2": "Food"}, fold(w.log).Threads); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// SEQ-19
func TestActivityIsWhenEachLastDidSomething(t *testing.T) {
	var w teller
	w.tell("kai", MessagePosted{Text: "a"})
	w.tell("mo", MessagePosted{Text: "b"})
	w.tell("mo", ReactionAdded{Target: "v1", Emoji: "👍"})
	w.tell("kai", MessagePosted{Text: "an old one, filled in later"}).At = noon
	w.tell("", ActionDelivered{Message: "v1"}).At = noon
	c := fold(w.log)
	if diff := cmp.Diff(map[EntityID]time.Time{"kai": minute(1), "mo": minute(3)}, c.Activity); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if c.Last != minute(3) {
		t.Errorf("last is %v, want %v", c.Last, minute(3))
	}
}

// What is kept beside the chat about a message (tokens, search) is renewed by
// what Apply reports.
func TestApplyReportsWhatItChanged(t *testing.T) {
	steps := []struct {
		actor EntityID
		body  EventBody
		want  []int
	}{
		{"kai", MessagePosted{Text: "a", Ref: at("1")}, []int{0}},
		{"mo", MessageEdited{Ref: at("2"), Text: "too early"}, nil},
		{"mo", MessagePosted{Text: "an answer", Ref: at("3"), ReplyRef: at("2")}, []int{1}},
		{"mo", MessagePosted{Text: "b", Ref: at("2")}, []int{1, 2}}, // the answer has its question now
		{"mo", ReactionAdded{Ref: at("1"), Emoji: "👍"}, []int{0}},
		{"agent:ada", MessagePosted{Text: "hi"}, []int{3}},
		{"", SendFailed{Message: "v6", Action: "a1", State: ActionUnknown}, []int{3, 4}},
		{"", ActionDelivered{Message: "v6", Action: "a1", Refs: []MessageRef{at("9")}}, []int{3}},
		{"kai", MemberJoined{Who: "lu"}, []int{5}},
		{"kai", NoteAdded{Text: "inner"}, nil},
	}
	c := NewChat()
	var w teller
	for _, s := range steps {
		if diff := cmp.Diff(s.want, c.Apply(*w.tell(s.actor, s.body))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", w.log[len(w.log)-1].ID, diff)
		}
	}
}

func TestMessagesAreFoundAtTheBorders(t *testing.T) {
	var w teller
	w.tell("mo", MessageEdited{Ref: at("0"), Text: "of no message"}) // seq 1 has no entry
	w.tell("kai", MessagePosted{Text: "a", Ref: at("2")})
	w.tell("mo", MessagePinned{Ref: at("2")})
	w.tell("kai", MessagePosted{Text: "b", Ref: at("4")})
	c := fold(w.log)
	for seq, want := range map[int64]EventID{-1: "", 0: "", 1: "", 2: "v2", 3: "", 4: "v4", 5: "", 1 << 62: ""} {
		if m := c.BySeq(seq); (m == nil) != (want == "") || m != nil && m.ID != want {
			t.Errorf("BySeq(%d) = %v, want %q", seq, m, want)
		}
	}
	for seq, want := range map[int64]int{-1: 0, 0: 0, 1: 0, 2: 1, 3: 1, 4: 2, 5: 2} {
		if got := c.After(seq); got != want {
			t.Errorf("After(%d) = %d, want %d", seq, got, want)
		}
	}
	for id, want := range map[EventID]int{"v2": 0, "v4": 1, "v3": -1, "": -1} {
		if got := c.At(id); got != want {
			t.Errorf("At(%q) = %d, want %d", id, got, want)
		}
		if m := c.Find(id); (m == nil) != (want < 0) || m != nil && m.ID != id {
			t.Errorf("Find(%q) = %v", id, m)
		}
	}
	abouts := []struct {
		body EventBody
		want EventID
	}{
		{MessageDeleted{Ref: at("2")}, "v2"},
		{MessageDeleted{Target: "v4"}, "v4"},
		{MessageDeleted{Target: "v4", Ref: at("2")}, "v4"}, // an id is surer than a name
		{MessageDeleted{Ref: at("9")}, ""},
		{MessageDeleted{}, ""},
		{MessagePosted{Text: "about nothing", Ref: at("2")}, ""},
	}
	for _, a := range abouts {
		if m := c.About(a.body); (m == nil) != (a.want == "") || m != nil && m.ID != a.want {
			t.Errorf("About(%+v) = %v, want %q", a.body, m, a.want)
		}
	}
	empty := NewChat()
	if empty.BySeq(1) != nil || empty.After(0) != 0 || empty.At("v1") != -1 || empty.About(MessageDeleted{}) != nil {
		t.Error("an empty chat holds something")
	}
}

// SEQ-08, SEQ-12: a change has the place of its event, not that of its object
func TestTimelineStandsAtItsEvent(t *testing.T) {
	e := Event{Branch: Primary, ID: "v4", Seq: 4}
	want := TimelineContext{Branch: Primary, Primary: true, LastEvent: "v4", LastSeq: 4}
	if got := e.Timeline(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	e.Branch = "rehearsal"
	if e.Timeline().Primary {
		t.Error("a fork claims to be the primary branch")
	}
}

// chatState compares all of two chats, what waits included.
var chatState = cmp.Options{cmp.AllowUnexported(Chat{}), cmpopts.EquateEmpty()}

// An append costs the same however much was said.
func BenchmarkChatApply(b *testing.B) {
	for _, before := range []int{0, 1_000, 100_000} {
		b.Run(fmt.Sprint("after ", before), func(b *testing.B) {
			c := NewChat()
			say := func() {
				id := fmt.Sprint(c.Upto + 1)
				c.Apply(Event{Seq: c.Upto + 1, ID: EventID(id), Actor: "kai", At: noon, Body: MessagePosted{Text: "hello", Ref: at(id)}})
			}
			for range before {
				say()
			}
			b.ReportAllocs()
			for b.Loop() {
				say()
			}
		})
	}
}

func BenchmarkChatFold(b *testing.B) {
	const size = 100_000
	var w teller
	for n := range size {
		w.tell("kai", MessagePosted{Text: "hello", Ref: at(fmt.Sprint(n))})
	}
	for b.Loop() {
		fold(w.log)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/size, "ns/event")
}

// A room that was told how much comes takes it in without a copy of what it has.
func TestMessagesThatWereExpectedAreNotMoved(t *testing.T) {
	const many = 1000
	var w teller
	for i := range many {
		w.tell("kai", MessagePosted{Text: "hello", Ref: at(strconv.Itoa(i))})
	}
	c := NewChat()
	c.Grow(many)
	c.Apply(w.log[0])
	first := unsafe.SliceData(c.Messages)
	for _, e := range w.log[1:] {
		c.Apply(e)
	}
	if len(c.Messages) != many || unsafe.SliceData(c.Messages) != first {
		t.Errorf("%d messages, moved: %t", len(c.Messages), unsafe.SliceData(c.Messages) != first)
	}
	if c.At(w.log[many-1].ID) != many-1 {
		t.Error("the last message is not found by its id")
	}
}
