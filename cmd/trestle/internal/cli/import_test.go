package cli

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// importStage is a folder with a configuration, an export, and a Telegram in
// which the chat of the export is.
type importStage struct {
	stage
	tg   *faketelegram.Server
	bot  *faketelegram.BotUser
	kai  *faketelegram.HumanUser
	chat *faketelegram.Chat
}

func newImportStage(t *testing.T) *importStage {
	t.Helper()
	s := &importStage{stage: stage0(t), tg: faketelegram.NewTelegram(faketelegram.Options{})}
	s.bot = s.tg.AddBot(faketelegram.BotProfile{Token: "71:ada-token", Name: "Ada", Username: "ada_bot"})
	s.kai = s.tg.AddPerson(faketelegram.UserProfile{Name: "Kai"})
	s.chat = s.tg.NewSupergroup("Family", s.kai)
	s.chat.Adds(s.kai, s.bot)
	api := httptest.NewServer(s.tg)
	t.Cleanup(api.Close)
	s.write(t, "trestle.yaml", "listen: \"\"\nadapters:\n  telegram: {type: telegram, token: \"71:ada-token\", api_url: \""+api.URL+"\"}\n"+
		fmt.Sprintf("spaces:\n  family: {name: Family, wake: mention, chats: [\"telegram:%d\"]}\n", s.chat.ID()))
	return s
}

func (s *importStage) write(t *testing.T, name, text string) {
	t.Helper()
	testutil.OK(t, os.WriteFile(filepath.Join(s.folder, name), []byte(text), 0o600))
}

// export writes result.json with messages 1 to n of the chat.
func (s *importStage) export(t *testing.T, n int) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, `{"name":"Family","type":"private_supergroup","id":%d,"messages":[`, -s.chat.ID()-1_000_000_000_000)
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, `{"id":%d,"type":"message","date_unixtime":"%d","from":"Kai of old","from_id":"user%d","text":"past %d"},`+"\n", 1000+i, 1_500_000_000+i, s.kai.ID, i)
	}
	b.WriteString(`{"id":9999,"type":"service","action":"pin_message","date_unixtime":"1"}]}`)
	s.write(t, "result.json", b.String())
}

// said returns the words in the family's log.
func (s *importStage) said(t *testing.T) (words []string) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Options{Dir: filepath.Join(s.folder, "data"), NewID: storeopen.NewID})
	testutil.OK(t, err)
	defer func() {
		if err := store.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	places, err := store.Border().Place(t.Context(), "telegram:71", fmt.Sprint(s.chat.ID()))
	testutil.OK(t, err)
	events, err := store.Shell().Events(t.Context(), places[0].Space, spaces.Primary, 0, 100_000)
	testutil.OK(t, err)
	for _, e := range events {
		if b, ok := e.Body.(spaces.MessagePosted); ok {
			words = append(words, b.Text)
		}
	}
	return words
}

// SEQ-04, ECOSYSTEM 7: through a running process and without one; a second time
// changes nothing.
func TestExportIsImportedOnce(t *testing.T) {
	for name, running := range map[string]bool{"running": true, "alone": false} {
		t.Run(name, func(t *testing.T) {
			s := newImportStage(t)
			t.Run("live", func(t *testing.T) { // serves until the subtest ends
				s.serve(t)
				if running {
					s.imports(t)
				}
			})
			if !running {
				s.imports(t)
			}
			want := make([]string, 300)
			for i := range want {
				want[i] = fmt.Sprint("past ", i+1)
			}
			testutil.Same(t, "the log", want, s.said(t))
		})
	}
}

// imports imports the same export twice, the second time with more in it.
func (s *importStage) imports(t *testing.T) {
	t.Helper()
	for _, n := range []int{250, 300} {
		s.export(t, n)
		out, errs, code := s.do(t, "", "import", "telegram", "result.json")
		if code != apperr.Done || !strings.Contains(out, "100 %") {
			t.Fatalf("exit %s: %s%s", code, out, errs)
		}
	}
}

func TestImportSaysWhatIsMissing(t *testing.T) {
	s := newImportStage(t)
	s.write(t, "many.json", `{"chats":{"list":[{"name":"A","type":"private_group","id":1,"messages":[]},{"name":"B","type":"personal_chat","id":2,"messages":[]}]}}`)
	s.write(t, "direct.json", `{"name":"Kai","type":"personal_chat","id":2,"messages":[]}`)
	s.write(t, "foreign.json", `{"name":"X","type":"private_supergroup","id":77,"messages":[]}`)
	s.write(t, "none.json", `{"hello": 1}`)
	t.Run("once", func(t *testing.T) { s.serve(t) })
	for _, c := range []struct {
		args []string
		code apperr.ExitCode
		says string
	}{
		{[]string{"gone.json"}, apperr.Usage, "cannot be read"},
		{[]string{"none.json"}, apperr.Failed, "no result.json"},
		{[]string{"many.json"}, apperr.Usage, "2 chats"},
		{[]string{"many.json", "--chat", "C"}, apperr.Usage, "choose one with --chat"},
		{[]string{"many.json", "--chat", "A"}, apperr.Failed, "belongs to no space"},
		{[]string{"direct.json"}, apperr.Usage, "give the person's id"},
		{[]string{"direct.json", "--chat", "5"}, apperr.Failed, "belongs to no space"},
		{[]string{"foreign.json"}, apperr.Failed, "belongs to no space"},
		{[]string{"foreign.json", "--adapter", "slack"}, apperr.Usage, "no such Telegram account"},
	} {
		if _, errs, code := s.do(t, "", append([]string{"import", "telegram"}, c.args...)...); code != c.code || !strings.Contains(errs, c.says) {
			t.Errorf("%q: exit %s: %s", c.args, code, errs)
		}
	}
}
