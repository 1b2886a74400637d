package slack_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/fake"
	fakeslack "github.com/trestle-bridge/trestle/adapters/fake/slack"
	"github.com/trestle-bridge/trestle/adapters/slack"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// S6: a model's text notifies only the people whom it may mention, and makes Slack
// fetch no link.
func TestNobodyIsCalledAndNothingIsFetched(t *testing.T) {
	inBubble(t, func(w *workspace) {
		t := w.t
		c := w.adapter(w.options())
		for _, text := range []string{
			"<!here> <!channel> <!everyone> <!subteam^S123>", "@here @channel @everyone", "**<!channel>**", "# <!here>\n\n- <!everyone>\n- @channel",
			"`<!here>`", "```\n<!channel>\n```", "```go\n<!everyone>\n```", "> <!here>", "[<!channel>](https://example.com)", "a*b*c <!here> d_e_f*",
			"<@" + w.maya.ID + ">", "# <@" + w.maya.ID + ">", "https://evil.example/?d=secret", "![x](https://evil.example/x.png)", "[a](https://evil.example/)",
			"# https://evil.example/?d=secret", "a*b <https://evil.example>", "&lt;!here&gt;", "\\<!channel>", "<\n!here>",
		} {
			for _, part := range c.Split(text) {
				if _, err := c.Send(t.Context(), adapters.OutgoingMessage{Chat: w.ops.ID, Text: part}); err != nil {
					t.Errorf("%q: %v", text, err)
				}
			}
		}
		for _, l := range w.Ledger().Called {
			t.Errorf("message %s calls %s", l.TS, l.Whom)
		}
		for _, u := range w.Ledger().Unfurled {
			t.Errorf("message %s lets Slack fetch %s", u.TS, u.URL)
		}
		for _, m := range w.ops.Sent() {
			if len(m.Names) > 0 {
				t.Errorf("%q calls %v, whom nobody named", m.Markup, m.Names)
			}
		}
	})
}

// R-SL, PLATFORMS 2.1, SECURITY S16: a post carries the id by which it is found again
// and nothing that tells anybody more; the token goes in the header alone.
func TestAPostCarriesAnOpaqueIdAndNoToken(t *testing.T) {
	inBubble(t, func(w *workspace) {
		t := w.t
		o := w.options()
		var forms []url.Values
		o.Around = func(next http.RoundTripper) http.RoundTripper {
			return roundTrip(func(r *http.Request) (*http.Response, error) {
				if strings.HasSuffix(r.URL.Path, "/chat.postMessage") {
					body, err := io.ReadAll(r.Body)
					if err != nil {
						return nil, err
					}
					r.Body = io.NopCloser(bytes.NewReader(body))
					form, err := url.ParseQuery(string(body))
					if err != nil {
						return nil, err
					}
					forms = append(forms, form)
					if got := r.Header.Values("Authorization"); len(got) != 1 || got[0] != "Bearer "+botToken {
						t.Errorf("the header says %q", got)
					}
				}
				return next.RoundTrip(r)
			})
		}
		if _, err := w.adapter(o).Send(t.Context(), adapters.OutgoingMessage{Chat: w.ops.ID, Text: "hello", Key: "0b9f"}); err != nil {
			t.Fatal(err)
		}
		want := []url.Values{{
			"channel": {w.ops.ID}, "text": {"hello"}, "client_msg_id": {"0b9f"}, "unfurl_links": {"false"}, "unfurl_media": {"false"},
			"metadata": {`{"event_payload":{"id":"0b9f"},"event_type":"trestle_delivery"}`},
		}}
		testutil.Same(t, "posted", want, forms)
	})
}

