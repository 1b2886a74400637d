package slack_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/adapters"
	fakeslack "github.com/trestle-bridge/trestle/adapters/fake/slack"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// errEnough ends a reading of history.
var errEnough = errors.New("enough")

// heard returns the updates of a kind of body, in order.
func heard[B adapters.UpdateBody](b *book) []B {
	var out []B
	for _, u := range b.all() {
		if body, ok := u.Body.(B); ok {
			out = append(out, body)
		}
	}
	return out
}

// A mention in a channel comes twice, as message and as app_mention: one fact.
func TestAMentionIsOneMessage(t *testing.T) {
	listening(t, func(w *workspace, b *book) {
		t := w.t
		w.ops.Says(w.maya, "@ada are you there?", fakeslack.PostOptions{})
		pass(time.Second)
		said := heard[adapters.IncomingMessage](b)
		if len(said) != 1 || !said[0].ToUs || len(said[0].Mentions) != 1 {
			t.Errorf("heard %+v, want one message to us", said)
		}
		acked := 0
		for _, a := range w.Ledger().Acked {
			if a.Kind == "message" || a.Kind == "app_mention" {
				acked++
			}
		}
		if acked != 2 {
			t.Errorf("%d of the two events were acknowledged", acked)
		}
	})
}

// Names follow the people; ids do not change.
func TestNamesAreKeptCurrent(t *testing.T) {
	listening(t, func(w *workspace, b *book) {
		t := w.t
		w.ops.Says(w.maya, "one", fakeslack.PostOptions{})
		pass(time.Second)
		w.maya.Renames("Maya Berg")
		w.ops.Renames(w.maya, "operations")
		pass(time.Second)
		w.ops.Says(w.maya, "two", fakeslack.PostOptions{})
		pass(time.Second)
		var got []string
		for _, u := range b.all() {
			if _, ok := u.Body.(adapters.IncomingMessage); ok {
				got = append(got, u.From.Name+" ("+u.From.ID+") in "+u.Chat.Title+" of "+u.Chat.Group)
			}
		}
		want := []string{"Maya Lind (" + w.maya.ID + ") in ops of T0000001", "Maya Berg (" + w.maya.ID + ") in operations of T0000001"}
		testutil.Same(t, "heard", want, got)
		asked := 0
		for _, c := range w.Ledger().Calls {
			if c.Method == "users.info" {
				asked++
			}
		}
		if asked > 2 { // the person, and us
			t.Errorf("asked %d times who people are", asked)
		}
	})
}

// SECURITY S1: who was deactivated reads nothing any more. Slack tells that of the
// person, and of no channel.
func TestADeactivatedPersonIsGoneFromEveryRoom(t *testing.T) {
	listening(t, func(w *workspace, b *book) {
		t := w.t
		other := w.NewChannel("other", w.maya)
		other.Invites(w.maya, w.app)
		pass(time.Second)
		b.all()
		w.maya.Deactivated()
		pass(time.Second)
		var got []string
		for _, u := range b.all() {
			if left, ok := u.Body.(adapters.PeopleLeft); ok && left.Unseen {
				got = append(got, fmt.Sprint(u.Chat.ID, " ", left.People[0].ID, " of ", left.People[0].Scope))
			}
		}
		slices.Sort(got)
		want := []string{w.ops.ID + " " + w.maya.ID + " of T0000001", other.ID + " " + w.maya.ID + " of T0000001"}
		slices.Sort(want)
		testutil.Same(t, "gone from", want, got)
		w.ops.Says(w.AddPerson(fakeslack.UserProfile{Name: "Jonas"}), "hello", fakeslack.PostOptions{})
		pass(time.Second)
		if said := heard[adapters.IncomingMessage](b); len(said) == 0 {
			t.Error("nothing is heard after it")
		}
	})
}

