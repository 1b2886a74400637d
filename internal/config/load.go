package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// DefaultFile is the name of the configuration file that is looked for in the
// working folder.
const DefaultFile = "trestle.yaml"

// LoadOptions say where the configuration is read from.
type LoadOptions struct {
	Path    string                      // --config; empty looks for trestle.yaml in Folder, then uses the environment
	Data    string                      // --data; wins over everything
	Roles   string                      // --roles; wins over everything
	Folder  string                      // the working folder
	Lookup  func(string) (string, bool) // returns one environment variable
	Environ []string                    // all variables, as NAME=value
	// Text, unless nil, is read in place of what is in the file, which must be there.
	Text *string
	// LocalModel returns the address of a server of models on this machine and the name of
	// a model there, or empty texts. It is called when there is no file and the environment
	// has no endpoint; nil finds none.
	LocalModel func() (baseURL, model string)
}

// InvalidError holds the errors that make a configuration unusable.
type InvalidError struct {
	Text   string // of the file, for excerpts
	Errors []Error
}

// Error lists the errors, one per line.
func (e *InvalidError) Error() string {
	var lines []string
	for _, f := range e.Errors {
		lines = append(lines, f.String())
	}
	return strings.Join(lines, "\n")
}

// Load reads and checks the configuration. Its error, if any, is an [*InvalidError];
// a Config returned with it holds what could be read.
func Load(l LoadOptions) (*Config, error) {
	c := &Config{}
	d := &decoder{config: c, folder: l.Folder, workFolder: l.Folder, expand: expander{lookup: l.Lookup, folder: l.Folder, opened: c.noteFile}}
	path, text, mode, err := l.read()
	if err != nil {
		return nil, err
	}
	if path != "" {
		c.Path = path
		c.noteFile(l.full(path))
		d.folder = filepath.Dir(l.full(path))
		c.PromptFolder = filepath.Join(d.folder, "prompts")
	}
	l = l.withEnvFile(d.folder, c)
	d.expand.folder, d.expand.lookup = d.folder, l.Lookup
	root := &node{kind: mapNode}
	if path != "" {
		root, d.fatal = parseTree(path, text, d.expand)
		if root == nil {
			c.Data = l.fallbackData(d)
			return c, &InvalidError{text, d.fatal}
		}
	} else {
		root.put([]string{"adapters"}, &node{kind: mapNode})
		l.addPlatforms(root)
	}
	if m := root.get("model"); m == nil || m.kind == scalarNode { // a plain model name leaves the endpoint to the environment
		l.addModel(root, path == "")
	}
	c.Problems = append(c.Problems, l.override(root, c.noteFile)...)
	for _, flag := range []struct{ key, text string }{{"data", l.Data}, {"roles", l.Roles}} {
		if flag.text != "" {
			root.put([]string{flag.key}, &node{kind: scalarNode, text: flag.text, origin: ValueOrigin{Flag: "--" + flag.key}})
		}
	}
	c.doc = &document{root, text}
	d.decode(root)
	d.warnSecrets(mode)
	if len(d.fatal) > 0 {
		return c, &InvalidError{text, d.fatal}
	}
	return c, nil
}

// fallbackData returns the data folder when the file is not YAML: that of the flag,
// else of the environment, else the default.
func (l LoadOptions) fallbackData(d *decoder) string {
	set, _ := l.Lookup("TRESTLE_DATA")
	if named := cmp.Or(l.Data, set); named != "" {
		return d.resolvePath(named, ValueOrigin{Flag: "--data"})
	}
	return filepath.Join(d.folder, "data")
}

// read finds and reads the file; the path is empty when there is none.
func (l LoadOptions) read() (path, text string, mode fs.FileMode, err error) {
	path = l.Path
	if path == "" {
		path, _ = l.Lookup("TRESTLE_CONFIG")
	}
	named := path != ""
	if !named {
		path = DefaultFile
	}
	raw, err := readBounded(l.full(path))
	if err == nil && l.Text != nil {
		raw = []byte(*l.Text)
	}
	switch {
	case !named && errors.Is(err, os.ErrNotExist):
		return "", "", 0, nil
	case err == nil && !utf8.Valid(raw):
		err = errNotUTF8
	}
	if err != nil {
		f := Error{At: ValueOrigin{File: path}, What: "the configuration cannot be read: " + reasonOf(err), Remedy: "name a file with --config, or run without one to use the environment"}
		if errors.Is(err, fs.ErrPermission) {
			f.Remedy = "run it as the user who owns the file, or from another folder"
		}
		if errors.Is(err, errNotUTF8) {
			f.Remedy = "save it as UTF-8"
		}
		return "", "", 0, &InvalidError{Errors: []Error{f}}
	}
	info, err := os.Stat(l.full(path))
	if err == nil {
		mode = info.Mode()
	}
	return path, withoutBOM(raw), mode, nil
}

// withoutBOM returns a text without the byte order mark that some editors write.
func withoutBOM(raw []byte) string { return strings.TrimPrefix(string(raw), "\ufeff") }

func (l LoadOptions) full(path string) string { return absoluteFrom(l.Folder, path) }

// maxFile is the largest size of a file that holds the configuration or one value.
const maxFile = 1 << 20

// readBounded reads a file of at most [maxFile] bytes. It refuses pipes and devices,
// which may have no end.
func readBounded(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, errFolder
	case !info.Mode().IsRegular():
		return nil, errNoFile
	case info.Size() > maxFile:
		return nil, errTooLarge
	}
	return os.ReadFile(path)
}

// The reasons why a file is refused.
var (
	errFolder   = errors.New("it is a folder")
	errNoFile   = errors.New("it is no regular file")
	errTooLarge = errors.New("it is larger than 1 MiB")
	errNotUTF8  = errors.New("it is not UTF-8")
)

// reasonOf returns the reason of a file error without the path.
func reasonOf(err error) string {
	if errors.Is(err, os.ErrNotExist) {
		return "it does not exist"
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}

func (c *Config) noteFile(file string) {
	if !slices.Contains(c.files, file) {
		c.files = append(c.files, file)
	}
}

// Files lists the full paths of all files that were read: the configuration first,
// then those that values refer to.
func (c *Config) Files() []string { return slices.Clone(c.files) }

// FileFingerprint returns a text that changes when one of the files is replaced,
// written, created or removed. It does not read the files.
func FileFingerprint(files []string) string {
	var out strings.Builder
	for _, path := range files {
		info, err := os.Stat(path)
		if err != nil {
			fmt.Fprintf(&out, "%s: %s\n", path, reasonOf(err))
			continue
		}
		fmt.Fprintf(&out, "%s: %d %d %o %s\n", path, info.Size(), info.ModTime().UnixNano(), info.Mode(), fileIdentity(info))
	}
	return out.String()
}