// SECURITY 5: those who are named are called, three at most, in every form.
func TestPeopleWhoAreNamedAreCalled(t *testing.T) {
	inBubble(t, func(w *workspace) {
		t := w.t
		c := w.adapter(w.options())
		people := []adapters.Person{{ID: w.maya.ID, Name: "Maya Lind", Handle: "maya"}}
		for _, text := range []string{"Hi @Maya Lind!", "hi @maya, see `@maya`", "# For @Maya Lind\n\n- now", "2*3*4 for @maya"} {
			if _, err := c.Send(t.Context(), adapters.OutgoingMessage{Chat: w.ops.ID, Text: c.Split(text)[0], Mentions: people}); err != nil {
				t.Fatal(err)
			}
		}
		forms := map[string]bool{}
		for _, m := range w.ops.Sent() {
			forms[m.Form] = true
			if diff := cmp.Diff([]string{w.maya.ID}, m.Names); diff != "" {
				t.Errorf("%q calls (-want +got):\n%s", m.Markup, diff)
			}
		}
		if len(forms) != 3 {
			t.Errorf("the forms were %v, want all three", forms)
		}
		many := c.Split(strings.Repeat("@maya ", 9))[0]
		if _, err := c.Send(t.Context(), adapters.OutgoingMessage{Chat: w.ops.ID, Text: many, Mentions: people}); err != nil {
			t.Fatal(err)
		}
		if sent := w.ops.Sent(); len(sent[len(sent)-1].Names) != 3 {
			t.Errorf("called %d times, want three", len(sent[len(sent)-1].Names))
		}
	})
}

// DELIVERY 2.4, K17, K18: a send whose answer was lost is found again by its key.
func TestASendWhoseAnswerWasLostIsFound(t *testing.T) {
	inBubble(t, func(w *workspace) {
		t := w.t
		c := w.adapter(w.options())
		root := w.ops.Says(w.maya, "a question", fakeslack.PostOptions{})
		answer := w.ops.Says(w.maya, "an answer", fakeslack.PostOptions{Thread: root})
		for name, p := range map[string]adapters.OutgoingMessage{
			"in the channel": {Chat: w.ops.ID}, "in a thread": {Chat: w.ops.ID, Thread: root}, "as an answer": {Chat: w.ops.ID, ReplyTo: root},
			"as an answer to one": {Chat: w.ops.ID, ReplyTo: answer}, // it is in the thread of that one
		} {
			p.Text, p.Key = "hello", "key "+name
			if _, found, err := c.Find(t.Context(), p); found || err != nil {
				t.Errorf("%s: found %t before it was sent, %v", name, found, err)
			}
			w.Fault(fake.CallFault{Method: "chat.postMessage", Do: fake.Cut, Apply: true})
			if _, err := c.Send(t.Context(), p); adapters.KindOf(err) != adapters.Unknown {
				t.Fatalf("%s: %v, want unknown", name, err)
			}
			r, found, err := c.Find(t.Context(), p)
			sent := w.ops.Sent()
			if !found || err != nil || r.Message != sent[len(sent)-1].TS || r.At.IsZero() {
				t.Errorf("%s: found %t as %+v, %v; want %s", name, found, r, err, sent[len(sent)-1].TS)
			}
		}
	})
}

