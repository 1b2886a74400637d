package console

import "time"

// A SettingsDesk changes the configuration file of the program. Its errors in words are each a [UserError].
// Its methods may be called concurrently.
type SettingsDesk interface {
	// Setting returns the key at a path; one that there is not is [ErrUnknown].
	Setting(path string) (SettingDetail, error)
	// Propose returns what a change would do, and changes nothing.
	Propose(c SettingChange) (SettingDiff, error)
	// Apply writes a change that was proposed. It is refused if the file is not what it was then.
	Apply(c SettingChange) (SettingDiff, error)
	// Undo takes back the last change, whose [SettingDiff.Seen] it is given.
	Undo(seen string) (SettingDiff, error)
	// Changes lists the changes that are kept, the newest first; credentials in them are shown as ***.
	Changes() ([]SettingDiff, error)
}

// A SettingDetail is one key of the configuration with its value in force.
type SettingDetail struct {
	SettingRow
	Words   []string // the values it takes, where it takes a few words
	Secret  bool     // it is a credential: its value is not shown, and is written beside the file
	Group   bool     // it has keys of its own, and no value
	Restart bool     // a change counts from the next start on
	Local   bool     // it is changed on the machine alone
	Written bool     // the file sets it
}

// A SettingChange is a value for a key, or the wish that the file does not set it.
type SettingChange struct {
	Path, Value string
	Reset       bool
	Seen        string // by [SettingDiff.Seen], what the file was when the change was proposed; of a credential nothing
}

// A SettingDiff is what a change does to the file.
type SettingDiff struct {
	Path     string
	File     string // as the operator named it
	Line     int    // of the first line that changes, from 1
	Removed  []string
	Added    []string
	Variable string // that a credential is written as
	Restart  bool   // it counts from the next start on
	Local    bool   // it is changed, and taken back, on the machine alone
	Writable bool   // the process may write the file
	Seen     string // of a proposal what the file was, of a change that was made which one it is
	At       time.Time
}
