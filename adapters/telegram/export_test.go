package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// readAll reads the messages of an export's only chat.
func readAll(t *testing.T, export string, q ExportQuery) []adapters.Update {
	t.Helper()
	chats, err := ListExport(t.Context(), strings.NewReader(export))
	testutil.OK(t, err)
	q.Export = chats[0]
	if q.Chat == "" {
		q.Chat, _ = chats[0].Chat()
	}
	var out []adapters.Update
	done := q.Skip
	err = ReadExport(t.Context(), strings.NewReader(export), q, func(_ context.Context, page []adapters.Update, n int64) error {
		out = append(out, page...)
		if done += int64(len(page)); n != done {
			t.Errorf("says %d are done, %d were handed over", n, done)
		}
		return nil
	})
	testutil.OK(t, err)
	if done != chats[0].Messages {
		t.Errorf("%d messages read, %d listed", done, chats[0].Messages)
	}
	return out
}

// SEQ-04: every form of an exported message, as golden text.
func TestEveryKindOfExportedMessageIsRead(t *testing.T) {
	raw, err := os.ReadFile("testdata/export/group.json")
	testutil.OK(t, err)
	var got strings.Builder
	for _, u := range readAll(t, string(raw), ExportQuery{}) {
		body := fmt.Sprintf("%+v", u.Body)
		if m, ok := u.Body.(adapters.IncomingMessage); ok {
			body = fmt.Sprintf("%s %q re %q mentions %+v carries %+v forwarded %q", m.ID, m.Text, m.ReplyTo, m.Mentions, m.Attachments, m.Forwarded)
		}
		at := "no time"
		if !u.At.IsZero() && !strings.Contains(u.Key, ":5") { // the fifth has local time only
			at = u.At.Format("2006-01-02 15:04:05")
		}
		fmt.Fprintf(&got, "%s %s/%s %s %q (%s) thread %s %q\n  %T %s\n", u.Key, u.Chat.ID, u.Chat.Kind, u.From.ID, u.From.Name, at, u.Thread.ID, u.Thread.Title, u.Body, body)
	}
	const golden = "testdata/export/group.golden"
	testutil.Golden(t, *update, golden, got.String())
}

// SEQ-04: the same content has the same key, whether it was heard or exported.
func TestExportedMessageIsTheLiveOne(t *testing.T) {
	const live = `{"update_id":1,"message":{"message_id":3,"date":1577872920,"chat":{"id":-1001234567890,"type":"supergroup","title":"Family"},` +
		`"from":{"id":6,"first_name":"Maya"},"reply_to_message":{"message_id":2,"date":1577872860,"chat":{"id":-1001234567890,"type":"supergroup"}},` +
		`"text":"see this and that 😀 Kai x := 1","entities":[{"type":"bold","offset":4,"length":4},{"type":"text_link","offset":13,"length":4,"url":"https://example.com/"},` +
		`{"type":"text_mention","offset":21,"length":3,"user":{"id":5,"first_name":"Kai"}},{"type":"pre","offset":25,"length":6,"language":"go"}]}}`
	_, heard := testReader().decode(json.RawMessage(live), 0)
	raw, err := os.ReadFile("testdata/export/group.json")
	testutil.OK(t, err)
	exported := readAll(t, string(raw), ExportQuery{})[3]
	said, want := exported.Body.(adapters.IncomingMessage), heard[0].Body.(adapters.IncomingMessage)
	if exported.Key != heard[0].Key || exported.From.ID != heard[0].From.ID || !exported.At.Equal(heard[0].At) || exported.Chat.ID != heard[0].Chat.ID {
		t.Errorf("exported %+v, heard %+v", exported, heard[0])
	}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("heard (-), exported (+):\n%s", diff)
	}
}

// Ids of private chats mean another message to every account: they are never
// taken for a bot's.
func TestIdsThatAreNotSharedMeetNoLiveMessage(t *testing.T) {
	const export = `{"name":"Kai","type":"personal_chat","id":5,"messages":[{"id":1,"type":"message","date_unixtime":"9","from":"Kai","from_id":"user5","text":"hi"},` +
		`{"id":2,"type":"message","date_unixtime":"10","from":"Kai","from_id":"user5","text":"again","reply_to_message_id":1}]}`
	got := readAll(t, export, ExportQuery{Chat: "5"})
	m := got[1].Body.(adapters.IncomingMessage)
	if got[0].Key == messageKey(5, 1) || m.ID == "2" || m.ReplyTo != got[0].Body.(adapters.IncomingMessage).ID {
		t.Errorf("got %+v", got)
	}
	chats, err := ListExport(t.Context(), strings.NewReader(export))
	if _, known := chats[0].Chat(); err != nil || known || chats[0].Shared() {
		t.Errorf("got %+v, %v", chats, err)
	}
}

