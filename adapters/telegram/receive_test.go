package telegram

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// says returns an update in which Kai says words.
func says(id int, words string) string {
	return fmt.Sprintf(`{"update_id":%d,"message":{"message_id":%d,"date":1700000000,"chat":{"id":5,"type":"private","first_name":"Kai"},`+
		`"from":{"id":5,"first_name":"Kai"},"text":%q}}`, id, id, words)
}

// result returns a getUpdates answer.
func result(updates ...string) string {
	return `{"ok":true,"result":[` + strings.Join(updates, ",") + `]}`
}

// receive runs Receive over the script for d of the bubble's time.
func receive(t *testing.T, s *script, to *sink, cursor string, d time.Duration) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	var at []byte
	if cursor != "" {
		at = []byte(cursor)
	}
	return s.open().Receive(ctx, at, to)
}

// texts returns the words of the messages among updates.
func texts(updates []adapters.Update) []string {
	var out []string
	for _, u := range updates {
		if m, ok := u.Body.(adapters.IncomingMessage); ok {
			out = append(out, m.Text)
		}
	}
	return out
}

// R-TG, DELIVERY 2.3 K1-K5
func TestNextPollConfirmsOnlyWhatTheSinkTook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := polls(t, result(says(10, "a"), says(11, "b")), result(says(12, "c")))
		to := &sink{}
		inner := s.reply
		s.reply = func(a asked) (int, string) {
			if got, want := len(to.updates()) > 0, a.Form.Get("offset") != ""; a.Method == "getUpdates" && got != want {
				t.Errorf("poll with offset %q while the sink has taken updates: %t", a.Form.Get("offset"), got)
			}
			return inner(a)
		}
		testutil.OK(t, receive(t, s, to, "", 10*time.Second))
		testutil.Same(t, "texts", []string{"a", "b", "c"}, texts(to.updates()))
		var offsets []string
		for i, a := range s.calls("getUpdates") {
			offsets = append(offsets, a.Form.Get("offset"))
			held := "50"
			if i == 0 { // it proves at once that we are heard (I13)
				held = "0"
			}
			if a.Form.Get("timeout") != held || a.Form.Get("limit") != "100" || !strings.Contains(a.Form.Get("allowed_updates"), "message_reaction") {
				t.Errorf("polled with %v", a.Form)
			}
		}
		testutil.Same(t, "offsets", []string{"", "12", "13"}, offsets)
		if len(to.heard) < 2 {
			t.Errorf("heard %d times, want one for each poll that ended", len(to.heard))
		}
	})
}

// R-TG
func TestRefusedBatchIsAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := result(says(10, "a"))
		s := polls(t, one, one, one)
		to := &sink{refuse: 2}
		testutil.OK(t, receive(t, s, to, "10", time.Minute))
		testutil.Same(t, "texts", []string{"a"}, texts(to.updates()))
		asked := s.calls("getUpdates")
		for i, want := range []string{"10", "10", "10", "11"} {
			if got := asked[i].Form.Get("offset"); got != want {
				t.Errorf("poll %d has offset %s, want %s", i, got, want)
			}
		}
		if d := asked[1].At.Sub(asked[0].At); d < 100*time.Millisecond {
			t.Errorf("asked again after %s, want a pause", d)
		}
	})
}

// R-TG, F36: however long the record has been away, what it did not take is handed in
// soon after it is back.
func TestRecordThatWasAwayForLongIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &sink{refuse: 20}
		s := polls(t, slices.Repeat([]string{result(says(10, "a"))}, to.refuse+1)...)
		_ = receive(t, s, to, "10", 15*time.Minute) // the polls that hang come to an end
		testutil.Same(t, "texts", []string{"a"}, texts(to.updates()))
		asked := s.calls("getUpdates")
		for i, a := range asked[1:21] {
			if d := a.At.Sub(asked[i].At); d > 8*time.Second {
				t.Errorf("asked again after %s", d)
			}
		}
	})
}

