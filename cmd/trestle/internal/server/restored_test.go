package server

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/backup"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// docs/operate.md: what was said after a backup is gone with the record where a platform
// keeps nothing for a bot; where it does, it is read once more.
func TestARestoredRecordReadsAgainWhatPlatformsKeep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "# slack, discord\nagents: {ada: {name: Ada}}\nspaces:\n"+
			"  family: {agents: [ada], wake: none, chats: [\"telegram:-1001000000001\", \"acme:C0000007\", \"guild:7\"]}\n")
		w.addChat("kitchen", "slack", []string{"Maya"})
		w.addChat("porch", "discord", []string{"Nova"})
		w.addChat("family", "supergroup", []string{"Kai"})
		w.settle()
		file := filepath.Join(t.TempDir(), "monday.db")
		testutil.OK(t, w.process.Store.Console().Backup(t.Context(), file))
		s := &scene{world: w, labels: map[string]int64{}}
		for _, line := range []string{"Kai@family: from Telegram", "& Maya@kitchen: from Slack", "& Nova@porch: from Discord"} {
			s.do(t, line)
			w.settle()
		}
		w.end()
		w.dir = t.TempDir()
		testutil.OK(t, backup.PlaceDatabase(t.Context(), file, filepath.Join(w.dir, "data"), time.Now()))
		w.start()
		said := map[string]int{}
		for _, words := range []string{"from Telegram", "from Slack", "from Discord"} {
			said[words] = strings.Count(w.log(spaces.Room), words)
		}
		testutil.Same(t, "known again", map[string]int{"from Telegram": 0, "from Slack": 1, "from Discord": 1}, said)
		w.stop()
	})
}
