package main

import (
	"database/sql"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	fakediscord "github.com/trestle-bridge/trestle/adapters/fake/discord"
	fakeslack "github.com/trestle-bridge/trestle/adapters/fake/slack"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// relayedRoom is one room on Slack and Discord in which an agent answers everything.
const relayedRoom = "# slack, discord\nagents: {ada: {name: Ada, phases: one}}\nlimits: {outgoing: off}\nspaces:\n" +
	"  family: {agents: [ada], wake: all, relay: true, chats: [\"acme:C0000007\", \"guild:7\"]}\n"

// newRelayedRoom returns a world with that room, which has settled.
func newRelayedRoom(t *testing.T, config string) *world {
	t.Helper()
	w := newWorldOf(t, config, llmtest.LeakyModel{Brief: true})
	w.addChat("kitchen", "slack", []string{"Maya"})
	w.addChat("porch", "discord", []string{"Nova"})
	w.settle()
	return w
}

// backup copies the record as it stands.
func (w *world) backup() string {
	w.t.Helper()
	file := filepath.Join(w.t.TempDir(), "monday.db")
	testutil.OK(w.t, w.process.store.Console().Backup(w.t.Context(), file))
	return file
}

// restores ends the program and puts a backup in the place of its record, in which
// what was said before until counts as dealt with.
func (w *world) restores(file string, until time.Time) {
	w.t.Helper()
	w.end()
	w.dir = w.t.TempDir()
	testutil.OK(w.t, putInPlace(w.t.Context(), file, filepath.Join(w.dir, "data"), until))
}

// copies counts what was posted for each of these words, over both platforms.
func (w *world) copies(words ...string) map[string]int {
	n := map[string]int{}
	for _, text := range words {
		for _, m := range w.slack.rooms["kitchen"].Sent() {
			n[text] += strings.Count(m.Text, text)
		}
		for _, room := range slices.Sorted(maps.Keys(w.discord.rooms)) {
			for _, m := range w.discord.rooms[room].Sent(w.discord.bot) {
				n[text] += strings.Count(m.Content, text)
			}
		}
	}
	return n
}

// DELIVERY 2.2-1, 2.2-4: a restored record learns what was said since the backup, and
// nobody is answered, nor is anything carried to other chats, a second time: not when
// Discord still has the session of then, either, nor in threads.
func TestARestoredRecordAnswersNobodyASecondTime(t *testing.T) {
	for _, session := range []string{"resumed", "forgotten"} {
		t.Run(session, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newRelayedRoom(t, relayedRoom)
				maya, nova := w.slack.people["Maya"], w.discord.people["Nova"]
				kitchen, porch := w.slack.rooms["kitchen"], w.discord.rooms["porch"]
				root := kitchen.Says(maya, "before", fakeslack.Said{})
				w.addTopic("porch", "plans")
				w.settle()
				file := w.backup()

				said := []string{"from Slack", "in a thread there", "from Discord", "in a thread here"}
				first := kitchen.Says(maya, said[0], fakeslack.Said{})
				w.settle()
				kitchen.Says(maya, said[1], fakeslack.Said{Thread: root})
				w.settle()
				porch.Says(nova, said[2], fakediscord.Said{})
				w.settle()
				w.discord.rooms["porch/plans"].Says(nova, said[3], fakediscord.Said{})
				w.settle()
				sent := w.copies(said...)
				for _, words := range said {
					if sent[words] == 0 { // the relay, and most times the answer
						t.Fatalf("%q was posted %d times: the test tests nothing", words, sent[words])
					}
				}

				if session == "forgotten" {
					w.discord.bot.Forget()
				}
				w.restores(file, time.Now())
				w.start()
				testutil.Same(t, "posted", sent, w.copies(said...))
				known := map[string]int{}
				for _, words := range said {
					known[words] = strings.Count(w.log(spaces.Room), words)
				}
				testutil.Same(t, "known again", map[string]int{said[0]: 1, said[1]: 1, said[2]: 1, said[3]: 1}, known)

				kitchen.Edits(first, said[0]+", changed")
				kitchen.Reacts(maya, first, "tada")
				w.settle()
				kitchen.Says(maya, "and now?", fakeslack.Said{})
				w.settle()
				porch.Says(nova, "what next?", fakediscord.Said{})
				w.settle()
				for words, n := range w.copies("and now?", "what next?") {
					if n < 2 {
						t.Errorf("%q was posted %d times after the restore", words, n)
					}
				}
				testutil.Same(t, "posted in the end", sent, w.copies(said...))
				said = append(said, "and now?", "what next?")
				sent = w.copies(said...)
				w.restores(file, time.Now())
				w.start()
				testutil.Same(t, "posted after the same backup was restored again", sent, w.copies(said...))
				if log := w.log(spaces.Room); strings.Contains(log, "failed") {
					t.Errorf("something failed:\n%s", log)
				}
				w.stop()
			})
		})
	}
}

// The operator knows since when nothing ran: who wrote then still waits.
func TestWhoWroteWhileNothingRanIsAnsweredAfterARestore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newRelayedRoom(t, relayedRoom)
		file := w.backup()
		s := &scene{world: w, labels: map[string]int64{}}
		for _, line := range []string{"Maya@kitchen: heard from Maya", "Nova@porch: heard from Nova"} {
			s.do(t, line)
		}
		sent := w.copies("heard from Maya", "heard from Nova")
		w.end()
		pass(time.Minute)
		down := time.Now()
		pass(time.Minute)
		w.slack.rooms["kitchen"].Says(w.slack.people["Maya"], "Maya waits", fakeslack.Said{})
		w.discord.rooms["porch"].Says(w.discord.people["Nova"], "Nova waits", fakediscord.Said{})
		pass(time.Hour)
		w.dir = t.TempDir()
		testutil.OK(t, putInPlace(t.Context(), file, filepath.Join(w.dir, "data"), down))
		w.start()
		testutil.Same(t, "posted before", sent, w.copies("heard from Maya", "heard from Nova"))
		for words, n := range w.copies("Maya waits", "Nova waits") {
			if n < 2 {
				t.Errorf("%q was posted %d times", words, n)
			}
		}
		w.stop()
	})
}

