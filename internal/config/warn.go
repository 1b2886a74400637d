package config

import (
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
)

// An EntryWarning is something that runs as it is written and should not stay so.
type EntryWarning struct {
	Entry string // its path: "adapters.telegram.token"; empty for the whole file
	Err   Error
	// Serious is true for what `config check` and `doctor` fail at: others can read a
	// credential, for example.
	Serious bool
	// ReadableFile is the file with a credential that others can read; empty for other
	// warnings.
	ReadableFile string
}

// secretSource is how the credentials of one entry are kept.
type secretSource struct {
	entry    string
	literals []Origin
	files    []string
}

// warnSecrets says which credentials stand in the file as they are, and which
// files with credentials others can read.
func (d *decoder) warnSecrets(mode fs.FileMode) {
	open := readableByOthers(mode)
	credentials, _ := d.expand.lookup("CREDENTIALS_DIRECTORY")
	seen := map[string]bool{}
	for _, k := range d.secrets {
		for _, at := range k.literals {
			f := Error{At: at, What: "a credential stands in the file as it is", Remedy: "write ${NAME} or ${file:PATH} instead"}
			if open {
				f.What = fmt.Sprintf("a credential stands in the file as it is, and others can read the file: its mode is %#o", mode.Perm())
				f.Remedy = "chmod 600 " + at.File + ", or write ${NAME} or ${file:PATH} instead"
			}
			w := EntryWarning{Entry: k.entry, Err: f, Serious: open}
			if open {
				w.ReadableFile = at.File
			}
			d.config.Warnings = append(d.config.Warnings, w)
		}
		for _, path := range k.files {
			if seen[path] || IsMountedSecret(path, credentials) {
				continue
			}
			seen[path] = true
			info, err := os.Stat(path)
			if err != nil || !readableByOthers(info.Mode()) {
				continue
			}
			d.config.Warnings = append(d.config.Warnings, EntryWarning{Entry: k.entry, Serious: true, ReadableFile: path, Err: Error{
				At: Origin{File: path}, What: fmt.Sprintf("others can read this file with a credential: its mode is %#o", info.Mode().Perm()),
				Remedy: "chmod 600 " + path,
			}})
		}
	}
}

// IsMountedSecret reports whether a file was put there by a container runtime or a
// service manager, which chooses its mode and keeps others out by itself.
// credentials is the folder that the manager names; empty for none.
func IsMountedSecret(path, credentials string) bool {
	folders := []string{"/run/secrets/", "/var/run/secrets/"}
	if credentials != "" {
		folders = append(folders, credentials+"/")
	}
	return slices.ContainsFunc(folders, func(f string) bool { return strings.HasPrefix(path, f) })
}

// readableByOthers reports whether more than the owner may read a file. Where
// modes do not say, nobody else may.
func readableByOthers(mode fs.FileMode) bool {
	return runtime.GOOS != "windows" && mode.Perm()&0o077 != 0
}

// warnOpenAdmission says where everybody may talk.
func (d *decoder) warnOpenAdmission(top *section) {
	const what, remedy = "everybody who finds the bot may talk to the agents, and what they say costs tokens", "write pairing, unless that is meant"
	if d.config.Admit == "open" {
		d.config.Warnings = append(d.config.Warnings, EntryWarning{Entry: "admit", Err: Error{At: top.positionOf("admit"), What: what, Remedy: remedy}})
	}
	for _, a := range d.config.Adapters {
		if a.Admit == "open" && d.config.Admit != "open" {
			at := d.config.doc.root.get("adapters").get(a.Name).get("admit")
			d.config.Warnings = append(d.config.Warnings, EntryWarning{Entry: "adapters." + a.Name, Err: Error{At: at.origin, What: what, Remedy: remedy}})
		}
	}
}

// warnUnthrottled says where what is sent keeps to no pace.
func (d *decoder) warnUnthrottled(top *section) {
	if d.config.Outgoing == "off" {
		d.config.Warnings = append(d.config.Warnings, EntryWarning{Entry: "limits", Err: Error{
			At:     top.get("limits").get("outgoing").origin,
			What:   "messages are sent faster than platforms allow, which then refuse them or stop the bot, and no budget of tokens holds that the file does not name",
			Remedy: "remove it; off is for tests against a server of one's own",
		}})
	}
	for _, a := range d.config.Adapters {
		if a.Outgoing == "off" {
			at := d.config.doc.root.get("adapters").get(a.Name).get("limits").get("outgoing")
			d.config.Warnings = append(d.config.Warnings, EntryWarning{Entry: "adapters." + a.Name, Err: Error{
				At: at.origin, What: "messages are sent faster than the platform allows, which then refuses them or stops the bot",
				Remedy: "remove it; off is for tests against a server of one's own",
			}})
		}
	}
}

// warnTilde says that only a shell knows what the tilde stands for.
func (d *decoder) warnTilde() {
	if n := d.config.doc.root.get("data"); n != nil && strings.HasPrefix(n.text, "~") {
		d.config.Warnings = append(d.config.Warnings, EntryWarning{Entry: "data", Err: Error{
			At: n.origin, What: "this is a folder called ~, not the home folder", Remedy: "write ${HOME} in place of ~",
		}})
	}
}

// warnSameName says which agents people cannot tell apart.
func (d *decoder) warnSameName() {
	for i, a := range d.config.Agents {
		for _, b := range d.config.Agents[:i] {
			if strings.EqualFold(a.Name, b.Name) {
				d.config.Warnings = append(d.config.Warnings, EntryWarning{Entry: "agents." + a.ID, Err: Error{
					At: d.config.doc.root.get("agents").get(a.ID).origin, What: "it has the name of agents." + b.ID + ", and who calls one by name calls only the first that is there",
					Remedy: "give it a name of its own",
				}})
			}
		}
	}
}