// SECURITY S1: a guest over Slack Connect is a person of another team.
func TestAGuestIsSomebodyOfAnotherTeam(t *testing.T) {
	listening(t, func(w *workspace, b *book) {
		t := w.t
		guest := w.AddPerson(fakeslack.UserProfile{Name: "Maya Lind", Team: "T0OTHER"})
		w.ops.Says(guest, "hello", fakeslack.PostOptions{})
		w.ops.Says(w.maya, "hello", fakeslack.PostOptions{})
		pass(time.Second)
		var scopes []string
		for _, u := range b.all() {
			if _, ok := u.Body.(adapters.IncomingMessage); ok {
				scopes = append(scopes, u.From.Scope)
			}
		}
		testutil.Same(t, "scopes", []string{"T0OTHER", "T0000001"}, scopes)
	})
}

// A person of another workspace whom Slack does not explain is called as the message says.
func TestAGuestIsCalledAsTheirMessageSays(t *testing.T) {
	listening(t, func(w *workspace, b *book) {
		for i, profile := range []string{
			`{"name":"nia","real_name":"Nia Okafor","display_name":"Nia","team":"T0OTHER"}`, `{"name":"nia","real_name":"Nia Okafor","display_name":""}`, `{"name":"nia"}`, `{}`,
		} {
			w.inject(fmt.Sprintf(`{"type":"message","channel":%q,"channel_type":"channel","user":"U0GUEST%d","user_team":"T0OTHER","text":"hello","ts":"170000000%[2]d.000100","event_ts":"170000000%[2]d.000100","user_profile":%[3]s}`, w.ops.ID, i, profile))
		}
		pass(time.Minute)
		var got []string
		for _, u := range b.all() {
			if _, ok := u.Body.(adapters.IncomingMessage); ok {
				got = append(got, u.From.Name+" of "+u.From.Scope)
			}
		}
		testutil.Same(w.t, "names", []string{"Nia of T0OTHER", "Nia Okafor of T0OTHER", "nia of T0OTHER", "U0GUEST3 of T0OTHER"}, got)
	})
}

// Two apps in one channel are told of one message: what both call alike is common to them.
func TestWhatEveryAppIsToldIsCommon(t *testing.T) {
	listening(t, func(w *workspace, b *book) {
		t := w.t
		ts := w.ops.Says(w.maya, "hello", fakeslack.PostOptions{})
		w.ops.Reacts(w.maya, ts, "eyes")
		w.ops.Edits(ts, "hello all")
		w.ops.Deletes(ts)
		w.direct.Says(w.maya, "between us", fakeslack.PostOptions{})
		pass(time.Second)
		kinds := map[string]bool{}
		for _, u := range b.all() {
			kinds[fmt.Sprintf("%T in %s", u.Body, u.Chat.Kind)] = true
			if want := u.Chat.Kind != adapters.Direct; u.Common != want {
				t.Errorf("%T in %s is common: %v, want %v", u.Body, u.Chat.Kind, u.Common, want)
			}
		}
		if len(kinds) != 5 {
			t.Errorf("heard %v, want five kinds", kinds)
		}
	})
}

func TestWhatHappensToARoomIsTold(t *testing.T) {
	listening(t, func(w *workspace, b *book) {
		t := w.t
		secret := w.NewPrivate("secret", w.maya)
		secret.Invites(w.maya, w.app)
		pinned := w.ops.Says(w.maya, "keep this", fakeslack.PostOptions{})
		w.ops.Pins(w.maya, pinned)
		w.ops.Archives(w.maya)
		w.ops.Unarchives(w.maya)
		secret.Kicks(w.app)
		group := w.NewGroup(w.app, w.maya)
		group.Says(w.maya, "we three", fakeslack.PostOptions{})
		pass(time.Second)
		if got := heard[adapters.ChatGained](b); len(got) < 2 {
			t.Errorf("let in %d times, want by the invitation and by the unarchiving", len(got))
		}
		testutil.Same(t, "left", []adapters.ChatLost{{Reason: "archived"}, {Reason: "removed"}}, heard[adapters.ChatLost](b))
		testutil.Same(t, "pinned", []adapters.MessagePinned{{Message: pinned}}, heard[adapters.MessagePinned](b))
		kinds := map[string]adapters.Chat{}
		for _, u := range b.all() {
			kinds[u.Chat.ID] = u.Chat
		}
		if k := kinds[secret.ID]; k.Kind != adapters.Group || k.Group == "" {
			t.Errorf("a private channel is %+v, want a group of the workspace", k)
		}
		if k := kinds[group.ID]; k.Kind != adapters.Group || k.Group != "" {
			t.Errorf("a group chat is %+v, want a group of its own", k)
		}
	})
}

