// Package settingsdesk lets operators change the configuration file from the console.
package settingsdesk

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/redact"
)

// A ConfigDesk implements [console.SettingsDesk] over the file that a program was started with. Who uses it is
// known by a credential over the network, so it changes no key that [config.IsLocalKey] names, takes
// no value that refers to a variable or a file, and shows no credential. Make one with [New].
type ConfigDesk struct {
	editor  config.FileEditor
	current func() *config.Config
	known   *redact.SecretRegistry

	writing sync.Mutex
}

var _ console.SettingsDesk = (*ConfigDesk)(nil)

// New returns a desk. source is where the configuration came from, load reads one, and current
// returns the one in force.
func New(source config.LoadOptions, load func(config.LoadOptions) (*config.Config, error), current func() *config.Config) *ConfigDesk {
	d := &ConfigDesk{current: current, known: new(redact.SecretRegistry)}
	d.editor = config.FileEditor{Source: source, Load: func(o config.LoadOptions) (*config.Config, error) {
		c, err := load(o)
		if c != nil {
			d.known.AddSecrets(c.Secrets()...)
		}
		return c, err
	}}
	return d
}

// Setting implements [console.SettingsDesk].
func (d *ConfigDesk) Setting(path string) (console.SettingDetail, error) {
	about, known := config.DescribeKey(path)
	if !known {
		return console.SettingDetail{}, console.ErrUnknown
	}
	detail := console.SettingDetail{
		SettingRow: console.SettingRow{Path: path, Meaning: about.Meaning, Default: about.Default},
		Words:      about.Words, Secret: about.Secret, Group: about.Group, Restart: about.Restart, Local: config.IsLocalKey(path),
	}
	rows := d.current().Rows(config.ShowOptions{All: true})
	if i := slices.IndexFunc(rows, func(r config.ShownValue) bool { return r.Path == path }); i >= 0 {
		detail.Value, detail.Origin = rows[i].Value, rows[i].Origin
	}
	_, err := d.editor.Remove(path)
	detail.Written = err == nil
	return detail, nil
}

// Propose implements [console.SettingsDesk].
func (d *ConfigDesk) Propose(c console.SettingChange) (console.SettingDiff, error) {
	p, err := d.propose(c)
	if err != nil {
		return console.SettingDiff{}, refused(err)
	}
	return d.diff(p), nil
}

func (d *ConfigDesk) propose(c console.SettingChange) (config.ProposedChange, error) {
	switch {
	case config.IsLocalKey(c.Path) && c.Reset:
		return config.ProposedChange{}, &config.EditError{What: "this key is changed on the machine alone", Remedy: "trestle config unset " + c.Path}
	case config.IsLocalKey(c.Path):
		return config.ProposedChange{}, &config.EditError{What: "this key is changed on the machine alone", Remedy: "trestle config set " + c.Path + " VALUE"}
	case c.Reset:
		return d.editor.Remove(c.Path)
	case !config.IsPlainValue(c.Value) && !config.IsSecretKey(c.Path):
		return config.ProposedChange{}, &config.EditError{What: "a value that refers to a variable or a file is written on the machine alone", Remedy: "trestle config set " + c.Path + " VALUE"}
	case config.IsSecretKey(c.Path):
		return d.editor.SetSecret(c.Path, c.Value)
	}
	return d.editor.Set(c.Path, c.Value)
}

// Apply implements [console.SettingsDesk].
func (d *ConfigDesk) Apply(c console.SettingChange) (console.SettingDiff, error) {
	d.writing.Lock()
	defer d.writing.Unlock()
	p, err := d.propose(c)
	if err == nil && p.Variable == "" && fingerprint(p.Before) != c.Seen {
		err = &config.EditError{What: "the file was changed meanwhile", Remedy: "look at the change again"}
	}
	if err == nil {
		if err = d.editor.Write(p, time.Now().UTC()); err != nil {
			err = &config.EditError{What: err.Error(), Remedy: "change it on the machine: " + command(c)}
		}
	}
	if err != nil {
		return console.SettingDiff{}, refused(err)
	}
	return d.diff(p), nil
}

// command returns the command that makes a change on the machine.
func command(c console.SettingChange) string {
	if c.Reset {
		return "trestle config unset " + c.Path
	}
	return "trestle config set " + c.Path + " VALUE"
}

// Undo implements [console.SettingsDesk].
func (d *ConfigDesk) Undo(seen string) (console.SettingDiff, error) {
	d.writing.Lock()
	defer d.writing.Unlock()
	all, err := d.editor.Changes()
	if err == nil {
		switch {
		case len(all) == 0 || version(all[0]) != seen:
			err = &config.EditError{What: "this is not the last change any more", Remedy: "look at the changes again"}
		case config.IsLocalKey(all[0].Path):
			err = &config.EditError{What: "this key is changed on the machine alone", Remedy: "trestle config undo"}
		}
	}
	if err != nil {
		return console.SettingDiff{}, refused(err)
	}
	last, diff, err := d.editor.Undo()
	if err != nil {
		return console.SettingDiff{}, refused(&config.EditError{What: err.Error(), Remedy: "change the file on the machine"})
	}
	return d.diff(config.ProposedChange{FileChange: last, Diff: diff}), nil
}

// Changes implements [console.SettingsDesk].
func (d *ConfigDesk) Changes() ([]console.SettingDiff, error) {
	all, err := d.editor.Changes()
	if err != nil {
		return nil, err
	}
	var out []console.SettingDiff
	for _, c := range all {
		diff := d.diff(config.ProposedChange{FileChange: c, Diff: config.DiffTexts(d.current().Path, c.Path, c.Before, c.After)})
		diff.Seen = version(c)
		for _, lines := range [][]string{diff.Removed, diff.Added} {
			for i := range lines {
				lines[i] = config.MaskLine(lines[i])
			}
		}
		out = append(out, diff)
	}
	return out, nil
}

// diff converts a change. Credentials in its lines are not shown.
func (d *ConfigDesk) diff(p config.ProposedChange) console.SettingDiff {
	out := console.SettingDiff{
		Path: p.Path, File: p.Diff.File, Line: p.Diff.Line, Variable: p.Variable, Restart: p.Diff.Restart, Local: config.IsLocalKey(p.Path),
		Writable: d.editor.CanWrite(), Seen: fingerprint(p.Before), At: p.At,
	}
	for _, l := range p.Diff.Removed {
		out.Removed = append(out.Removed, d.known.HideKnown(l))
	}
	for _, l := range p.Diff.Added {
		out.Added = append(out.Added, d.known.HideKnown(l))
	}
	return out
}

func fingerprint(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

func version(c config.FileChange) string { return c.At.Format(time.RFC3339Nano) }

// A refusal is an error of the editor as the console shows it.
type refusal struct{ *config.EditError }

// Refusal implements [console.UserError].
func (r refusal) Refusal() console.ErrorAnswer {
	return console.ErrorAnswer{Error: r.What, Do: strings.TrimSpace(r.Remedy)}
}

func refused(err error) error {
	if e, ok := errors.AsType[*config.EditError](err); ok {
		return refusal{e}
	}
	return err
}