func TestAnAgentSpeaksUnderItsOwnFace(t *testing.T) {
	inBubble(t, func(w *workspace) {
		t := w.t
		b := new(book)
		c, _ := w.runs(b, w.options())
		p := adapters.OutgoingMessage{Chat: w.ops.ID, Text: "hello", Face: adapters.AgentPersona{Name: "Max", Avatar: ":robot_face:"}}
		if _, err := c.Send(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		pass(time.Second)
		if m := w.ops.Sent()[0]; m.Username != "Max" || m.Icon != ":robot_face:" {
			t.Errorf("spoke as %q with %q", m.Username, m.Icon)
		}
		account, err := c.Connect(t.Context())
		testutil.OK(t, err)
		for _, u := range b.all() { // K20: whatever the name, it is our own echo
			if _, ok := u.Body.(adapters.IncomingMessage); ok && u.From.ID != account.ID {
				t.Errorf("our own words came back as said by %+v", u.From)
			}
		}
	})
}

// PLATFORMS 2.4: a thread is named after its first message: an answer to an answer goes
// there, also when that was deleted, and is found there.
func TestAnAnswerToAnAnswerGoesIntoItsThread(t *testing.T) {
	inBubble(t, func(w *workspace) {
		t := w.t
		c, _ := w.runs(new(book), w.options())
		root := w.ops.Says(w.maya, "a question", fakeslack.PostOptions{})
		first, err := c.Send(t.Context(), adapters.OutgoingMessage{Chat: w.ops.ID, ReplyTo: root, Text: "an answer"})
		testutil.OK(t, err)
		testutil.OK(t, c.Delete(t.Context(), adapters.MessageRef{Chat: w.ops.ID, Message: first.Message}))
		second := adapters.OutgoingMessage{Chat: w.ops.ID, ReplyTo: first.Message, Start: root, Text: "an answer to it", Key: "key-2"}
		made, err := c.Send(t.Context(), second)
		testutil.OK(t, err)
		sent := w.ops.Sent()
		if last := sent[len(sent)-1]; last.Thread != root {
			t.Errorf("it is in thread %q, want %q", last.Thread, root)
		}
		if found, there, err := c.Find(t.Context(), second); err != nil || !there || found.Message != made.Message {
			t.Errorf("found %+v, %t, %v; want %s", found, there, err, made.Message)
		}
	})
}

// PLATFORMS 2.4: an answer in a thread can be shown in the channel as well, both
// ways; it is one message.
func TestAnAnswerIsShownInTheChannelToo(t *testing.T) {
	inBubble(t, func(w *workspace) {
		t := w.t
		b := new(book)
		c, end := w.runs(b, w.options())
		root := w.ops.Says(w.maya, "a question", fakeslack.PostOptions{})
		for _, p := range []adapters.OutgoingMessage{
			{Chat: w.ops.ID, Thread: root, Text: "to all", Broadcast: true},
			{Chat: w.ops.ID, Thread: root, Text: "to the thread"},
			{Chat: w.ops.ID, ReplyTo: root, Text: "an answer to all", Broadcast: true},
			{Chat: w.ops.ID, Text: "in the channel", Broadcast: true},
		} {
			if _, err := c.Send(t.Context(), p); err != nil {
				t.Fatalf("%s: %v", p.Text, err)
			}
		}
		shown := map[string]bool{}
		for _, m := range w.ops.Sent() {
			shown[m.Text] = m.Broadcast
		}
		want := map[string]bool{"to all": true, "to the thread": false, "an answer to all": true, "in the channel": false}
		testutil.Same(t, "shown in the channel", want, shown)
		w.ops.Says(w.maya, "live", fakeslack.PostOptions{Thread: root, Broadcast: true})
		pass(time.Second)
		end()
		w.ops.Says(w.maya, "in a silence", fakeslack.PostOptions{Thread: root, Broadcast: true})
		w.app.Forget()
		w.runs(b, w.options())
		pass(time.Minute)
		heard := map[string]int{}
		for _, u := range b.all() {
			if m, ok := u.Body.(adapters.IncomingMessage); ok && m.Broadcast && u.From.ID == w.maya.ID && u.Thread.ID == root {
				heard[m.Text]++
			}
		}
		testutil.Same(t, "heard", map[string]int{"live": 1, "in a silence": 1}, heard)
	})
}

func TestFilesGoAlongAndCanBeFetched(t *testing.T) {
	inBubble(t, func(w *workspace) {
		t := w.t
		b := new(book)
		c, _ := w.runs(b, w.options())
		content := []byte("a,b\n1,2\n")
		open := func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
		p := adapters.OutgoingMessage{Chat: w.ops.ID, Text: "the table", Files: []adapters.OutgoingFile{{Name: "t.csv", MIME: "text/csv", Open: open}}}
		if _, err := c.Send(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		testutil.Same(t, "sent with", []string{"t.csv"}, w.ops.Sent()[0].Files)
		w.ops.Says(w.maya, "look", fakeslack.PostOptions{File: &fakeslack.SharedFile{Name: "cat.png", MIME: "image/png", Data: []byte("PNG")}})
		pass(time.Second)
		all := b.all()
		m, ok := all[len(all)-1].Body.(adapters.IncomingMessage)
		if !ok || len(m.Attachments) != 1 || m.Attachments[0].Kind != "photo" || m.Attachments[0].Size != 3 {
			t.Fatalf("heard %+v, want a photo", all[len(all)-1])
		}
		body, err := c.Fetch(t.Context(), m.Attachments[0], 100)
		testutil.OK(t, err)
		defer body.Close()
		if got, err := io.ReadAll(body); err != nil || string(got) != "PNG" {
			t.Errorf("fetched %q, %v", got, err)
		}
		if _, err := c.Fetch(t.Context(), m.Attachments[0], 2); adapters.KindOf(err) != adapters.Invalid {
			t.Errorf("a file too long gives %v, want invalid", err)
		}
		if _, err := c.Fetch(t.Context(), adapters.IncomingFile{ID: "F404"}, 100); adapters.KindOf(err) != adapters.Invalid {
			t.Errorf("a file that is gone gives %v, want invalid", err)
		}
	})
}

// DELIVERY 2.4: bytes of ours that cannot be had just now are tried again; nothing was sent.
func TestAFileThatCannotBeReadNowIsNotRefused(t *testing.T) {
	listening(t, func(w *workspace, _ *book) {
		c, err := slack.New(w.options())
		testutil.OK(w.t, err)
		f := adapters.OutgoingFile{Name: "a.txt", Open: func(context.Context) (io.ReadCloser, error) { return nil, errors.New("busy") }}
		_, err = c.Send(w.t.Context(), adapters.OutgoingMessage{Chat: w.ops.ID, Text: "x", Files: []adapters.OutgoingFile{f}})
		if err == nil || adapters.KindOf(err) != adapters.NotSent {
			w.t.Errorf("got %v", err)
		}
	})
}

// DELIVERY 2.4, K18: Slack hangs files on a message after it is posted. What was
// cut off in between is found, and the files are attached, once.
func TestFilesThatWereCutOffAreAttachedWhenTheMessageIsFound(t *testing.T) {
	inBubble(t, func(w *workspace) {
		t := w.t
		c := w.adapter(w.options())
		open := func(context.Context) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("a,b")), nil }
		p := adapters.OutgoingMessage{Chat: w.ops.ID, Text: "the table", Key: "k1", Files: []adapters.OutgoingFile{{Name: "t.csv", MIME: "text/csv", Open: open}}}
		w.Fault(fake.CallFault{Method: "chat.update", Do: fake.Cut})
		if _, err := c.Send(t.Context(), p); adapters.KindOf(err) != adapters.Unknown {
			t.Fatalf("%v, want unknown", err)
		}
		w.Fault(fake.CallFault{Method: "chat.update", Do: fake.Cut})
		if _, found, err := c.Find(t.Context(), p); found || err == nil {
			t.Errorf("found %t although its files are not there, %v", found, err)
		}
		for range 2 {
			if _, found, err := c.Find(t.Context(), p); !found || err != nil {
				t.Errorf("found %t, %v", found, err)
			}
		}
		if diff := cmp.Diff([]string{"t.csv"}, w.ops.Sent()[0].Files); diff != "" || len(w.ops.Sent()) != 1 {
			t.Errorf("%d messages, the first with (-want +got):\n%s", len(w.ops.Sent()), diff)
		}
	})
}