// PLATFORMS 2.3: Slack tells a changed message also when it shows a preview or counts
// replies; a program may change nothing but blocks, or what hangs on a message.
func TestAPreviewIsNoEdit(t *testing.T) {
	listening(t, func(w *workspace, b *book) {
		t := w.t
		same := `{"type":"message","user":"` + w.maya.ID + `","text":"see https://example.com","ts":"1700000001.000100"`
		w.inject(`{"type":"message","subtype":"message_changed","hidden":true,"channel":"` + w.ops.ID + `","ts":"1700000002.000100","event_ts":"1700000002.000100",` +
			`"message":` + same + `,"attachments":[{"from_url":"https://example.com","title":"Example"}]},"previous_message":` + same + `}}`)
		w.inject(`{"type":"message","subtype":"message_changed","hidden":true,"channel":"` + w.ops.ID + `","ts":"1700000003.000100","event_ts":"1700000003.000100",` +
			`"message":` + same + `,"reply_count":3},"previous_message":` + same + `}}`)
		pass(time.Second)
		if got := heard[adapters.MessageEdit](b); len(got) != 0 {
			t.Errorf("heard the edits %+v, want none", got)
		}
		bot := `{"type":"message","subtype":"bot_message","bot_id":"B0BUILD","username":"build","text":"build 7","ts":"1700000004.000100"`
		for i, change := range []string{
			`"blocks":[{"type":"section","text":{"type":"mrkdwn","text":"build 7: *green*"}}]`, `"attachments":[{"title":"all tests passed"}]`,
		} {
			w.inject(fmt.Sprintf(`{"type":"message","subtype":"message_changed","channel":%q,"ts":"170000001%[2]d.000100","event_ts":"170000001%[2]d.000100","message":%[3]s,%[4]s},"previous_message":%[3]s}}`,
				w.ops.ID, i, bot, change))
		}
		pass(time.Second)
		var got []string
		for _, e := range heard[adapters.MessageEdit](b) {
			got = append(got, e.New.Text)
		}
		testutil.Same(t, "edits", []string{"build 7: **green**", "build 7\n\n> **all tests passed**"}, got)
	})
}

// A file that is taken from a message leaves the time of its last edit as it was: that is
// another change than the edit.
func TestARemovedFileIsAChangeOfItsOwn(t *testing.T) {
	listening(t, func(w *workspace, b *book) {
		t := w.t
		said := func(text, files string) string {
			return fmt.Sprintf(`{"type":"message","user":%q,"text":%q,"ts":"1700000001.000100","edited":{"user":%[1]q,"ts":"1700000002.000000"},"files":[%[3]s]}`, w.maya.ID, text, files)
		}
		file := func(id string) string {
			return fmt.Sprintf(`{"id":%q,"name":"%[1]s.pdf","mimetype":"application/pdf"}`, id)
		}
		for i, step := range [][2]string{
			{strings.Replace(said("plan", file("F1")), `,"edited"`, `,"was"`, 1), said("the plan", file("F1"))},
			{said("the plan", file("F1")), said("the plan", file("F2"))},
			{said("the plan", file("F2")), said("the plan", "")},
		} {
			w.inject(fmt.Sprintf(`{"type":"message","subtype":"message_changed","channel":%q,"ts":"170000001%[2]d.000100","event_ts":"170000001%[2]d.000100","message":%[3]s,"previous_message":%[4]s}`,
				w.ops.ID, i, step[1], step[0]))
		}
		pass(time.Second)
		var got []string
		keys := map[string]bool{}
		for _, u := range b.all() {
			e, ok := u.Body.(adapters.MessageEdit)
			if !ok {
				continue
			}
			keys[u.Key] = true
			var line strings.Builder
			line.WriteString(e.New.Text)
			for _, f := range e.New.Attachments {
				line.WriteString(" +" + f.ID)
			}
			got = append(got, line.String())
		}
		testutil.Same(t, "edits", []string{"the plan +F1", "the plan +F2", "the plan"}, got)
		if len(keys) != 3 {
			t.Errorf("three changes have the keys %v", keys)
		}
	})
}

