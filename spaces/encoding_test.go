package spaces

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

var update = flag.Bool("update", false, "rewrite golden files")

const goldenBodies = "testdata/bodies.golden"

var (
	noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ref  = MessageRef{Account: "telegram:1", Chat: "-100", Message: "7"}
)

// samples holds one body of each kind with every field set.
var samples = []EventBody{
	MessagePosted{
		Text: "hi <b> & *all*", Ref: ref, ReplyRef: MessageRef{"telegram:1", "-100", "6"}, Mentions: []EntityID{"e1"}, ToUs: true,
		Command: "start", Args: "now", Past: true, Forwarded: "Kai", Viewing: "#ops", Broadcast: true,
		Attachments: []FileAttachment{{Kind: "photo", ID: "f1", Name: "a.png", MIME: "image/png", Size: 12}},
		ThreadTitle: "Roof",
		Origin:      &SendOrigin{Space: "s2", Event: "v2", Cycle: "c2", Why: "asked to"},
	},
	MessageEdited{Target: "v1", Ref: ref, Text: "new", Attachments: []FileAttachment{{Kind: "photo", ID: "f2", Name: "b.png", MIME: "image/png", Size: 13}}},
	MessageDeleted{Target: "v1", Ref: ref},
	ReactionAdded{Target: "v1", Ref: ref, Emoji: "👍"},
	ReactionRemoved{Target: "v1", Ref: ref, Emoji: "👍", Everybody: true},
	VoiceTranscribed{Target: "v1", Ref: ref, File: "f1", Text: "hello", Model: "whisper-1"},
	MemberJoined{Who: "e1"},
	MemberLeft{Who: "e1", By: "e2"},
	SpaceRenamed{Title: "Den"},
	MessagePinned{Target: "v1", Ref: ref},
	MessageUnpinned{Target: "v1", Ref: ref},
	ChatMigrated{Account: "telegram:1", From: "-1", To: "-100"},
	ChatLinked{Account: "telegram:1", Chat: "-100"},
	ChatUnlinked{Account: "telegram:1", Chat: "-100", Reason: "kicked"},
	ActionDelivered{Message: "v1", Action: "a1", Refs: []MessageRef{ref}},
	SendFailed{Message: "v1", Action: "a1", State: ActionExpired, Code: "too_late", Reason: "It took too long.", Problem: "TRS-A01"},
	HistoryGap{From: noon, To: noon.Add(time.Hour), Reason: "outage"},
	UnreadableUpdate{What: "poll", Reason: "unknown", Raw: []byte{0, 255}},
	NoteAdded{Text: "n", Label: "notes", Cycle: "c1", SetUp: &OnboardingNote{
		Space: "s1", State: SetUpProposed, Seen: 7, Message: "v8", Sources: []EventID{"v6"}, Readers: []EntityID{"e1"},
		Plan: &OnboardingPlan{
			Purpose: "planning trips", Facts: []string{"Kai drives"}, Plans: []PlannedTimer{{Cron: "0 9 * * 1", At: "2026-03-02 09:00", Note: "ask"}},
			Wishes: []OnboardingQuestion{{Key: "wake", Want: "answer everything"}},
		},
	}},
	BookmarkSet{Label: "here", Space: "s1", Object: ChatObject, Events: []EventID{"v1"}, Cycle: "c1"},
	CycleStarted{Cycle: "c1", Space: "s1", Reason: "mention", Events: []EventID{"v1"}, Active: "s1"},
	ThoughtRecorded{Cycle: "c1", Step: 2, Text: "hm"},
	ToolCalled{Cycle: "c1", Step: 1, CallID: "k1", Name: "send_message", Args: `{"text":"hi"}`},
	ToolReturned{
		Cycle: "c1", Step: 1, CallID: "k1", OK: true, Note: "sent", Refs: []EventID{"v3"},
		Took: 1200, Usage: TokenUsage{Prompt: 1000, Cached: 400, Output: 50, Calls: 1, Estimated: 12, Cost: 900},
	},
	CycleSummarised{Cycle: "c1", N: 4, Text: "greeted", Derived: true},
	GoalSet{Text: "learn Go", Status: "active"},
	MemoryAdded{
		ID: "m1", Fact: "Kai likes tea", What: "user_fact", Sources: []EventID{"v1"}, Readers: []EntityID{"e1"}, Space: "s1", Corrected: true,
	},
	MemoryRemoved{ID: "m1"},
	CallDenied{Denial{
		Agent: "ada", Act: "enter_space", Code: "tier_policy", Reason: "No.", Hint: "Ask.", Space: "s1", Cycle: "c1",
		Phase: "engagement", Tier: TierCustom, Risk: RiskWriteOwn, At: noon,
	}},
	StatesChanged{[]StateTransition{{
		Cycle: "c1", From: Engaging, To: Idle, By: "agent", Reason: "rest", Stop: StopCompleted, At: noon,
	}}},
	ContextCompacted{Cause: "high_water", Cycle: "c1", TokensBefore: 9, TokensAfter: 3, Cycles: 2, From: 1, To: 2, Elements: 7, Left: 4},
	CycleStopped{Cycle: "c1", Reason: StopTimeout, Detail: "60 s"},
	SpanChanged{Span: 3, Space: "s1", What: "opened", Reason: SpanHeard, Event: "v1", Seq: 5},
}

