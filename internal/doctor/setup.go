package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/trestle-bridge/trestle/adapters"
)

// A CheckedSetup is the configuration as an examination sees it.
type CheckedSetup struct {
	Summary  string // of a configuration that is fine
	Entries  []BrokenEntry
	Warnings []SetupWarning
	// Folder is the data folder; empty when it is not looked at.
	Folder string
}

// A BrokenEntry cannot run as it is written.
type BrokenEntry struct {
	Path string
	What string
	Mend string
}

// A SetupWarning is something that runs as it is written and should not stay so.
type SetupWarning struct {
	What  string
	Mend  string
	Grave bool   // others can read a credential, for example
	File  string // that only its owner should be able to read; empty for none
	Name  string // of the file, as people wrote it; empty when they wrote File
}

// Examine returns what is wrong with the configuration.
func (s CheckedSetup) Examine(context.Context) []adapters.AccountDiagnosis {
	var found []adapters.AccountDiagnosis
	for _, e := range s.Entries {
		found = append(found, Fail("TRS-C01", e.Path+" is misconfigured: "+e.What, cmp.Or(e.Mend, "trestle config check shows the line")))
	}
	for _, c := range s.Warnings {
		level := Warn
		if c.Grave {
			level = Fail
		}
		mend := c.Mend
		if readable(c.File) {
			mend += ", or trestle doctor --fix"
		}
		found = append(found, level("TRS-C03", c.What, mend))
	}
	if len(found) == 0 {
		return []adapters.AccountDiagnosis{Fine(s.Summary)}
	}
	return found
}

// readable reports whether users beside its owner can read a file.
func readable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().Perm()&0o077 != 0
}

// Fix takes away from others the right to read what is only the owner's.
func (s CheckedSetup) Fix(context.Context) (changed []string, err error) {
	shut := func(path, name string, mode fs.FileMode) {
		if !readable(path) {
			return
		}
		if e := os.Chmod(path, mode); e != nil {
			err = errors.Join(err, e)
			return
		}
		changed = append(changed, fmt.Sprintf("%s has mode %04o", name, mode))
	}
	for _, c := range s.Warnings {
		if c.File != "" {
			shut(c.File, cmp.Or(c.Name, c.File), 0o600)
		}
	}
	if s.Folder != "" {
		shut(s.Folder, s.Folder, 0o700)
	}
	return changed, err
}
