package cli

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	fakediscord "github.com/trestle-bridge/trestle/adapters/fake/discord"
	fakeslack "github.com/trestle-bridge/trestle/adapters/fake/slack"
	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// An encryptedServer serves one of the others as the world does: with TLS, over
// HTTP/2 for who speaks it.
type encryptedServer struct {
	*httptest.Server
	mu   sync.Mutex // guards seen
	seen map[string]int
}

func encrypted(t *testing.T, h http.Handler) *encryptedServer {
	t.Helper()
	s := &encryptedServer{seen: map[string]int{}}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.seen[r.Proto]++
		if strings.Contains(r.URL.Path, "tickets.csv") || strings.Contains(r.URL.Path, "/file/") {
			s.seen["files"]++
		}
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func (s *encryptedServer) saw(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen[what]
}

// A correspondent is a chat on one platform.
type correspondent struct {
	server *encryptedServer
	says   func(words string, file []byte)
	heard  func() string // all that was sent there
	sever  func()
}

// ECOSYSTEM 9, DELIVERY I1: with TLS and HTTP/2 everywhere, as it is out there, each
// platform is heard and answered, its files are fetched, and a connection that is cut
// after that is made again.
func TestEverythingGoesEncrypted(t *testing.T) {
	m := encrypted(t, &llmtest.Server{Model: llmtest.LeakyModel{Brief: true}})
	telegram, chat := telegramCorrespondent(t)
	slack, channel := slackCorrespondent(t)
	discord, room := discordCorrespondent(t)

	folder := t.TempDir()
	roots := filepath.Join(folder, "roots.pem")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: m.Certificate().Raw})
	file := fmt.Sprintf(`
model: {base_url: "%s/v1", api_key: any, name: parrot}
agents: {ada: {name: Ada, phases: one}}
adapters:
  telegram: {type: telegram, token: "1:encrypted-token-of-the-test-telegram", api_url: "%s"}
  acme: {type: slack, bot_token: xoxb-encrypted, app_token: xapp-encrypted, api_url: "%s"}
  guild: {type: discord, token: encrypted.token.of-discord, api_url: "%s"}
spaces:
  a: {agents: [ada], wake: all, chats: ["telegram:%d"]}
  b: {agents: [ada], wake: all, chats: ["acme:%s"]}
  c: {agents: [ada], wake: all, chats: ["guild:%s"]}
`, m.URL, telegram.server.URL, slack.server.URL, discord.server.URL, chat, channel, room)
	for name, text := range map[string][]byte{roots: certificate, filepath.Join(folder, "trestle.yaml"): []byte(file)} {
		testutil.OK(t, os.WriteFile(name, text, 0o600))
	}
	serveFrom(t, folder, "SSL_CERT_FILE="+roots)

	for name, c := range map[string]correspondent{"telegram": telegram, "slack": slack, "discord": discord} {
		c.says("first", []byte("row,seat\n1,A\n"))
		waitUntil(t, name+" is not answered, or its file not fetched", func() bool { return strings.Contains(c.heard(), "first") && c.server.saw("files") > 0 })
		c.sever()
		m.CloseClientConnections()
		c.says("second", nil)
		waitUntil(t, name+" is not heard after the connection was cut", func() bool { return strings.Contains(c.heard(), "second") })
		if c.server.saw("HTTP/2.0") == 0 {
			t.Errorf("%s: nothing came over HTTP/2: %v", name, c.server.seen)
		}
	}
	if m.saw("HTTP/2.0") == 0 {
		t.Errorf("the model was asked over %v", m.seen)
	}
}