func TestExportOfAnAccountHasManyChats(t *testing.T) {
	export := `{"about":"Here is the data you requested.","personal_information":{"user_id":5,"messages":7},"chats":{"about":"x","list":[
{"name":"A","type":"private_group","id":10,"messages":[{"id":1,"type":"message","date_unixtime":"1","from_id":"user5","text":"a"}]},
{"type":"saved_messages","id":5,"messages":[]},
{"name":"B","type":"public_channel","id":11,"messages":[{"id":1,"type":"message","date_unixtime":"1","from_id":"channel11","from":"B","text":"b"},{"id":2,"type":"message","text":"c"}]}]},
"left_chats":{"list":[{"name":"C","type":"private_supergroup","id":12,"messages":[]}]}}`
	got, err := ListExport(t.Context(), strings.NewReader(export))
	want := []ExportedChat{{10, "A", "private_group", 1}, {5, "", "saved_messages", 0}, {11, "B", "public_channel", 2}, {12, "C", "private_supergroup", 0}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("chats, %v (-want +got):\n%s", err, diff)
	}
	var texts []string
	err = ReadExport(t.Context(), strings.NewReader(export), ExportQuery{Export: want[2], Chat: "-1000000000011", Page: 1}, func(_ context.Context, page []adapters.Update, _ int64) error {
		texts = append(texts, page[0].Chat.ID+" "+page[0].Body.(adapters.IncomingMessage).Text)
		return nil
	})
	if diff := cmp.Diff([]string{"-1000000000011 b", "-1000000000011 c"}, texts); diff != "" || err != nil {
		t.Errorf("messages, %v (-want +got):\n%s", err, diff)
	}
}

// K-all: however often it is interrupted, each message is handed over.
func TestInterruptedReadGoesOnWhereItWas(t *testing.T) {
	raw, err := os.ReadFile("testdata/export/group.json")
	testutil.OK(t, err)
	whole := readAll(t, string(raw), ExportQuery{})
	for skip := range int64(len(whole) + 1) {
		rest := readAll(t, string(raw), ExportQuery{Skip: skip, Page: 3})
		if diff := cmp.Diff(whole[skip:], rest); diff != "" && len(rest)+len(whole[skip:]) > 0 {
			t.Errorf("after %d (-want +got):\n%s", skip, diff)
		}
	}
}

func TestFileThatIsNoExportIsRefused(t *testing.T) {
	for _, text := range []string{"", "null", "[]", "5", "{}", `{"messages":5}`, `{"messages":[`, `{"messages":[{]}`, `{"name":"A","messages":[1,2`, "\x00\xff", `{"chats":` + strings.Repeat(`{"list":[`, 50)} {
		if _, err := ListExport(t.Context(), strings.NewReader(text)); !errors.Is(err, ErrNoExport) {
			t.Errorf("%.30q: got %v", text, err)
		}
	}
}

// An export of gigabytes is read a message at a time.
func TestLongExportIsNotHeldInMemory(t *testing.T) {
	const n = 20_000
	long := func() io.Reader {
		r, w := io.Pipe()
		go func() { // ends with the reading, which the test waits for
			_, _ = io.WriteString(w, `{"name":"A","type":"private_supergroup","id":1,"messages":[`)
			line := `{"id":%d,"type":"message","date_unixtime":"1","from":"Kai","from_id":"user5","text":"` + strings.Repeat("x", 2000) + `"}`
			for i := 1; i <= n; i++ {
				fmt.Fprintf(w, line+",", i)
			}
			_, _ = io.WriteString(w, `5]}`)
			_ = w.Close()
		}()
		return r
	}
	var most int
	read := 0
	err := ReadExport(t.Context(), long(), ExportQuery{Export: ExportedChat{ID: 1, Type: "private_supergroup"}, Chat: "-1"}, func(_ context.Context, page []adapters.Update, _ int64) error {
		most = max(most, len(page))
		read += len(page)
		return nil
	})
	if err != nil || read != n+1 || most != 200 {
		t.Errorf("read %d in pages of %d, %v", read, most, err)
	}
}

func FuzzReadExport(f *testing.F) {
	raw, err := os.ReadFile("testdata/export/group.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add([]byte(`{"chats":{"list":[{"id":1,"type":"personal_chat","messages":[{"id":1,"text":["a",{"type":"bold","text":"b"}]}]}]}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		chats, err := ListExport(t.Context(), bytes.NewReader(raw))
		if err != nil {
			return
		}
		var n int64
		q := ExportQuery{Export: chats[0], Chat: "-1001", Page: 1}
		err = ReadExport(t.Context(), bytes.NewReader(raw), q, func(_ context.Context, page []adapters.Update, _ int64) error {
			n++
			for _, u := range page {
				if u.Key == "" || u.Body == nil || u.Chat.ID != "-1001" {
					t.Errorf("made %+v", u)
				}
			}
			return nil
		})
		if err != nil || n != chats[0].Messages {
			t.Errorf("read %d of %d, %v", n, chats[0].Messages, err)
		}
	})
}
