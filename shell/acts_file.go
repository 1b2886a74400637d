package shell

import (
	"cmp"
	"path"
	"regexp"
	"strings"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/spaces"
)

type sendFile struct {
	Message string `json:"message,omitempty" jsonschema:"id of the message whose file is sent on, such as #a7"`
	File    string `json:"file,omitempty" jsonschema:"name of that file, when the message has several"`
	Name    string `json:"name,omitempty" jsonschema:"name of a new file, such as plan.md; txt, md, csv or json"`
	Content string `json:"content,omitempty" jsonschema:"what the new file says"`
	Text    string `json:"text,omitempty" jsonschema:"what to say with it, as Markdown"`
	Space   string `json:"space,omitempty" jsonschema:"id of another of your spaces; default: the active space"`
	Why     string `json:"why,omitempty" jsonschema:"for another space: what led to this"`
	More    bool   `json:"more,omitempty" jsonschema:"as in send_message"`
}

// perform sends the words and the file as one message of the agent: whatever holds
// of words that it says holds of this.
func (a sendFile) perform(s *stepContext) toolResult {
	from, out := s.room("")
	if from == nil {
		return out
	}
	to, out := s.room(a.Space)
	if to == nil {
		return out
	}
	var f spaces.MessageFile
	if (a.Message == "") == (a.Name == "") {
		return s.deny("bad_arguments", "Either a message whose file is sent, or a name and content of a new one.", "Give one of the two.")
	}
	if a.Message != "" {
		f, out = s.fileOf(from, a.Message, a.File)
	} else {
		f, out = s.written(a.Name, a.Content)
	}
	if f.Kind == "" {
		return out
	}
	text := ""
	if strings.TrimSpace(a.Text) != "" {
		if text, out = s.speech(to, a.Text); text == "" {
			return out
		}
	}
	e := s.effect(spaces.ActSend, to)
	e.Text, e.Files = text, []spaces.MessageFile{f}
	s.speaks(&e, to, a.Why)
	s.more = s.more || a.More
	return s.do(e)
}

// fileOf returns the file of a posted message, by its name if the
// message has several.
func (s *stepContext) fileOf(r *hud.SharedRoom, message, name string) (spaces.MessageFile, toolResult) {
	m := s.message(r, message)
	if m == nil {
		return spaces.MessageFile{}, s.noMessage(message)
	}
	var found []spaces.FileAttachment
	for _, a := range m.Attachments {
		if a.ID != "" && (name == "" || a.Name == name) {
			found = append(found, a)
		}
	}
	switch {
	case len(found) == 0 || len(m.Refs) == 0:
		return spaces.MessageFile{}, s.deny("no_file", "That message has no such file.", "A message that has one shows it, like +photo or +file.")
	case len(found) > 1:
		return spaces.MessageFile{}, s.deny("several_files", "That message has several files.", "Say which, by its name.")
	}
	return spaces.MessageFile{Account: cmp.Or(m.FileAccount, m.Refs[0].Account), FileAttachment: found[0]}, toolResult{}
}

// fileNames are what a file that an agent writes may be called: nothing that a
// machine would run or open in a browser.
var fileNames = regexp.MustCompile(`^[\pL\pN][\pL\pN _.-]{0,79}\.(txt|md|csv|json)$`)

// written returns a file of the agent's own words, which no platform links.
func (s *stepContext) written(name, content string) (spaces.MessageFile, toolResult) {
	if !fileNames.MatchString(name) {
		return spaces.MessageFile{}, s.deny("bad_name", "A file cannot be called that.", "Letters, digits, spaces and -_. with the end .txt, .md, .csv or .json.")
	}
	content, out := s.judged(content)
	if content == "" {
		return spaces.MessageFile{}, out
	}
	media := map[string]string{".txt": "text/plain", ".md": "text/markdown", ".csv": "text/csv", ".json": "application/json"}[path.Ext(name)]
	return spaces.MessageFile{FileAttachment: spaces.FileAttachment{Kind: "file", Name: name, MIME: media, Size: int64(len(content))}, Data: []byte(content)}, toolResult{}
}