func TestAStatusStandsUnderTheThread(t *testing.T) {
	inBubble(t, func(w *workspace) {
		t := w.t
		c := w.adapter(w.options())
		root := w.ops.Says(w.maya, "a question", fakeslack.PostOptions{})
		run := adapters.RunStatus{Chat: w.ops.ID, Message: root, State: adapters.RunProcessing}
		if how, err := c.ShowRun(t.Context(), run); err != nil || how != adapters.StopLine || w.app.Status(w.ops.ID, root) != "is writing…" {
			t.Errorf("a run is shown %q, %v, status %q", how, err, w.app.Status(w.ops.ID, root))
		}
		run.State = adapters.RunActive
		if _, err := c.ShowRun(t.Context(), run); err != nil || w.app.Status(w.ops.ID, root) != "" {
			t.Errorf("after a run: %v, status %q, want none", err, w.app.Status(w.ops.ID, root))
		}
		for _, at := range []adapters.MessageRef{{Chat: w.ops.ID, Message: root}, {Chat: w.ops.ID, Thread: root, Message: "1.2"}} {
			if err := c.Typing(t.Context(), at); err != nil || w.app.Status(w.ops.ID, root) != "is writing…" {
				t.Errorf("typing at %v: %v, status %q", at, err, w.app.Status(w.ops.ID, root))
			}
		}
		for _, text := range []string{"**Half** a sen", "# Title\n\n- one", "2*3*4"} {
			p := adapters.OutgoingMessage{Chat: w.ops.ID, Thread: root, Text: c.Split(text)[0], Key: "k"}
			if err := c.Preview(t.Context(), p); err != nil || !strings.HasPrefix(w.app.Status(w.ops.ID, root), "is writing: ") {
				t.Errorf("preview: %v, status %q", err, w.app.Status(w.ops.ID, root))
			}
		}
		if err := c.Preview(t.Context(), adapters.OutgoingMessage{Chat: w.ops.ID, Text: "x"}); adapters.KindOf(err) != adapters.Invalid {
			t.Errorf("outside a thread a preview gives %v, want invalid", err)
		}
		if n := len(w.ops.Sent()); n != 0 {
			t.Errorf("the previews made %d messages", n)
		}
		if err := c.Typing(t.Context(), adapters.MessageRef{Chat: w.ops.ID}); err != nil {
			t.Errorf("without a message: %v, want nothing to happen", err)
		}
		if _, err := c.Send(t.Context(), adapters.OutgoingMessage{Chat: w.ops.ID, Thread: root, Text: "an answer"}); err != nil {
			t.Fatal(err)
		}
		if s := w.app.Status(w.ops.ID, root); s != "" {
			t.Errorf("after the answer the status is still %q", s)
		}
	})
}

