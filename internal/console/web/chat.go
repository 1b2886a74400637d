package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html/template"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/trestle-bridge/trestle/adapters/markup"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/spaces"
)

// chatPages are the pages on which an operator talks with agents.
type chatPages struct{ *Site }

type chatsPage struct {
	pageLayout
	Rooms []console.ChatRoom
}

func (site chatPages) pageChats(*http.Request) (view, error) {
	return &chatsPage{pageLayout{Title: "Chat", Terminal: "trestle chat"}, site.Chat.Rooms()}, nil
}

type chatPage struct {
	pageLayout
	Room    console.ChatRoom
	Rooms   []console.ChatRoom
	Space   spaces.SpaceID
	Lines   []chatLine
	Earlier bool   // there are lines before these
	Line    string // the id of the next line
	Told    string // what the last press was answered
}

// A chatLine is one message of a room.
type chatLine struct {
	Event   spaces.EventID
	Message string // its id on the adapter of these rooms
	Who     string
	Agent   bool
	Mine    bool
	At      time.Time
	Text    string // CommonMark
	Files   []chatFile
	Notes   []string // what happened to it: edited, reactions, not delivered
	Reason  string   // why it woke no agent
	Run     spaces.CycleID
	Buttons []console.ChatButton
	Deleted bool
	place   spaces.MessageRef
	asked   spaces.EventID // the message that an agent's was caused by
	agent   spaces.AgentID
}

// A chatFile is a file of a message.
type chatFile struct {
	Title string
	Path  string
	Image bool
}

// localAccount begins the account of the rooms that Trestle serves itself.
const localAccount = "local:"

// chatLines is how many events of a room its page looks through.
const chatLines = 120

func (site chatPages) pageChat(r *http.Request) (view, error) {
	key := r.PathValue("room")
	rooms := site.Chat.Rooms()
	i := slices.IndexFunc(rooms, func(c console.ChatRoom) bool { return c.Key == key })
	if i < 0 {
		return nil, console.ErrUnknown
	}
	seat, err := site.Chat.Enter(r.Context(), key)
	if err != nil {
		return nil, err
	}
	defer seat.Leave(r.Context())
	p := &chatPage{
		pageLayout: pageLayout{Title: rooms[i].Name, Terminal: rooms[i].Terminal, Chat: true}, Room: rooms[i], Rooms: rooms, Space: seat.Space(),
		Line: newLineID(), Told: r.URL.Query().Get("told"),
	}
	log, err := site.Store.Log(r.Context(), p.Space, 0, chatLines)
	if err != nil {
		return nil, err
	}
	p.Earlier = len(log) == chatLines
	slices.Reverse(log)
	p.Lines, err = site.linesOf(r.Context(), log, rooms[i])
	return p, err
}

// newLineID returns an id for a line that is not said yet: a form that is sent twice says it once.
func newLineID() string { return uuid.Must(uuid.NewV7()).String() }

