package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"
)

// backupNote is the file in the data folder that says when the record was last
// backed up. The record itself is not written for it: a backup needs no lock.
const backupNote = "backup.json"

// backedUp is what the note holds.
type backedUp struct {
	At     time.Time `json:"at"`
	Bytes  int64     `json:"bytes"`
	SHA256 string    `json:"sha256"`
}

// noteBackup writes the note, whole or not at all.
func noteBackup(data string, b backedUp) error {
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	file := filepath.Join(data, backupNote)
	if err := os.WriteFile(file+".new", text, 0o600); err != nil {
		return err
	}
	return rename(file+".new", file)
}

// lastBackup returns when the record was last backed up; zero when nobody knows.
func lastBackup(data string) time.Time {
	text, err := os.ReadFile(filepath.Join(data, backupNote))
	if err != nil {
		return time.Time{}
	}
	var b backedUp
	if json.Unmarshal(text, &b) != nil {
		return time.Time{}
	}
	return b.At
}