// What was deleted under replies leaves a stone; it is gone when Slack says so.
func TestAStoneInPlaceOfAMessageIsItsEnd(t *testing.T) {
	listening(t, func(w *workspace, b *book) {
		w.inject(`{"type":"message","subtype":"message_changed","hidden":true,"channel":"` + w.ops.ID + `","ts":"1700000009.000100","event_ts":"1700000009.000100",` +
			`"message":{"type":"message","subtype":"tombstone","text":"This message was deleted.","ts":"1700000001.000100"}}`)
		pass(time.Second)
		for _, u := range b.all() {
			if gone, ok := u.Body.(adapters.MessageDeletion); ok && gone.Messages[0] == "1700000001.000100" && u.At.Unix() == 1700000009 {
				return
			}
		}
		w.t.Errorf("heard %+v, want the end of the message at its time", b.all())
	})
}

// One app in several workspaces hears them all by any of its sockets; only what our
// own workspace is shown is ours (SECURITY S1).
func TestWhatIsOfAnotherWorkspaceIsLeftAside(t *testing.T) {
	listening(t, func(w *workspace, b *book) {
		t := w.t
		for n, teams := range []string{
			`"team_id":"T0OTHER"`,
			`"team_id":"T0OTHER","context_team_id":"T0OTHER","authorizations":[{"team_id":"T0OTHER"}]`,
			`"team_id":"T0OTHER","context_team_id":"T0000001"`,
			`"team_id":"T0OTHER","authorizations":[{"team_id":"T0000001"}]`,
			`"team_id":"E0GRID","authorizations":[{"enterprise_id":"E0GRID","is_enterprise_install":true}]`,
			`"api_app_id":"A1"`,
		} {
			w.app.InjectPayload("events_api", json.RawMessage(fmt.Sprintf(`{"type":"event_callback","event_id":"EvTeam%d",%s,"event":{"type":"message","channel":%q,"channel_type":"channel",`+
				`"user":%q,"text":"case %d","ts":"17000000%02d.000100","event_ts":"17000000%02d.000100"}}`, n, teams, w.ops.ID, w.maya.ID, n, n, n)))
		}
		for _, more := range []string{`"team_id":"T0OTHER"`, `"team_id":"T0OTHER","enterprise_id":"E0GRID"`, `"team_id":"T0000001"`} {
			w.app.InjectPayload("slash_commands", json.RawMessage(`{"command":"/trestle","text":"help","channel_id":"`+w.ops.ID+`","user_id":"`+w.maya.ID+`",`+more+`}`))
		}
		pass(time.Second)
		testutil.Same(t, "heard", []string{"case 2", "case 3", "case 4", "case 5", "/help", "/help"}, b.said())
		if n := w.app.Pending(); n != 0 {
			t.Errorf("%d events are to come again", n)
		}
		if got := heard[adapters.UnreadableUpdate](b); len(got) != 0 {
			t.Errorf("kept %+v", got)
		}
	})
}