// serveFrom has the program serve what a folder configures until the test ends.
func serveFrom(t *testing.T, folder string, env ...string) {
	t.Helper()
	self, err := os.Executable()
	testutil.OK(t, err)
	program := filepath.Join(t.TempDir(), "trestle")
	testutil.OK(t, os.Symlink(self, program))
	out := &output{more: make(chan struct{}, 1)}
	c := exec.Command(program, "run") //nolint:noctx // it is stopped as an operator does
	c.Dir, c.Stdout, c.Stderr = folder, out, out
	c.Env = append([]string{"HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir(), "TRESTLE_LISTEN=127.0.0.1:0"}, env...)
	testutil.OK(t, c.Start())
	t.Cleanup(func() {
		if err := c.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := c.Wait(); err != nil {
			t.Errorf("it ends with %v", err)
		}
		if t.Failed() {
			t.Log(out)
		}
	})
}

func telegramCorrespondent(t *testing.T) (correspondent, int64) {
	t.Helper()
	p := faketelegram.NewTelegram(faketelegram.Options{})
	bot := p.AddBot(faketelegram.BotProfile{Token: "1:encrypted-token-of-the-test-telegram", Name: "Ada", Username: "ada_bot"})
	kai := p.AddPerson(faketelegram.UserProfile{Name: "Kai"})
	chat := p.NewSupergroup("Family", kai)
	chat.Adds(kai, bot)
	server := encrypted(t, p)
	return correspondent{
		server: server, sever: server.CloseClientConnections,
		says: func(words string, file []byte) {
			s := faketelegram.PostOptions{}
			if file != nil {
				s.File = &faketelegram.SharedFile{Kind: "document", Name: "tickets.csv", MIME: "text/csv", Data: file}
			}
			chat.Says(kai, words, s)
		},
		heard: func() (all string) {
			for _, m := range chat.Sent() {
				all += m.Text + "\n"
			}
			return all
		},
	}, chat.ID()
}

func slackCorrespondent(t *testing.T) (correspondent, string) {
	t.Helper()
	p := fakeslack.New(fakeslack.Options{})
	app := p.AddApp(fakeslack.AppProfile{Name: "Ada", BotToken: "xoxb-encrypted", AppToken: "xapp-encrypted"})
	maya := p.AddPerson(fakeslack.UserProfile{Name: "Maya"})
	channel := p.NewChannel("ops", maya)
	channel.Invites(maya, app)
	return correspondent{
		server: encrypted(t, p), sever: func() {
			app.Sever()
			waitUntil(t, "slack has no sockets again", func() bool { return app.Sockets() == 2 })
		},
		says: func(words string, file []byte) {
			s := fakeslack.PostOptions{}
			if file != nil {
				s.File = &fakeslack.SharedFile{Name: "tickets.csv", MIME: "text/csv", Data: file}
			}
			channel.Says(maya, words, s)
		},
		heard: func() (all string) {
			for _, m := range channel.Sent() {
				all += m.Text + "\n"
			}
			return all
		},
	}, channel.ID
}

func discordCorrespondent(t *testing.T) (correspondent, string) {
	t.Helper()
	p := fakediscord.New(fakediscord.Options{})
	bot := p.AddBot(fakediscord.BotProfile{Token: "encrypted.token.of-discord", Name: "ada"})
	lee := p.AddPerson(fakediscord.UserProfile{Name: "Lee"})
	guild := p.NewGuild("Family", lee)
	guild.Adds(bot, fakediscord.ManageWebhooks)
	room := guild.NewChannel("kitchen", 0)
	return correspondent{
		server: encrypted(t, p), sever: func() { bot.Close(4000) },
		says: func(words string, file []byte) {
			s := fakediscord.PostOptions{}
			if file != nil {
				s.Files = []fakediscord.SharedFile{{Name: "tickets.csv", MIME: "text/csv", Data: file}}
			}
			room.Says(lee, words, s)
		},
		heard: func() (all string) {
			for _, m := range room.Sent(bot) {
				all += m.Content + "\n"
			}
			return all
		},
	}, room.ID.String()
}

// waitUntil fails the test with wrong unless happened comes true within thirty seconds.
func waitUntil(t *testing.T, wrong string, happened func() bool) {
	t.Helper()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for deadline := time.After(30 * time.Second); !happened(); {
		select {
		case <-look.C:
		case <-deadline:
			t.Fatal(wrong)
		}
	}
}
