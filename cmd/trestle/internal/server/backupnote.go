package server

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"
)

// backupNoteFile is the file in the data folder that says when the record was last
// backed up. The record itself is not written for it: a backup needs no lock.
const backupNoteFile = "backup.json"

// BackupNote is what the note holds.
type BackupNote struct {
	At     time.Time `json:"at"`
	Bytes  int64     `json:"bytes"`
	SHA256 string    `json:"sha256"`
}

// WriteBackupNote writes the note, whole or not at all.
func WriteBackupNote(data string, b BackupNote) error {
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	file := filepath.Join(data, backupNoteFile)
	if err := os.WriteFile(file+".new", text, 0o600); err != nil {
		return err
	}
	return renameDurably(file+".new", file)
}

// LastBackup returns when the record was last backed up; zero when it is unknown.
func LastBackup(data string) time.Time {
	text, err := os.ReadFile(filepath.Join(data, backupNoteFile))
	if err != nil {
		return time.Time{}
	}
	var b BackupNote
	if json.Unmarshal(text, &b) != nil {
		return time.Time{}
	}
	return b.At
}