func TestOpeningTheHomeGetsAHello(t *testing.T) {
	listening(t, func(w *workspace, b *book) {
		t := w.t
		w.app.OpensHome(w.maya)
		pass(time.Second)
		if home := string(w.app.Home(w.maya)); !strings.Contains(home, "Hello, I am ada") {
			t.Errorf("the home is %q", home)
		}
	})
}

// Several ways to give an order; Slack keeps its own slash commands for itself.
func TestCommandsAreUnderstood(t *testing.T) {
	listening(t, func(w *workspace, b *book) {
		t := w.t
		w.ops.Says(w.maya, "@ada !stop now", fakeslack.PostOptions{})
		pass(time.Second)
		w.direct.Says(w.maya, "!help", fakeslack.PostOptions{})
		pass(time.Second)
		w.direct.Commands(w.maya, w.app, "/trestle", "")
		pass(time.Second)
		w.ops.Commands(w.maya, w.app, "/trestle", "/Mute <@"+w.maya.ID+"|maya> R&amp;D  2h") // as Slack escapes it
		pass(time.Second)
		w.direct.Commands(w.maya, w.app, "/deploy", "prod")
		pass(time.Second)
		w.ops.Says(w.maya, "wow!stop", fakeslack.PostOptions{})
		pass(time.Second)
		for _, text := range []string{"one", "two"} { // without a trigger each is still one of its own
			w.app.InjectPayload("slash_commands", json.RawMessage(`{"command":"/deploy","text":"`+text+`","channel_id":"`+w.ops.ID+`","user_id":"`+w.maya.ID+`"}`))
			pass(time.Second)
		}
		var got []string
		for _, m := range heard[adapters.IncomingMessage](b) {
			if m.Command != nil {
				got = append(got, m.Command.Name+"|"+m.Command.Args+map[bool]string{true: "|only"}[m.Command.Only])
			}
		}
		testutil.Same(t, "commands", []string{"stop|now", "help|", "help||only", "mute|@Maya Lind R&D  2h|only", "deploy|prod", "deploy|one", "deploy|two"}, got)
	})
}

// SECURITY I18: a frame that is no JSON is kept and, where it has an id, acknowledged.
func TestAFrameThatIsNoJSONStopsNothing(t *testing.T) {
	listening(t, func(w *workspace, b *book) {
		t := w.t
		w.app.InjectFrame([]byte(`{"envelope_id":"broken-1","type":"events_api","payload":{"event":`))
		w.app.InjectPayload("a_kind_of_tomorrow", json.RawMessage(`{"a":1}`))
		w.ops.Says(w.maya, "and on it goes", fakeslack.PostOptions{})
		pass(time.Second)
		if got := heard[adapters.UnreadableUpdate](b); len(got) != 2 {
			t.Errorf("%d were kept as unreadable, want two: %+v", len(got), got)
		}
		if diff := cmp.Diff([]string{"and on it goes"}, b.said()); diff != "" || w.app.Pending() != 0 {
			t.Errorf("%d are pending, recorded (-want +got):\n%s", w.app.Pending(), diff)
		}
	})
}

func TestTheWorkspaceIsListed(t *testing.T) {
	inBubble(t, func(w *workspace) {
		t := w.t
		c := w.adapter(w.options())
		w.NewChannel("elsewhere", w.maya)
		chats, err := c.Chats(t.Context(), w.Team())
		testutil.OK(t, err)
		testutil.Same(t, "channels", []adapters.Chat{{ID: w.ops.ID, Kind: adapters.Channel, Title: "ops", Group: "T0000001"}}, chats)
		if all, err := c.Chats(t.Context(), ""); err != nil || len(all) != 2 {
			t.Errorf("all chats are %+v, %v; want the direct one as well", all, err)
		}
	})
}

