package cli

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/activity/media"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/buildinfo"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/server"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/internal/console/api"
	"github.com/trestle-bridge/trestle/internal/store/blobs"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// aTalk is a stage whose record holds one short conversation.
func aTalk(t *testing.T) stage {
	t.Helper()
	s := stage0(t)
	s.done(t, "hello\n", "chat")
	return s
}

// ECOSYSTEM 3.2: a backup is checked without being changed, restored only into
// an empty folder, and tells the same story there.
func TestBackupIsCheckedAndRestored(t *testing.T) {
	s := aTalk(t)
	s.done(t, "", "backup", "monday.db")
	copied := filepath.Join(s.folder, "monday.db")
	before := sumOf(t, copied)
	checked := answerOf[checkedBackup](t, s, "backup", "--check", "monday.db", "-o", "json")
	if len(checked.Findings) > 0 || checked.SHA256 != before || sumOf(t, copied) != before {
		t.Errorf("check says %+v", checked)
	}
	if _, errs, code := s.do(t, "", "restore", "monday.db"); code != apperr.Usage || !strings.Contains(errs, "not empty") {
		t.Errorf("restore over a record: exit %s: %s", code, errs)
	}
	restored := answerOf[backupAnswer](t, s, "restore", "monday.db", "--data", filepath.Join(s.folder, "elsewhere"), "-o", "json")
	if restored.SHA256 != before {
		t.Errorf("restored %+v", restored)
	}
	info, err := os.Stat(filepath.Join(s.folder, "elsewhere", "trestle.db"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("restored as %v, %v", info, err)
	}
	was := answerOf[[]api.RunRow](t, s, "runs", "-o", "json")
	is := answerOf[[]api.RunRow](t, s, "runs", "-o", "json", "--data", filepath.Join(s.folder, "elsewhere"))
	if len(was) != 1 || len(is) != 1 || was[0].Run != is[0].Run {
		t.Errorf("runs were %+v and are %+v", was, is)
	}
}

func TestBrokenBackupIsRefused(t *testing.T) {
	s := aTalk(t)
	s.done(t, "", "backup", "whole.db")
	whole, err := os.ReadFile(filepath.Join(s.folder, "whole.db"))
	testutil.OK(t, err)
	for name, text := range map[string][]byte{
		"empty.db": {}, "text.db": []byte(strings.Repeat("this is no database\n", 300)),
		"cut.db": whole[:len(whole)/2], "spoilt.db": slices.Concat(whole[:8192], make([]byte, 16384), whole[8192+16384:]),
	} {
		testutil.OK(t, os.WriteFile(filepath.Join(s.folder, name), text, 0o600))
		if out, errs, code := s.do(t, "", "backup", "--check", name); code != apperr.Failed && name != "empty.db" {
			t.Errorf("check of %s: exit %s: %s%s", name, code, out, errs)
		}
		if name == "empty.db" {
			continue // to the engine it is a database in which nothing happened yet
		}
		if _, _, code := s.do(t, "", "restore", name, "--data", filepath.Join(s.folder, "from-"+name)); code != apperr.Failed {
			t.Errorf("restore of %s: exit %s", name, code)
		}
		if _, err := os.Stat(filepath.Join(s.folder, "from-"+name, "trestle.db")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s was put in place: %v", name, err)
		}
	}
}

// ECOSYSTEM 3.2, SECURITY S16: the bundle says what is inside before it is
// written, and holds neither credentials nor words of people.
func TestReportHoldsNoSecretsAndNoWords(t *testing.T) {
	s := stage0(t)
	s.env = "TELEGRAM_BOT_TOKEN=7001:planted-secret\nTELEGRAM_API_URL=http://127.0.0.1:1\nOPENAI_API_KEY=sk-planted-key"
	quiet := stage{folder: s.folder}
	quiet.done(t, "the planted words\n", "chat")
	out, errs, code := s.do(t, "", "report", "--out", "bundle.tar.gz")
	if code != apperr.Done || !strings.HasPrefix(out, "version.json") {
		t.Fatalf("exit %s: %s%s", code, out, errs)
	}
	files := unpack(t, filepath.Join(s.folder, "bundle.tar.gz"))
	for name, text := range files {
		if !strings.Contains(out, filepath.Base(name)) {
			t.Errorf("%s was not announced", name)
		}
		for _, planted := range []string{"planted-secret", "planted-key", "planted words"} {
			if strings.Contains(text, planted) {
				t.Errorf("%s holds %q", name, planted)
			}
		}
	}
	var v buildinfo.BuildInfo
	if err := json.Unmarshal([]byte(files["trestle-report/version.json"]), &v); err != nil || v.Schema == 0 {
		t.Errorf("versions are %+v, %v", v, err)
	}
	if !strings.Contains(files["trestle-report/config.json"], `"***"`) || !strings.Contains(files["trestle-report/status.json"], "ada/home") {
		t.Errorf("config or status is missing: %v", files)
	}
	info, err := os.Stat(filepath.Join(s.folder, "bundle.tar.gz"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("written as %v, %v", info, err)
	}
	if _, _, code := s.do(t, "", "report", "--out", "bundle.tar.gz"); code != apperr.Failed {
		t.Errorf("a second report over the first: exit %s", code)
	}
}

func unpack(t *testing.T, file string) map[string]string {
	t.Helper()
	zipped, err := gzip.NewReader(mustOpen(t, file))
	testutil.OK(t, err)
	files := map[string]string{}
	for r := tar.NewReader(zipped); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		testutil.OK(t, err)
		text, err := io.ReadAll(r)
		testutil.OK(t, err)
		files[h.Name] = string(text)
	}
}

// ECOSYSTEM 3.2: the files that people posted belong to the record and are not in a
// backup: who makes one is told, and so is who restores it.
func TestBackupTellsWhatLiesBesideIt(t *testing.T) {
	s := aTalk(t)
	if none := answerOf[backupAnswer](t, s, "backup", "none.db", "-o", "json"); none.Beside != "" {
		t.Errorf("without any file: %+v", none)
	}
	data := filepath.Join(s.folder, "data")
	store, err := sqlite.Open(t.Context(), sqlite.Options{Dir: data, NewID: storeopen.NewID})
	testutil.OK(t, err)
	border, account := store.Border(), "telegram:7"
	place, err := border.Open(t.Context(), spaces.OpenRequest{Key: "hub", Name: "Hub", Circle: "home", At: time.Now(), Chats: []spaces.ChatMapping{{Account: account, Chat: "-1", Live: true}}})
	testutil.OK(t, err)
	said := spaces.MessagePosted{Text: "look", Ref: spaces.MessageRef{Account: account, Chat: "-1", Message: "1"}, Attachments: []spaces.FileAttachment{{Kind: "photo", ID: "cat", Size: 5}}}
	_, err = border.Record(t.Context(), spaces.IngestBatch{Account: account, At: time.Now(), Items: []spaces.IngestItem{{
		Event: spaces.Event{Space: place.Space, Object: spaces.ChatObject, At: time.Now(), Source: "1", Body: said},
	}}})
	testutil.OK(t, err)
	wanted, err := border.Wanted(t.Context(), account, time.Now(), 1)
	if err != nil || len(wanted) != 1 {
		t.Fatalf("%d files are wanted, %v", len(wanted), err)
	}
	folder, err := blobs.Open(filepath.Join(data, server.FilesFolder))
	testutil.OK(t, err)
	hash, size, err := folder.Put(strings.NewReader("bytes"))
	testutil.OK(t, err)
	_, err = border.Shelve(t.Context(), media.FetchResult{File: wanted[0], State: media.FileStored, Hash: hash, Bytes: size, At: time.Now()})
	if err = errors.Join(err, store.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	if out, errs, code := s.do(t, "", "backup", "some.db"); code != apperr.Done || !strings.Contains(out, "not in it: copy "+filepath.Join(data, server.FilesFolder)) {
		t.Errorf("exit %s: %s%s", code, out, errs)
	}
	there := filepath.Join(s.folder, "elsewhere")
	if restored := answerOf[backupAnswer](t, s, "restore", "some.db", "--data", there, "-o", "json"); restored.Beside != filepath.Join(there, server.FilesFolder) {
		t.Errorf("restored %+v", restored)
	}
}