// R-TG
func TestPollFailuresSayWhatTheyMean(t *testing.T) {
	for _, test := range []struct {
		name, answer string
		want         adapters.FailureKind
		says         string
	}{
		{"other poller", `409 {"ok":false,"error_code":409,"description":"Conflict: terminated by other getUpdates request"}`, adapters.Conflict, "another program"},
		{"webhook", `409 {"ok":false,"error_code":409,"description":"Conflict: can't use getUpdates method while webhook is active"}`, adapters.Conflict, "deleteWebhook"},
		{"dead token", `401 {"ok":false,"error_code":401,"description":"Unauthorized"}`, adapters.Unauthorized, ""},
		{"proxy page", `502 <html>Bad Gateway</html>`, adapters.Unknown, "502"},
		{"no array", `{"ok":true,"result":5}`, adapters.Unknown, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				err := receive(t, polls(t, test.answer), &sink{}, "", time.Minute)
				if err == nil || adapters.KindOf(err) != test.want || !strings.Contains(err.Error(), test.says) {
					t.Errorf("got %v, want %s saying %q", err, test.want, test.says)
				}
			})
		})
	}
}

// R-TG
func TestLimitedPollWaitsAsLongAsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := polls(t, `429 {"ok":false,"error_code":429,"description":"Too Many Requests: retry after 7","parameters":{"retry_after":7}}`, result(says(1, "a")))
		to := &sink{}
		testutil.OK(t, receive(t, s, to, "", 30*time.Second))
		if asked := s.calls("getUpdates"); asked[1].At.Sub(asked[0].At) != 7*time.Second {
			t.Errorf("waited %s, want 7s", asked[1].At.Sub(asked[0].At))
		}
		if len(to.updates()) != 1 {
			t.Errorf("got %d updates, want 1", len(to.updates()))
		}
	})
}

// R-TG: down for more than 24 h becomes a visible gap, once.
func TestDayOfSilenceIsAGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away := time.Now().Add(-30 * time.Hour)
		cursor := fmt.Sprintf("10 %d %d", away.Unix(), away.Unix())
		s := polls(t, result(says(10, "a")))
		to := &sink{}
		testutil.OK(t, receive(t, s, to, cursor, 10*time.Second))
		updates := to.updates()
		if len(updates) != 2 {
			t.Fatalf("got %d updates, want a gap and a message", len(updates))
		}
		gap, ok := updates[0].Body.(adapters.UpdateGap)
		if !ok || gap.From.Unix() != away.Unix() || gap.To.Sub(gap.From).Round(time.Second) != 6*time.Hour {
			t.Errorf("first update is %+v", updates[0])
		}
		if got := s.calls("getUpdates")[0].Form.Get("timeout"); got != "0" {
			t.Errorf("the first poll waits %s s, want no wait before the gap is told", got)
		}
		again := &sink{}
		testutil.OK(t, receive(t, polls(t, result()), again, string(to.batches[0].Cursor), time.Second))
		if got := again.updates(); len(got) != 0 {
			t.Errorf("told again: %+v", got)
		}
	})
}

// A quiet day with the poller running is no gap.
func TestQuietTimeKeepsTheCursorFresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{t: t, reply: func(a asked) (int, string) {
			if a.Form.Get("timeout") == "0" {
				return 200, result()
			}
			return hold, ""
		}}
		to := &sink{}
		start := time.Now()
		testutil.OK(t, receive(t, s, to, fmt.Sprintf("10 %d %d", start.Unix(), start.Unix()), 30*time.Hour))
		last, err := parsePosition(to.batches[len(to.batches)-1].Cursor)
		testutil.OK(t, err)
		if age := time.Since(time.Unix(last.heard, 0)); age > 15*time.Minute {
			t.Errorf("the stored cursor is %s old", age)
		}
		if last.offset != 10 || len(to.updates()) != 0 {
			t.Errorf("position %+v, %d updates", last, len(to.updates()))
		}
		if n := len(to.batches); n > 200 {
			t.Errorf("%d cursors stored in 30 h of silence", n)
		}
	})
}