// SEQ-04: nothing falls between the windows in which history is read.
func TestAMessageBetweenTwoWindowsIsRead(t *testing.T) {
	inBubble(t, func(w *workspace) {
		t := w.t
		c := w.adapter(w.options())
		seconds, err := strconv.ParseFloat(w.ops.Says(w.maya, "at the edge", fakeslack.PostOptions{}), 64)
		testutil.OK(t, err)
		edge := time.UnixMicro(int64(math.Round(seconds * 1e6)))
		<-time.After(48 * time.Hour)
		for _, before := range []time.Duration{24 * time.Hour, 0} { // the end of the first window, and its beginning
			var got []string
			err := c.History(t.Context(), adapters.HistoryRange{Chat: w.ops.ID, From: edge.Add(-before)}, func(_ context.Context, p adapters.HistoryPage) error {
				for _, u := range p.Updates {
					if m, ok := u.Body.(adapters.IncomingMessage); ok {
						got = append(got, m.Text)
					}
				}
				return nil
			})
			if diff := cmp.Diff([]string{"at the edge"}, got); diff != "" || err != nil {
				t.Errorf("from %s before it: %v (-want +got):\n%s", before, err, diff)
			}
		}
	})
}

// SEQ-04: a busy time after a long silence is handed on in portions, in order, each
// message once, and reading goes on behind any of them.
func TestABusyTimeIsReadInPortions(t *testing.T) {
	inBubble(t, func(w *workspace) {
		t := w.t
		began := time.Now()
		<-time.After(40 * 24 * time.Hour)
		var want []string
		for i := range 1300 { // more than is read at once
			words := fmt.Sprintf("line %d", i)
			w.ops.Says(w.maya, words, fakeslack.PostOptions{})
			want = append(want, words)
			w.app.Forget()
			<-time.After(5 * time.Second)
		}
		for _, cutOff := range []bool{false, true} {
			c := w.adapter(w.options())
			var got []string
			var cursor []byte
			portions := 0
			for {
				err := c.History(t.Context(), adapters.HistoryRange{Chat: w.ops.ID, From: began, Cursor: cursor}, func(_ context.Context, p adapters.HistoryPage) error {
					for _, u := range p.Updates {
						if m, ok := u.Body.(adapters.IncomingMessage); ok {
							got = append(got, m.Text)
						}
					}
					portions++
					if cursor = p.Cursor; cutOff && cursor != nil {
						return errEnough
					}
					return nil
				})
				if err == nil {
					break
				}
				if err != errEnough { //nolint:errorlint // the very error that take returned
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" || portions < len(want)/200 {
				t.Errorf("cut off %t: %d portions (-want +got):\n%s", cutOff, portions, diff)
			}
		}
	})
}

// SEQ-04: history comes in order, page by page, and goes on where it was left.
func TestHistoryComesInOrderAndGoesOn(t *testing.T) {
	inBubble(t, func(w *workspace) {
		t := w.t
		c := w.adapter(w.options())
		began := time.Now()
		var want []string
		for day := range 9 {
			words := "day " + string(rune('a'+day))
			root := w.ops.Says(w.maya, words, fakeslack.PostOptions{})
			want = append(want, words)
			if day%3 == 0 {
				w.ops.Says(w.maya, words+" reply", fakeslack.PostOptions{Thread: root})
				want = append(want, words+" reply")
			}
			<-time.After(24 * time.Hour)
		}
		var got []string
		var cursor []byte
		pages := 0
		stop := func(_ context.Context, p adapters.HistoryPage) error {
			pages++
			for _, u := range p.Updates {
				if m, ok := u.Body.(adapters.IncomingMessage); ok {
					got = append(got, m.Text)
				}
			}
			cursor = p.Cursor
			if pages%3 == 0 && cursor != nil {
				return errEnough
			}
			return nil
		}
		for {
			err := c.History(t.Context(), adapters.HistoryRange{Chat: w.ops.ID, From: began.Add(-time.Second), Cursor: cursor}, stop)
			if err == nil {
				break
			}
			if err != errEnough { //nolint:errorlint // the very error that take returned
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || pages < 4 {
			t.Errorf("%d pages (-want +got):\n%s", pages, diff)
		}
	})
}