// linesOf returns the messages of a log, oldest first, as they stand now.
func (site chatPages) linesOf(ctx context.Context, log []console.LogLine, room console.ChatRoom) ([]chatLine, error) {
	var ids []spaces.EntityID
	for _, l := range log {
		ids = append(ids, l.Event.Actor)
	}
	slices.Sort(ids)
	names, err := site.Store.Names(ctx, slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	b := chatBuilder{words: site.ReasonWords, hint: room.Hint, names: names, buttons: site.Chat.Buttons(room.Key), woke: map[spaces.EventID][]console.GateMark{}}
	for _, l := range log {
		b.add(l)
	}
	return slices.DeleteFunc(b.lines, func(l chatLine) bool { return l.Deleted }), nil
}

// A chatBuilder puts messages together with what was done to them later.
type chatBuilder struct {
	words   func(reason string) string
	hint    string // how agents are woken
	names   map[spaces.EntityID]spaces.Entity
	buttons map[string][]console.ChatButton
	woke    map[spaces.EventID][]console.GateMark
	lines   []chatLine
}

func (b *chatBuilder) add(l console.LogLine) {
	e := l.Event
	b.woke[e.ID] = l.Marks
	switch v := e.Body.(type) { //nolint:gochecksumtype // the rest is no part of a conversation
	case spaces.MessagePosted:
		b.lines = append(b.lines, b.posted(l, v))
	case spaces.MessageEdited:
		if m := b.message(v.Target, v.Ref); m != nil {
			m.Text = v.Text
			m.note("edited")
		}
	case spaces.MessageDeleted:
		if m := b.message(v.Target, v.Ref); m != nil {
			m.Deleted = true
		}
	case spaces.ReactionAdded:
		if m := b.message(v.Target, v.Ref); m != nil {
			m.note(v.Emoji + " " + console.NameOf(e.Actor, b.names))
		}
	case spaces.ReactionRemoved:
		if m := b.message(v.Target, v.Ref); m != nil {
			m.Notes = slices.DeleteFunc(m.Notes, func(note string) bool { return note == v.Emoji+" "+console.NameOf(e.Actor, b.names) })
		}
	case spaces.VoiceTranscribed:
		if m := b.message(v.Target, spaces.MessageRef{}); m != nil {
			m.note("heard: " + v.Text)
		}
	case spaces.SendFailed:
		if m := b.message(v.Message, spaces.MessageRef{}); m != nil {
			m.note(string(v.State) + console.Because(v.Reason))
		}
	case spaces.UnreadableUpdate:
		if m := b.message(e.ReplyTo, spaces.MessageRef{}); m != nil && v.What == spaces.AttachmentMissing {
			m.note("not fetched" + console.Because(v.Reason))
		}
	}
}

// note adds what happened to a message, once.
func (l *chatLine) note(what string) {
	if !slices.Contains(l.Notes, what) {
		l.Notes = append(l.Notes, what)
	}
}

// message returns the line of a message by its event or its place; nil if it is not among them.
func (b *chatBuilder) message(id spaces.EventID, ref spaces.MessageRef) *chatLine {
	for i := range b.lines {
		if l := &b.lines[i]; l.Event == id || !ref.IsZero() && l.place == ref {
			return l
		}
	}
	return nil
}

// unaddressed are the gate's reasons for messages that name no agent.
var unaddressed = []string{"ambient", "wake_none", "seen", "sampled"}

func (b *chatBuilder) posted(l console.LogLine, m spaces.MessagePosted) chatLine {
	e := l.Event
	line := chatLine{Event: e.ID, Who: console.NameOf(e.Actor, b.names), At: e.At, Text: m.Text, place: m.Ref, asked: e.Cause}
	line.agent, line.Agent = e.Actor.IsAgent()
	line.Mine = strings.HasPrefix(m.Ref.Account, localAccount) && !line.Agent
	for n, a := range m.Attachments {
		line.Files = append(line.Files, chatFile{
			Title: cmp.Or(a.Name, a.Kind), Path: fmt.Sprintf("/files/%s/%d", e.ID, n), Image: inlineImages[a.MIME],
		})
	}
	for _, p := range l.Places {
		if strings.HasPrefix(p.Account, localAccount) {
			line.Message = p.Message
			line.Buttons = append(line.Buttons, b.buttons[p.Message]...)
		}
	}
	var awake bool
	for _, k := range l.Marks {
		if awake = awake || k.Run != "" || k.State == spaces.RowReady; k.Reason != "" && line.Reason == "" {
			line.Reason = "not answered: " + b.words(k.Reason)
			if b.hint != "" && slices.Contains(unaddressed, k.Reason) {
				line.Reason = "not addressed: " + b.hint
			}
		}
	}
	if awake || line.Agent {
		line.Reason = ""
	}
	for _, k := range b.woke[e.Cause] {
		if k.Mind.Agent == line.agent && line.Agent {
			line.Run = k.Run
		}
	}
	return line
}

// maxChatForm bounds a line with its files.
const maxChatForm = 64 << 20

// pageSay says a line with its files, and shows the room.
func (site chatPages) pageSay(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxChatForm)
	if err := r.ParseMultipartForm(8 << 20); err != nil && !errors.Is(err, http.ErrNotMultipart) {
		site.respond.Fail(w, r, http.StatusRequestEntityTooLarge, "the line could not be read: a line with its files may have 64 MB")
		return
	}
	line := console.ChatLine{ID: r.PostFormValue("line"), Text: strings.TrimSpace(r.PostFormValue("text"))}
	if line.ID != "" && uuid.Validate(line.ID) != nil {
		site.respond.NotFound(w, r)
		return
	}
	if r.MultipartForm != nil {
		defer func() { _ = r.MultipartForm.RemoveAll() }() // of temporary files; the system removes what is left
		for _, h := range r.MultipartForm.File["file"] {
			f, err := h.Open()
			if err != nil {
				site.respond.FailInternal(w, r, err)
				return
			}
			defer f.Close()
			line.Files = append(line.Files, console.ChatUpload{Name: h.Filename, MIME: h.Header.Get("Content-Type"), Size: h.Size, Body: f})
		}
	}
	if line.Text == "" && len(line.Files) == 0 {
		http.Redirect(w, r, chatPath(r), http.StatusSeeOther)
		return
	}
	if _, err := site.Chat.Say(r.Context(), r.PathValue("room"), line); err != nil {
		site.respond.FailFor(w, r, err)
		return
	}
	http.Redirect(w, r, chatPath(r), http.StatusSeeOther)
}