func TestEveryBodyRoundTrips(t *testing.T) {
	for _, b := range samples {
		stored, err := Encode(b)
		testutil.OK(t, err)
		got, err := Decode(b.Kind(), stored)
		testutil.OK(t, err)
		if diff := cmp.Diff(b, got); diff != "" {
			t.Errorf("%s came back changed (-want +got):\n%s", b.Kind(), diff)
		}
	}
}

// What a record holds today must be readable for ever: a line of the golden
// file may be added or become longer, and nothing else.
func TestStoredFormsStay(t *testing.T) {
	var got bytes.Buffer
	for _, b := range samples {
		empty, err := Decode(b.Kind(), []byte("{}"))
		testutil.OK(t, err)
		for _, b := range []EventBody{b, empty} {
			stored, err := Encode(b)
			testutil.OK(t, err)
			fmt.Fprintf(&got, "%s %s\n", b.Kind(), stored)
		}
	}
	testutil.Golden(t, *update, goldenBodies, got.String())
}

func TestSamplesSetEveryField(t *testing.T) {
	var walk func(path string, v reflect.Value)
	walk = func(path string, v reflect.Value) {
		if v.IsZero() {
			t.Errorf("%s is not set in its sample", path)
		}
		switch {
		case v.Type() == reflect.TypeFor[time.Time]():
		case v.Kind() == reflect.Pointer:
			walk(path, v.Elem())
		case v.Kind() == reflect.Slice && v.Len() > 0:
			walk(path+"[0]", v.Index(v.Len()-1))
		case v.Kind() == reflect.Struct:
			for i := range v.NumField() {
				walk(path+"."+v.Type().Field(i).Name, v.Field(i))
			}
		}
	}
	for _, b := range samples {
		walk(string(b.Kind()), reflect.ValueOf(b))
	}
}

// The compiler does not tell when a kind has no decoder, or a body no kind.
func TestEveryKindHasADecoderAndASample(t *testing.T) {
	want, bodies := declared(t)
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(decoders))); diff != "" {
		t.Errorf("decoders (-declared +got):\n%s", diff)
	}
	var kinds []EventKind
	var types []string
	for _, b := range samples {
		kinds, types = append(kinds, b.Kind()), append(types, reflect.TypeOf(b).Name())
	}
	slices.Sort(kinds)
	slices.Sort(types)
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("samples (-declared +got):\n%s", diff)
	}
	if diff := cmp.Diff(bodies, types); diff != "" {
		t.Errorf("sampled types (-types with a body method +got):\n%s", diff)
	}
	for k, decode := range decoders {
		if b, err := decode([]byte("{}")); err != nil || b.Kind() != k {
			t.Errorf("decoder of %q gives %T, %v", k, b, err)
		}
	}
}

