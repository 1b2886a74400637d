package hook

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"text/template"
	"unicode"
	"unicode/utf8"

	"github.com/trestle-bridge/trestle/adapters"
)

// Bounds of one event, in bytes, and in files.
const (
	maxText  = 64 << 10
	maxName  = 100
	maxFiles = 10
)

// An event is what a program posts.
type event struct {
	Text    *string         `json:"text"`
	From    string          `json:"from"`     // the program; empty: the hook
	Chat    string          `json:"chat"`     // empty: DefaultChat
	Thread  string          `json:"thread"`   // empty: the chat itself
	ReplyTo string          `json:"reply_to"` // the id of the message answered
	Files   []eventFile     `json:"files"`
	Data    json.RawMessage `json:"data"`
}

// An eventFile is one file of an event.
type eventFile struct {
	Name    string `json:"name"`
	Type    string `json:"type"`    // media type; empty: by the content
	Content string `json:"content"` // in base64
}

// errIgnored is why an event has no message: the template gives it no text.
var errIgnored = errors.New("the text template gives no text for this body")

// ParseText parses the template of an event's text, in the language of text/template. An
// empty source is no template.
func ParseText(source string) (*template.Template, error) {
	if source == "" {
		return nil, nil
	}
	t, err := template.New("text").Parse(source)
	if err != nil {
		return nil, fmt.Errorf("the template of the text does not parse: %s", strings.TrimPrefix(err.Error(), "template: "))
	}
	return t, nil
}

// readEvent reads a body: JSON, a form with the same keys, or plain text. With a template any
// JSON will do, and the whole of it is the data of the event.
func readEvent(contentType string, body []byte, text *template.Template) (event, error) {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil && contentType != "" {
		return event{}, errors.New("the Content-Type cannot be read: send application/json")
	}
	if !utf8.Valid(body) {
		return event{}, errors.New("the body is not UTF-8")
	}
	var e event
	switch {
	case kind == "text/plain":
		if text != nil {
			return event{}, errors.New("this hook makes its text of JSON by a template: send application/json")
		}
		said := string(body)
		e.Text = &said
	case kind == "application/x-www-form-urlencoded":
		if body, err = formBody(body); err != nil {
			return event{}, err
		}
		e, err = readJSON(body, text)
	case kind == "" || kind == "application/json" || strings.HasSuffix(kind, "+json"):
		e, err = readJSON(body, text)
	default:
		err = fmt.Errorf("a body of this Content-Type is not read: send application/json")
	}
	if err != nil {
		return event{}, err
	}
	return e, e.check()
}

// formBody returns a form as JSON. GitHub can send its JSON as the one value of a form.
func formBody(body []byte) ([]byte, error) {
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, errors.New("the body is no form: to send JSON, set the header Content-Type: application/json")
	}
	if len(form) == 1 && form.Has("payload") {
		return []byte(form.Get("payload")), nil
	}
	fields := map[string]string{}
	for name := range form {
		fields[name] = form.Get(name)
	}
	out, err := json.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("read the form: %w", err)
	}
	return out, nil
}

func readJSON(body []byte, text *template.Template) (event, error) {
	var e event
	d := json.NewDecoder(bytes.NewReader(body))
	if text != nil {
		d.UseNumber() // ids stay whole
		var value any
		if err := decodeWhole(d, &value); err != nil {
			return e, err
		}
		said := limitedText{left: maxText}
		if err := text.Execute(&said, value); err != nil {
			return e, fmt.Errorf("the text template does not fit this body: %s", strings.TrimPrefix(err.Error(), "template: "))
		}
		words := strings.ToValidUTF8(strings.TrimSpace(said.String()), "\uFFFD")
		if words == "" {
			return e, errIgnored
		}
		e.Text, e.Data = &words, body
		return e, nil
	}
	d.DisallowUnknownFields()
	return e, decodeWhole(d, &e)
}

// decodeWhole decodes the one value that the body is.
func decodeWhole(d *json.Decoder, into any) error {
	err := d.Decode(into)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("something follows the value")
		}
	}
	if err != nil {
		return fmt.Errorf("the body is not the JSON that is read here: %s. Its keys are text, from, chat, thread, reply_to, files and data", strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// limitedText is a text of at most left further bytes.
type limitedText struct {
	strings.Builder
	left int
}

// Write adds p whole, or fails.
func (t *limitedText) Write(p []byte) (int, error) {
	if len(p) > t.left {
		return 0, fmt.Errorf("the text has more than %d bytes", maxText)
	}
	t.left -= len(p)
	return t.Builder.Write(p)
}

// check returns what the sender has to change.
func (e *event) check() error {
	if string(e.Data) == "null" {
		e.Data = nil
	}
	switch {
	case e.Text == nil && len(e.Files) == 0 && e.Data == nil:
		return errors.New("the event has no text: send {\"text\": \"…\"}, or have the operator write a template under text of this hook")
	case e.Text != nil && len(*e.Text) > maxText:
		return fmt.Errorf("the text has %d bytes, and %d is the most: send the rest as a file", len(*e.Text), maxText)
	case len(e.Files) > maxFiles:
		return fmt.Errorf("the event has %d files, and %d is the most", len(e.Files), maxFiles)
	}
	for _, n := range []struct{ key, value string }{{"from", e.From}, {"chat", e.Chat}, {"thread", e.Thread}, {"reply_to", e.ReplyTo}} {
		if !isName(n.value) && n.value != "" {
			return fmt.Errorf("%s has more than %d bytes, or characters that are not shown", n.key, maxName)
		}
	}
	return nil
}

// isName reports whether text can be a name or an id: short, and on one line.
func isName(text string) bool {
	return text != "" && len(text) <= maxName && strings.TrimSpace(text) == text && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// A storedFile is a file that has a name and bytes.
type storedFile struct {
	name, media string
	content     []byte
}

// contents returns the files of an event, the last of them its data.
func (e *event) contents() ([]storedFile, error) {
	var all []storedFile
	for i, f := range e.Files {
		content, err := base64.StdEncoding.DecodeString(f.Content)
		if err != nil {
			return nil, fmt.Errorf("the content of file %d is not base64", i+1)
		}
		s := storedFile{name: f.Name, media: f.Type, content: content}
		if s.name == "" {
			s.name = fmt.Sprintf("file-%d", i+1)
		}
		if s.media == "" {
			s.media = http.DetectContentType(content)
		}
		if !isName(s.name) || strings.ContainsAny(s.name, `/\`) || len(s.media) > maxName {
			return nil, fmt.Errorf("the name or type of file %d is none", i+1)
		}
		all = append(all, s)
	}
	if e.Data != nil {
		all = append(all, storedFile{name: "data.json", media: "application/json", content: e.Data})
	}
	return all, nil
}

// kind returns the contract's word for what a file is.
func (f storedFile) kind() string {
	if strings.HasPrefix(f.media, "image/") {
		return "photo"
	}
	return "file"
}

// message returns the event as a message; its files are stored.
func (e *event) message(id string, files []adapters.IncomingFile) adapters.IncomingMessage {
	m := adapters.IncomingMessage{ID: id, ReplyTo: e.ReplyTo, Attachments: files}
	if e.Text != nil {
		m.Text = *e.Text
	}
	m.ToUs = strings.HasPrefix(e.ReplyTo, replyPrefix)
	m.ByReply = m.ToUs
	return m
}