// K25, ECOSYSTEM 3.2: what is restored knows from when on people wait, whichever
// schema it has, also one that was restored before; and there is nothing beside it.
func TestRestoreSaysUntilWhenAllIsDealtWith(t *testing.T) {
	s := installed(t, "http://127.0.0.1:1")
	s.done(t, "", "backup", "old.db")
	addMigration(t)
	old := filepath.Join(s.folder, "old.db")
	schema := tableOf(t, old, "select max(version_id) from goose_db_version")
	from := old
	for n, since := range []string{"2026-02-03T04:05:06Z", "2h", ""} {
		there := filepath.Join(s.folder, "restored"+strconv.Itoa(n))
		began := time.Now()
		args := []string{"restore", from, "--data", there, "-o", "json"}
		if since != "" {
			args = append(args, "--down-since", since)
		}
		a := answerOf[restoredAnswer](t, s, args...)
		want := map[string]time.Time{"2026-02-03T04:05:06Z": time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC), "2h": began.Add(-2 * time.Hour), "": began}[since]
		if off := a.Dealt.Sub(want); off < -time.Second || off > time.Minute || a.SHA256 != sumOf(t, from) {
			t.Errorf("since %q: %+v, want %s", since, a, want)
		}
		from = filepath.Join(there, "trestle.db")
		ms, err := strconv.ParseInt(tableOf(t, from, "select value from meta where name = 'dealt'"), 10, 64)
		testutil.OK(t, err)
		if got := time.UnixMilli(ms); got.Sub(a.Dealt).Abs() > time.Second {
			t.Errorf("the record says %s, the answer %s", got, a.Dealt)
		}
		if is := tableOf(t, from, "select max(version_id) from goose_db_version"); is != schema {
			t.Errorf("the schema was %s and is %s", schema, is)
		}
		held, err := os.ReadDir(there)
		if err != nil || len(held) != 1 {
			t.Errorf("the folder holds %v, %v", held, err)
		}
		if checked := answerOf[checkedBackup](t, s, "backup", "--check", from, "-o", "json"); len(checked.Findings) > 0 {
			t.Errorf("it has %q", checked.Findings)
		}
	}
	for _, since := range []string{"tomorrow", "-2h", "2999-01-01T00:00:00Z", "2026-02-03"} {
		_, errs, code := s.do(t, "", "restore", old, "--data", filepath.Join(s.folder, "never"), "--down-since="+since)
		if code != apperr.Usage || !strings.Contains(errs, "no time that has passed") {
			t.Errorf("since %s: exit %s: %s", since, code, errs)
		}
	}
	if _, err := os.Stat(filepath.Join(s.folder, "never")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was restored: %v", err)
	}
}

// A database is put back with its server's tools; a file is no help there.
func TestAFileIsNotRestoredBesideADatabase(t *testing.T) {
	s := stage0(t)
	s.env += "\nTRESTLE_DATABASE=postgres://trestle@127.0.0.1:1/trestle?sslmode=disable"
	if _, errs, code := s.do(t, "", "restore", "some.db"); code != apperr.Usage || !strings.Contains(errs, "in a database") {
		t.Errorf("exit %s: %s", code, errs)
	}
	if _, errs, code := s.do(t, "", "restore", "--down-since", "0s"); code == apperr.Done || !strings.Contains(errs, "refused") {
		t.Errorf("exit %s: %s", code, errs)
	}
}

// What was put back by other means learns it, too, but from nobody who only forgot to
// name the file.
func TestARecordThatWasPutBackLearnsUntilWhenAllIsDealtWith(t *testing.T) {
	s := aTalk(t)
	file := filepath.Join(s.folder, "data", "trestle.db")
	if _, errs, code := s.do(t, "", "restore"); code != apperr.Usage || tableOf(t, file, "select count(*) from meta where name = 'dealt'") != "0" {
		t.Errorf("exit %s: %s", code, errs)
	}
	a := answerOf[restoredAnswer](t, s, "restore", "--down-since", "2026-02-03T04:05:06Z", "-o", "json")
	want := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	if is := tableOf(t, file, "select value from meta where name = 'dealt'"); !a.Dealt.Equal(want) || is != strconv.FormatInt(want.UnixMilli(), 10) {
		t.Errorf("the answer is %+v, the record says %s", a, is)
	}
	if _, errs, code := s.do(t, "", "restore", "--down-since", "2h", "--data", filepath.Join(s.folder, "nowhere")); code != apperr.Failed || !strings.Contains(errs, "no record here") {
		t.Errorf("exit %s: %s", code, errs)
	}
	s.serve(t)
	if _, errs, code := s.do(t, "", "restore", "--down-since", "2h"); code == apperr.Done {
		t.Errorf("beside a process that serves: exit %s: %s", code, errs)
	}
}

// tableOf returns the one value that a question to a file has.
func tableOf(t *testing.T, file, question string) (value string) {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+file+"?mode=ro")
	testutil.OK(t, err)
	defer func() { testutil.OK(t, db.Close()) }()
	testutil.OK(t, db.QueryRowContext(t.Context(), question).Scan(&value))
	return value
}