// pagePress presses a button below a message, and shows the room with what came of it.
func (site chatPages) pagePress(w http.ResponseWriter, r *http.Request) {
	told, err := site.Chat.Press(r.Context(), r.PathValue("room"), r.PostFormValue("message"), r.PostFormValue("value"))
	if err != nil {
		site.respond.FailFor(w, r, err)
		return
	}
	path := chatPath(r)
	if told != "" {
		path += "?told=" + template.URLQueryEscaper(told)
	}
	http.Redirect(w, r, path, http.StatusSeeOther)
}

func chatPath(r *http.Request) string {
	return "/chat/" + template.URLQueryEscaper(r.PathValue("room"))
}

// inlineImages are the pictures that a page shows; every other file is saved by the browser.
var inlineImages = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true}

// pageFile sends a file of a message. Nothing of it runs: a picture is shown as the kind its
// first bytes tell, and everything else is an attachment.
func (site chatPages) pageFile(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.PathValue("n"))
	if err != nil {
		site.respond.NotFound(w, r)
		return
	}
	f, err := site.OpenFile(r.Context(), spaces.EventID(r.PathValue("event")), n)
	if err != nil {
		site.respond.FailInternal(w, r, err)
		return
	}
	defer f.Body.Close()
	head := make([]byte, 512)
	got, err := io.ReadFull(f.Body, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		site.respond.FailInternal(w, r, err)
		return
	}
	head = head[:got]
	kind := http.DetectContentType(head)
	disposition := "inline"
	if !inlineImages[kind] {
		kind, disposition = "application/octet-stream", mime.FormatMediaType("attachment", map[string]string{"filename": cmp.Or(f.Name, "file")})
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", cmp.Or(disposition, "attachment"))
	w.Header().Set("Content-Security-Policy", "default-src 'none'; sandbox")
	if _, err := w.Write(head); err == nil {
		_, _ = io.Copy(w, f.Body) // the reader has gone; the error cannot be reported
	}
}

// pageMarkdown returns CommonMark that anyone may have written as HTML for a page.
func pageMarkdown(md string) template.HTML {
	return template.HTML(console.Plain(markup.HTML(md))) //nolint:gosec // [markup.HTML] lets nothing of others through
}
