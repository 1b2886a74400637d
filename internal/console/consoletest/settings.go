package consoletest

import (
	"sync"

	"github.com/trestle-bridge/trestle/internal/console"
)

// FakeSettings is a configuration file that is made up: it has one value for each path. Its words are those of
// the program.
type FakeSettings struct {
	Program *FakeProgram

	mu    sync.Mutex // guards made
	made  []console.SettingDiff
	wrong error
}

var _ console.SettingsDesk = (*FakeSettings)(nil)

// Refuse has every change be refused with an error; nil ends it.
func (f *FakeSettings) Refuse(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wrong = err
}

// Setting implements [console.SettingsDesk].
func (f *FakeSettings) Setting(path string) (console.SettingDetail, error) {
	d := console.SettingDetail{SettingRow: console.SettingRow{Path: path, Value: f.Program.text(), Origin: "trestle.yaml:9", Meaning: f.Program.text(), Default: f.Program.text()}, Written: true}
	switch path {
	case "admit":
		d.Words, d.Value = []string{"pairing", "open"}, "pairing"
	case "model.api_key":
		d.Secret, d.Value = true, "***"
	case "listen":
		d.Local, d.Restart = true, true
	case "agents":
		d.Group = true
	case "nothing":
		return console.SettingDetail{}, console.ErrUnknown
	}
	return d, nil
}

// Propose implements [console.SettingsDesk].
func (f *FakeSettings) Propose(c console.SettingChange) (console.SettingDiff, error) {
	f.Program.note("propose " + c.Path + " " + c.Value)
	return f.propose(c)
}

func (f *FakeSettings) propose(c console.SettingChange) (console.SettingDiff, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.wrong != nil {
		return console.SettingDiff{}, f.wrong
	}
	d := console.SettingDiff{Path: c.Path, File: "trestle.yaml", Line: 9, Removed: []string{c.Path + ": " + f.Program.text()}, Writable: c.Path != "agents.ada.name", Seen: "first", At: Started}
	if !c.Reset {
		d.Added = []string{c.Path + ": " + c.Value}
	}
	return d, nil
}

// Apply implements [console.SettingsDesk].
func (f *FakeSettings) Apply(c console.SettingChange) (console.SettingDiff, error) {
	f.Program.note("apply " + c.Path + " " + c.Value)
	d, err := f.propose(c)
	if err == nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.made = append([]console.SettingDiff{d}, f.made...)
	}
	return d, err
}

// Undo implements [console.SettingsDesk].
func (f *FakeSettings) Undo(string) (console.SettingDiff, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.made) == 0 {
		return console.SettingDiff{}, console.ErrUnknown
	}
	last := f.made[0]
	f.made = f.made[1:]
	return last, nil
}

// Changes implements [console.SettingsDesk].
func (f *FakeSettings) Changes() ([]console.SettingDiff, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]console.SettingDiff(nil), f.made...), nil
}