// DELIVERY F25: ids restart at random after a week of silence.
func TestIdsThatStartAnewAreFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now, week := time.Now(), time.Now().Add(-8*24*time.Hour)
		s := polls(t, result(says(7, "a")), result(says(8, "b")))
		to := &sink{}
		testutil.OK(t, receive(t, s, to, fmt.Sprintf("900000 %d %d", now.Unix(), week.Unix()), 10*time.Second))
		var offsets []string
		for _, a := range s.calls("getUpdates") {
			offsets = append(offsets, a.Form.Get("offset"))
		}
		testutil.Same(t, "offsets", []string{"", "8", "9"}, offsets)
		if len(to.updates()) != 2 {
			t.Errorf("got %d updates, want 2 and no gap", len(to.updates()))
		}
	})
}

// R-All: malformed updates are kept raw and stop nothing.
func TestBadUpdateStopsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := polls(t, result(says(10, "a"), `{"update_id":11,"message":"no object"}`, `{"update_id":12,"wholly_new":{"x":1}}`,
			`"no update at all"`, `{"update_id":14,"message":{"message_id":"x","date":1700000000,"chat":{"id":5,"type":"private"}}}`, says(15, "b")))
		to := &sink{}
		testutil.OK(t, receive(t, s, to, "10", 10*time.Second))
		var got []string
		for _, u := range to.updates() {
			switch b := u.Body.(type) {
			case adapters.IncomingMessage:
				got = append(got, b.Text)
			case adapters.UnreadableUpdate:
				got = append(got, "unreadable "+b.Kind+" in "+u.Chat.ID)
				if len(u.Raw) == 0 || u.Key == "" {
					t.Errorf("nothing kept of %+v", u)
				}
			}
		}
		want := []string{"a", "unreadable message in ", "unreadable wholly_new in ", "unreadable  in ", "unreadable message in 5", "b"}
		testutil.Same(t, "what came", want, got)
		if got := s.calls("getUpdates")[1].Form.Get("offset"); got != "16" {
			t.Errorf("next offset %s, want 16", got)
		}
	})
}

// R-All: malformed JSON is quarantined raw and the cursor advances.
func TestUpdateThatSpoilsTheAnswerIsPassed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		updates := []string{says(10, "a"), `{"update_id":11,"message":{"text":"cut o}}`, says(12, "b")}
		s := &script{t: t}
		s.reply = func(a asked) (int, string) {
			offset, _ := strconv.Atoi(a.Form.Get("offset"))
			left := updates[min(max(offset-10, 0), 3):]
			if a.Form.Get("limit") == "1" {
				left = left[:min(1, len(left))]
			}
			if len(left) == 0 {
				return hold, ""
			}
			return 200, result(left...)
		}
		to := &sink{}
		testutil.OK(t, receive(t, s, to, "10", time.Minute))
		testutil.Same(t, "texts", []string{"a", "b"}, texts(to.updates()))
		if got := to.updates(); len(got) != 3 || !strings.Contains(string(got[1].Raw), "cut o") {
			t.Errorf("got %+v", got)
		}
	})
}

func TestServerThatDoesNotHoldPollsIsNotRushed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{t: t, reply: func(asked) (int, string) { return 200, result() }}
		testutil.OK(t, receive(t, s, &sink{}, "", 10*time.Second))
		if n := len(s.calls("getUpdates")); n > 42 { // the first one, and four a second
			t.Errorf("asked %d times in 10 s", n)
		}
	})
}

func TestForeignCursorIsRefused(t *testing.T) {
	for _, cursor := range []string{"abc", "-5", "1 2 3 1 5", " ", "1 x"} {
		if err := receive(t, polls(t), &sink{}, cursor, time.Second); adapters.KindOf(err) != adapters.Invalid {
			t.Errorf("cursor %q: got %v, want invalid", cursor, err)
		}
	}
}