// declared reads the Kind constants and the receivers of body from the source.
func declared(t *testing.T) (kinds []EventKind, bodies []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "bodykind.go", nil, 0)
	testutil.OK(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			name, err := strconv.Unquote(n.Values[0].(*ast.BasicLit).Value)
			if err != nil || n.Type.(*ast.Ident).Name != "EventKind" {
				t.Errorf("bodykind.go declares %v, which is no kind", n.Names)
			}
			kinds = append(kinds, EventKind(name))
		case *ast.FuncDecl:
			if n.Name.Name == "body" {
				bodies = append(bodies, n.Recv.List[0].Type.(*ast.Ident).Name)
			}
		}
		return true
	})
	slices.Sort(kinds)
	slices.Sort(bodies)
	return kinds, bodies
}

// What an object keeps of a body is no body itself, or it could be recorded as one.
func TestFoldedStateIsNoBody(t *testing.T) {
	body := reflect.TypeFor[EventBody]()
	for _, s := range []reflect.Type{
		reflect.TypeFor[Memory](), reflect.TypeFor[Bookmark](), reflect.TypeFor[Note](), reflect.TypeFor[GoalItem](), reflect.TypeFor[ChatMessage](),
	} {
		if s.Implements(body) {
			t.Errorf("%s is a body", s)
		}
	}
}

func TestKindOfANewerVersionKeepsItsBytes(t *testing.T) {
	raw := []byte(`{"of":"tomorrow"}`)
	got, err := Decode("hologram", raw)
	testutil.OK(t, err)
	want := UnreadableUpdate{What: "hologram", Reason: "written by a newer version", Raw: raw}
	if diff := cmp.Diff(EventBody(want), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Fields are only ever added, so an older version meets unknown ones.
func TestFieldOfANewerVersionIsPassedOver(t *testing.T) {
	got, err := Decode(KindRenamed, []byte(`{"title":"Den","colour":"red"}`))
	if diff := cmp.Diff(EventBody(SpaceRenamed{Title: "Den"}), got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestBrokenBodyIsAnErrorThatNamesItsKind(t *testing.T) {
	for _, data := range []string{"", "{", `{"text":1}`, `[]`} {
		if _, err := Decode(KindSaid, []byte(data)); err == nil || !strings.Contains(err.Error(), "decode said: ") {
			t.Errorf("Decode(%q): got error %v", data, err)
		}
	}
	far := HistoryGap{From: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}
	if _, err := Encode(far); err == nil || !strings.Contains(err.Error(), "encode gap: ") {
		t.Errorf("Encode of a time without a stored form: got error %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, b := range samples {
		stored, err := Encode(b)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b.Kind()), stored)
	}
	f.Add("hologram", []byte{0xff})
	f.Add("said", []byte(`null`))
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		b, err := Decode(EventKind(kind), data)
		if err != nil || !utf8.ValidString(kind) {
			return // kinds are columns of ours and always text
		}
		once, err := Encode(b)
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		if !json.Valid(once) {
			t.Fatalf("stored form is no JSON: %q", once)
		}
		again, err := Decode(b.Kind(), once)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		twice, err := Encode(again)
		if err != nil || !bytes.Equal(once, twice) {
			t.Errorf("stored form is not stable: %q, then %q, %v", once, twice, err)
		}
	})
}

// An edit that removes all files is another than one that says nothing of them, also once
// it was stored.
func TestEditWithoutFilesKeepsWhatItSays(t *testing.T) {
	for _, want := range []EventBody{
		MessageEdited{Target: "v1", Text: "no file any more", Attachments: []FileAttachment{}},
		MessageEdited{Target: "v1", Text: "the same files"},
	} {
		stored, err := Encode(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode(KindEdited, stored)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", stored, err, diff)
		}
	}
}
