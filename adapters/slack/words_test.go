package slack

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
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
		if diff := cmp.Diff(string(want.Data), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", in.Name, diff)
		}
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(archive), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
