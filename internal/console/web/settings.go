package web

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/internal/console"
)

// settingPages are the pages on which an operator reads and changes the configuration.
type settingPages struct{ deskPages }

type settingsPage struct {
	pageLayout
	Find    string
	All     bool // settings that the file does not have, too
	Rows    []console.SettingRow
	Changes []console.SettingDiff
	Tokens  []console.Key
}

func (site settingPages) pageSettings(r *http.Request) (view, error) {
	p := &settingsPage{pageLayout: pageLayout{Title: "Settings", Terminal: "trestle config show --all --origin"}, Find: strings.TrimSpace(r.FormValue("find")), All: r.FormValue("all") != ""}
	words := strings.Fields(strings.ToLower(p.Find))
	for _, row := range site.Settings.Rows() {
		text := strings.ToLower(row.Path + " " + row.Meaning + " " + row.Value)
		lacks := func(word string) bool { return !strings.Contains(text, word) }
		if (p.All || p.Find != "" || row.Origin != "default") && !slices.ContainsFunc(words, lacks) {
			p.Rows = append(p.Rows, row)
		}
	}
	var err error
	if p.Tokens, err = site.Keys.ListKeys(r.Context(), console.KeyToken); err != nil {
		return nil, err
	}
	p.Changes, err = site.Editor.Changes()
	return p, err
}

type settingPage struct {
	pageLayout
	console.SettingDetail
	Done     bool   // a change was just written
	Wanted   string // the value in the field
	Reset    bool   // what is proposed is that the file does not set it
	Proposed *console.SettingDiff
}

// pageSetting shows a key and a field for its value.
func (site settingPages) pageSetting(r *http.Request) (view, error) {
	path := strings.TrimSpace(r.FormValue("path"))
	detail, err := site.Editor.Setting(path)
	p := &settingPage{pageLayout: pageLayout{Title: path, Terminal: "trestle config set " + shellWord(path)}, SettingDetail: detail, Done: r.Method == http.MethodGet && r.FormValue("written") != "", Wanted: detail.Value}
	if p.Terminal += " " + shellWord(detail.Value); detail.Secret || detail.Value == "" {
		p.Terminal = "trestle config set " + shellWord(path) + " VALUE"
	}
	if detail.Secret {
		p.Terminal = strings.TrimSuffix(p.Terminal, " VALUE")
	}
	return p, err
}

// pageProposal shows what a change would do to the file.
func (site settingPages) pageProposal(r *http.Request) (view, error) {
	v, err := site.pageSetting(r)
	if err != nil {
		return nil, err
	}
	p := v.(*settingPage)
	c := changeOf(r)
	d, err := site.Editor.Propose(c)
	if p.Wanted, p.Reset, p.Proposed = c.Value, c.Reset, &d; c.Reset {
		p.Wanted = p.Value
		p.Terminal = "trestle config unset " + shellWord(c.Path)
	} else {
		p.Terminal = "trestle config set " + shellWord(c.Path) + " " + shellWord(c.Value)
	}
	return p, err
}

// pageChangeSetting shows a change, or makes it.
func (site settingPages) pageChangeSetting(w http.ResponseWriter, r *http.Request) {
	if r.PostFormValue("verb") != "apply" {
		site.page("setting", site.pageProposal)(w, r)
		return
	}
	c := changeOf(r)
	_, err := site.Editor.Apply(c)
	site.goOn(w, r, "/settings/change?written=1&path="+url.QueryEscape(c.Path), err)
}

// pageUndoSetting takes back the last change.
func (site settingPages) pageUndoSetting(w http.ResponseWriter, r *http.Request) {
	_, err := site.Editor.Undo(r.PostFormValue("seen"))
	site.goOn(w, r, "/settings#changes", err)
}

func changeOf(r *http.Request) console.SettingChange {
	return console.SettingChange{
		Path: r.PostFormValue("path"), Value: strings.TrimSpace(strings.ReplaceAll(r.PostFormValue("value"), "\r\n", "\n")),
		Reset: r.PostFormValue("reset") != "", Seen: r.PostFormValue("seen"),
	}
}

// shellWord returns a word as it is written in a shell, in quotation marks where it has to be.
func shellWord(text string) string {
	if text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:/@%+,-") == "" {
		return text
	}
	return quoted(text)
}

// documentLink is a link of the documentation in the meaning of a key.
var documentLink = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
