package toolbox

import (
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"sync"

	"github.com/trestle-bridge/trestle/internal/mcpclient"
)

// PinsFile is the file of the data folder with the tools that were accepted.
const PinsFile = "tools.json"

// A pinFile keeps, for each tool server, the tools that were accepted as they were then. A
// tool is accepted when it is seen for the first time; another description, schema or hint
// makes it another tool.
type pinFile struct {
	path string
	log  *slog.Logger

	mu  sync.Mutex // guards the fields below
	all map[string][]mcpclient.ToolInfo
}

// openPins reads the file. One that cannot be read holds nothing, and is not written over.
func openPins(path string, log *slog.Logger) *pinFile {
	p := &pinFile{path: path, log: log, all: map[string][]mcpclient.ToolInfo{}}
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &p.all)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Error("accepted tools not readable; all are taken for new", "file", path, "error", err)
		p.path = ""
	}
	if p.all == nil {
		p.all = map[string][]mcpclient.ToolInfo{}
	}
	return p
}

// of returns the accepted tools of a server.
func (p *pinFile) of(server string) []mcpclient.ToolInfo {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.all[server])
}

// meet accepts the tools of a list that are new, and returns all that are accepted.
func (p *pinFile) meet(server string, list []mcpclient.ToolInfo) []mcpclient.ToolInfo {
	p.mu.Lock()
	defer p.mu.Unlock()
	fresh := false
	for _, t := range list {
		if !slices.ContainsFunc(p.all[server], func(a mcpclient.ToolInfo) bool { return a.Name == t.Name }) {
			p.all[server] = append(p.all[server], t)
			fresh = true
		}
	}
	if fresh {
		_ = p.save() // it is logged
	}
	return slices.Clone(p.all[server])
}

// accept takes the tools of a list as they are now.
func (p *pinFile) accept(server string, list []mcpclient.ToolInfo) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all[server] = slices.Clone(list)
	return p.save()
}

// save writes the file. p.mu is held.
func (p *pinFile) save() error {
	if p.path == "" {
		return nil
	}
	text, err := json.MarshalIndent(p.all, "", " ")
	if err == nil {
		err = writeWhole(p.path, append(text, '\n'))
	}
	if err != nil {
		p.log.Error("accepted tools not stored", "file", p.path, "error", err)
	}
	return err
}

// writeWhole replaces a file, whole or not at all.
func writeWhole(path string, text []byte) error {
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
