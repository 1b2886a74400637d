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

// A Setup is the configuration as an examination sees it.
type Setup struct {
	Summary string // of a configuration that is fine
	Entries []Entry
	// Files hold credentials, or name where they are.
	Files []File
	// Folder is the data folder; empty when it is not looked at.
	Folder string
}

// An Entry cannot run as it is written.
type Entry struct {
	Path string
	What string
	Mend string
}

// A File holds something that others may not read.
type File struct {
	Path    string
	Name    string // as people wrote it; empty when they wrote Path
	Literal bool   // a credential stands in it, not only a reference to one
}

// Examine returns what is wrong with the configuration.
func (s Setup) Examine(context.Context) []adapters.Finding {
	var found []adapters.Finding
	for _, e := range s.Entries {
		mend := e.Mend
		if mend == "" {
			mend = "trestle config check shows the line"
		}
		found = append(found, Fail("TRS-C01", e.Path+" is misconfigured: "+e.What, mend))
	}
	for _, f := range s.Files {
		mode, ok := readable(f.Path)
		if !ok {
			continue
		}
		name := cmp.Or(f.Name, f.Path)
		what := fmt.Sprintf("%s can be read by other users: mode %04o", name, mode)
		mend := "chmod 0600 " + name + ", or trestle doctor --fix"
		if f.Literal {
			found = append(found, Fail("TRS-C03", what+", and holds credentials", mend))
			continue
		}
		found = append(found, Warn("TRS-C03", what, mend))
	}
	if len(found) == 0 {
		return []adapters.Finding{Fine(s.Summary)}
	}
	return found
}

// readable returns the mode of a file that users beside its owner can read.
func readable(path string) (fs.FileMode, bool) {
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return 0, false
	}
	return info.Mode().Perm(), true
}

// Fix takes away from others the right to read what is only the owner's.
func (s Setup) Fix(context.Context) (changed []string, err error) {
	shut := func(path, name string, mode fs.FileMode) {
		if _, bad := readable(path); !bad {
			return
		}
		if e := os.Chmod(path, mode); e != nil {
			err = errors.Join(err, e)
			return
		}
		changed = append(changed, fmt.Sprintf("%s has mode %04o", name, mode))
	}
	for _, f := range s.Files {
		shut(f.Path, cmp.Or(f.Name, f.Path), 0o600)
	}
	if s.Folder != "" {
		shut(s.Folder, s.Folder, 0o700)
	}
	return changed, err
}