// A server that knows only mrkdwn gets mrkdwn: its refusal of a form is a definite no.
func TestARefusedFormIsSentAsMrkdwn(t *testing.T) {
	inBubble(t, func(w *workspace) {
		t := w.t
		c := w.adapter(w.options())
		w.Fault(fake.CallFault{Method: "chat.postMessage", Do: fake.Refuse, Description: "no_text"})
		if _, err := c.Send(t.Context(), adapters.OutgoingMessage{Chat: w.ops.ID, Text: c.Split("# Title\n\n- one\n- two")[0]}); err != nil {
			t.Fatal(err)
		}
		if m := w.ops.Sent()[0]; m.Form != "text" || m.Markup != "*Title*\n\n• one\n• two" {
			t.Errorf("sent %s %q", m.Form, m.Markup)
		}
	})
}

func TestAnAnswerGoesWhereNoThreadMayBegin(t *testing.T) {
	// PLATFORMS 2.4, DELIVERY F46: a channel without threads accepts a message
	for _, code := range []string{"restricted_action_non_threadable_channel", "restricted_action_thread_locked"} {
		t.Run(code, func(t *testing.T) {
			inBubble(t, func(w *workspace) {
				t := w.t
				root := w.ops.Says(w.maya, "hello", fakeslack.PostOptions{})
				w.Fault(fake.CallFault{Method: "chat.postMessage", Do: fake.Refuse, Description: code})
				c := w.adapter(w.options())
				if _, err := c.Send(t.Context(), adapters.OutgoingMessage{Chat: w.ops.ID, ReplyTo: root, Text: "an answer"}); err != nil {
					t.Fatal(err)
				}
				sent := w.ops.Sent()
				if len(sent) != 1 || sent[0].Thread != "" {
					t.Errorf("sent %+v, want one outside threads", sent)
				}
				w.Fault(fake.CallFault{Method: "chat.postMessage", Do: fake.Refuse, Description: code})
				_, err := c.Send(t.Context(), adapters.OutgoingMessage{Chat: w.ops.ID, Thread: root, Text: "in a thread"})
				if adapters.KindOf(err) != adapters.NoTarget {
					t.Errorf("in the thread itself: %v, want no target", err)
				}
			})
		})
	}
}

