package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// changesFile is the file of the data folder that has the last changes of configuration files.
const changesFile = "config.changes.json"

// errChanged is why a file is not written that is not as it was when it was read.
var errChanged = errors.New("the file was changed meanwhile")

// keptChanges is how many changes are kept.
const keptChanges = 5

// A FileChange is a change of a configuration file by a command.
type FileChange struct {
	File   string    `json:"file"` // its whole path
	Path   string    `json:"path"` // of the value
	Before string    `json:"before"`
	After  string    `json:"after"`
	At     time.Time `json:"at"`
}

// WriteChange writes a changed configuration file and keeps what it was. The file is replaced at once and
// keeps its mode; it must still be as it was when it was read.
func WriteChange(data string, c FileChange) error {
	all, err := readChanges(data)
	if err != nil {
		return err
	}
	all = append(all, c)
	if err := writeChanges(data, all[max(0, len(all)-keptChanges):]); err != nil {
		return err
	}
	if err := replaceText(c.File, c.Before, c.After); err != nil {
		return errors.Join(err, writeChanges(data, all[:len(all)-1]))
	}
	return nil
}

// UndoChange takes back the last change of a configuration file, and returns it. The file must be as
// that change left it.
func UndoChange(data, file string) (FileChange, error) {
	all, err := readChanges(data)
	if err != nil {
		return FileChange{}, err
	}
	for i, c := range slices.Backward(all) {
		if c.File != file {
			continue
		}
		if err := replaceText(file, c.After, c.Before); err != nil {
			return c, err
		}
		return c, writeChanges(data, slices.Delete(all, i, i+1))
	}
	return FileChange{}, errors.New("no change of this file is kept")
}

func readChanges(data string) (all []FileChange, err error) {
	text, err := os.ReadFile(filepath.Join(data, changesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("read the changes that were kept: %w", err)
	}
	return all, nil
}

func writeChanges(data string, all []FileChange) error {
	text, err := json.Marshal(all)
	if err == nil {
		err = os.MkdirAll(data, 0o700)
	}
	if err == nil {
		err = replaceFile(filepath.Join(data, changesFile), text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep what the file was: %w", err)
	}
	return nil
}

// replaceText replaces the text of a file that still has the text it had.
func replaceText(file, was, now string) error {
	file, err := filepath.EvalSymlinks(file)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if string(text) != was {
		return errChanged
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	return replaceFile(file, []byte(now), info.Mode().Perm())
}

// replaceFile writes a file whole, or leaves it as it is.
func replaceFile(file string, text []byte, mode fs.FileMode) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temp.Name()) // it may not be there any more
		}
	}()
	_, err = temp.Write(text)
	err = errors.Join(err, temp.Chmod(mode), temp.Sync(), temp.Close())
	if err != nil {
		return err
	}
	return os.Rename(temp.Name(), file)
}
