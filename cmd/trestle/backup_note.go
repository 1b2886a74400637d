package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"
)

// backupNoteFile is the file in the data folder that says when the record was last
// backed up. The record itself is not written for it: a backup needs no lock.
const backupNoteFile = "backup.json"

// backupNote is what the note holds.
type backupNote struct {
	At     time.Time `json:"at"`
	Bytes  int64     `json:"bytes"`
	SHA256 string    `json:"sha256"`
}

// writeBackupNote writes the note, whole or not at all.
func writeBackupNote(data string, b backupNote) error {
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

// lastBackup returns when the record was last backed up; zero when nobody knows.
func lastBackup(data string) time.Time {
	text, err := os.ReadFile(filepath.Join(data, backupNoteFile))
	if err != nil {
		return time.Time{}
	}
	var b backupNote
	if json.Unmarshal(text, &b) != nil {
		return time.Time{}
	}
	return b.At
}