// A deletion that Slack refuses is not the one of which it tells later.
func TestARefusedDeletionIsNotOurs(t *testing.T) {
	inBubble(t, func(w *workspace) {
		t := w.t
		b := new(book)
		c, _ := w.runs(b, w.options())
		refused, done := w.ops.Says(w.maya, "hers", fakeslack.PostOptions{}), w.ops.Says(w.maya, "also hers", fakeslack.PostOptions{})
		w.Fault(fake.CallFault{Method: "chat.delete", Do: fake.Refuse, Description: "cant_delete_message"})
		if err := c.Delete(t.Context(), adapters.MessageRef{Chat: w.ops.ID, Message: refused}); adapters.KindOf(err) != adapters.Forbidden {
			t.Fatalf("%v, want forbidden", err)
		}
		w.ops.Deletes(refused)
		w.Fault(fake.CallFault{Method: "chat.delete", Do: fake.Cut})
		if err := c.Delete(t.Context(), adapters.MessageRef{Chat: w.ops.ID, Message: done}); err == nil {
			t.Fatal("a deletion whose answer was lost succeeds")
		}
		w.ops.Deletes(done)
		pass(time.Second)
		ours := map[string]bool{}
		for _, u := range b.all() {
			if gone, ok := u.Body.(adapters.MessageDeletion); ok {
				ours[gone.Messages[0]] = u.From.ID != ""
			}
		}
		testutil.Same(t, "who deleted", map[string]bool{refused: false, done: true}, ours)
	})
}

// PLATFORMS 2.4, SECURITY S10, S16: a page to sign in by is no file, and a file that
// is kept elsewhere is not fetched: its address is whatever a person wrote.
func TestWhatIsNoFileOfSlacksIsNotFetched(t *testing.T) {
	inBubble(t, func(w *workspace) {
		t := w.t
		o := w.options()
		var asked []string
		info := `"url_private":"http://slack.test/files/F1/cat.png"`
		o.Around = func(http.RoundTripper) http.RoundTripper {
			return roundTrip(func(r *http.Request) (*http.Response, error) {
				asked = append(asked, r.URL.Host+r.URL.Path)
				kind, body := "application/json", `{"ok":true,"file":{"id":"F1","mimetype":"image/png","size":3,`+info+`}}`
				if !strings.HasPrefix(r.URL.Path, "/api/") {
					kind, body = "text/html; charset=utf-8", "<!DOCTYPE html><title>Sign in | Slack</title>"
				}
				return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
			})
		}
		c := w.adapter(o)
		for _, info = range []string{
			`"url_private":"http://slack.test/files/F1/cat.png"`, `"url_private":"http://elsewhere.test/cat.png"`,
			`"url_private":"https://slack.com.elsewhere.test/cat.png"`, `"url_private":"http://files.slack.com/cat.png"`, `"mode":"tombstone"`,
		} {
			if body, err := c.Fetch(t.Context(), adapters.IncomingFile{ID: "F1"}, 100); adapters.KindOf(err) != adapters.Invalid || body != nil {
				t.Errorf("%s: %v, want invalid", info, err)
			}
		}
		want := []string{"slack.test/api/files.info", "slack.test/files/F1/cat.png"}
		slices.Sort(asked)
		testutil.Same(t, "asked", want, slices.Compact(asked))
	})
}

