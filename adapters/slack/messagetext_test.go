package slack

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// Issue 4: blocks, attachments and mrkdwn become text that can be read.
func TestMessagesBecomeTextThatCanBeRead(t *testing.T) {
	file := filepath.Join("testdata", "shown.txtar")
	archive, err := txtar.ParseFile(file)
	if err != nil || len(archive.Files) < 20 {
		t.Fatalf("%d parts, %v", len(archive.Files), err)
	}
	r := alone(t)
	r.c.names.keepUser("U1", user{ID: "U1", RealName: "Maya Lind"}.person(), namesKept)
	r.c.names.keepChat(knownChat{chat: chatOf(channel{ID: "C1", Name: "ops"}, "T1")}, namesKept)
	for i := 0; i+1 < len(archive.Files); i += 2 {
		in, want := archive.Files[i], &archive.Files[i+1]
		var m message
		if err := json.Unmarshal(in.Data, &m); err != nil {
			t.Fatalf("%s: %v", in.Name, err)
		}
		got := strings.TrimSuffix(r.words(t.Context(), &m).text, "\n") + "\n"
		if *update {
			want.Data = []byte(got)
			continue
		}
		testutil.Same(t, in.Name, string(want.Data), got)
	}
	if *update {
		testutil.OK(t, os.WriteFile(file, txtar.Format(archive), 0o600))
	}
}

// SEQ-06: a forwarded message brings its files along. That Slack describes a file anew, as
// it does once there is a preview of it, is no edit.
func TestFilesOfAForwardedMessageAreTold(t *testing.T) {
	r := alone(t)
	m := func(thumb string) *message {
		var m message
		raw := `{"channel":"D1","ts":"1.000001","user":"UADA","text":"look","files":[{"id":"F1","name":"a.pdf"` + thumb + `}],
			"attachments":[{"is_share":true,"author_name":"Maya","files":[{"id":"F2","name":"b.png","mimetype":"image/png"}]},{"files":[{"id":"F3"}]}]}`
		testutil.OK(t, json.Unmarshal([]byte(raw), &m))
		return &m
	}
	want := []adapters.IncomingFile{{Kind: "file", ID: "F1", Name: "a.pdf"}, {Kind: "photo", ID: "F2", Name: "b.png", MIME: "image/png"}}
	testutil.Same(t, "told", want, r.content(t.Context(), m(""), adapters.Chat{}).Attachments)
	if !r.looksLike(t.Context(), m(`,"thumb_pdf":"https://files.slack.com/x"`), m("")) {
		t.Error("a preview of a file is an edit")
	}
}

// SECURITY S20: looks that are opened and never closed are looked for once a line; the text
// of one message took seconds, in which nothing else was heard.
func TestLooksThatNeverCloseCostLittle(t *testing.T) {
	began := time.Now()
	for _, text := range []string{strings.Repeat(" *a", 20_000), strings.Repeat("<a ", 20_000), strings.Repeat(" _a *b ~c", 7_000)} {
		for range 20 {
			p := &page{}
			p.mrkdwn(text)
			if got := p.text.String(); got != text {
				t.Fatalf("%.40q is read as %.40q", text, got)
			}
		}
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
}