// A server that is down for a moment does not make a file one that cannot be had. Its
// name is a person's words, and is in no error (SECURITY S16).
func TestAFileIsFetchedAgainAfterAFailureOfTheServer(t *testing.T) {
	inBubble(t, func(w *workspace) {
		t := w.t
		b := new(book)
		o := w.options()
		down, cut := true, false
		o.Around = func(next http.RoundTripper) http.RoundTripper {
			return roundTrip(func(r *http.Request) (*http.Response, error) {
				if cut && strings.HasPrefix(r.URL.Path, "/files/") {
					return nil, errors.New("the line is cut")
				}
				if down && strings.HasPrefix(r.URL.Path, "/files/") {
					return &http.Response{StatusCode: http.StatusServiceUnavailable, Body: http.NoBody, Request: r}, nil
				}
				return next.RoundTrip(r)
			})
		}
		c, _ := w.runs(b, o)
		w.ops.Says(w.maya, "look", fakeslack.PostOptions{File: &fakeslack.SharedFile{Name: "cat.png", MIME: "image/png", Data: []byte("PNG")}})
		pass(time.Second)
		said := heard[adapters.IncomingMessage](b)
		if len(said) != 1 || len(said[0].Attachments) != 1 {
			t.Fatalf("heard %+v", said)
		}
		if _, err := c.Fetch(t.Context(), said[0].Attachments[0], 100); adapters.KindOf(err) != adapters.NotSent {
			t.Errorf("%v, want not sent", err)
		}
		cut = true
		_, err := c.Fetch(t.Context(), said[0].Attachments[0], 100)
		if told := fmt.Sprint(err); adapters.KindOf(err) != adapters.NotSent || !strings.Contains(told, "the line is cut") || strings.Contains(told, "cat") {
			t.Errorf("%v, want not sent", err)
		}
		down, cut = false, false
		body, err := c.Fetch(t.Context(), said[0].Attachments[0], 100)
		testutil.OK(t, err)
		defer body.Close()
		if got, err := io.ReadAll(body); err != nil || string(got) != "PNG" {
			t.Errorf("fetched %q, %v", got, err)
		}
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// NEWS: an app that is an agent shows its runs as sessions with Slack's own Stop, at the
// thread that hangs on the message; another one learns once that it has none.
func TestARunIsASessionWhereTheAppIsAnAgent(t *testing.T) {
	inBubble(t, func(w *workspace) {
		t := w.t
		c := w.adapter(w.options())
		root := w.ops.Says(w.maya, "a question", fakeslack.PostOptions{})
		s := adapters.RunStatus{Chat: w.ops.ID, Message: root, Title: "a question", State: adapters.RunProcessing}
		for range 2 {
			if how, err := c.ShowRun(t.Context(), s); err != nil || how != adapters.StopLine {
				t.Errorf("no agent: %q, %v, want a line", how, err)
			}
		}
		w.app.BecomesAgent()
		c = w.adapter(w.options())
		for _, state := range []adapters.RunState{adapters.RunProcessing, adapters.RunSuspended, adapters.RunActive} {
			s.State = state
			if how, err := c.ShowRun(t.Context(), s); err != nil || how != adapters.StopNative || w.app.Session(w.ops.ID, root) != string(state) {
				t.Errorf("an agent: %q, %v, session %q, want %q", how, err, w.app.Session(w.ops.ID, root), state)
			}
		}
		if title := w.app.Title(w.ops.ID, root); title != "a question" {
			t.Errorf("the session has the title %q", title)
		}
	})
}
