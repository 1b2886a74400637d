package telegram

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/trestle-bridge/trestle/adapters"
)

// exportMessage is a message as Telegram Desktop writes it. The format has no
// documentation; the names are those of its source (export_output_json.cpp).
type exportMessage struct {
	ID          int64          `json:"id"`
	Type        string         `json:"type"` // message, service
	Date        string         `json:"date"` // local time of the person who exported
	Unix        string         `json:"date_unixtime"`
	From        string         `json:"from"`
	FromID      string         `json:"from_id"` // user5, channel7, chat9
	ReplyTo     int64          `json:"reply_to_message_id"`
	ReplyPeer   string         `json:"reply_to_peer_id"` // when it answers in another chat
	Forwarded   string         `json:"forwarded_from"`
	Action      string         `json:"action"` // of a service message
	Title       string         `json:"title"`
	Text        exportText     `json:"text"`
	Entities    []exportEntity `json:"text_entities"`
	Photo       string         `json:"photo"`
	PhotoSize   int64          `json:"photo_file_size"`
	File        string         `json:"file"`
	FileName    string         `json:"file_name"`
	FileSize    int64          `json:"file_size"`
	MediaType   string         `json:"media_type"`
	MIME        string         `json:"mime_type"`
	Sticker     string         `json:"sticker_emoji"`
	Performer   string         `json:"performer"`
	PlaceName   string         `json:"place_name"`
	PlaceStreet string         `json:"address"`
	Location    *location      `json:"location_information"`
	Contact     *struct {
		FirstName string `json:"first_name"`
		LastName  string `json:"last_name"`
		Phone     string `json:"phone_number"`
	} `json:"contact_information"`
	Poll *struct {
		Question string `json:"question"`
		Answers  []struct {
			Text string `json:"text"`
		} `json:"answers"`
	} `json:"poll"`
}

// exportText is a text: a string, or a list of strings and styled stretches.
type exportText []exportEntity

// UnmarshalJSON reads both forms.
func (t *exportText) UnmarshalJSON(raw []byte) error {
	var whole string
	if json.Unmarshal(raw, &whole) == nil {
		*t = exportText{{Type: "plain", Text: whole}}
		return nil
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(raw, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		one := exportEntity{Type: "plain"}
		if json.Unmarshal(p, &one.Text) != nil {
			if err := json.Unmarshal(p, &one); err != nil {
				return err
			}
		}
		*t = append(*t, one)
	}
	return nil
}

// exportEntity is a stretch of text with its looks.
type exportEntity struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Href     string `json:"href"`
	Language string `json:"language"`
	UserID   int64  `json:"user_id"`
}

// exportReader makes updates of a chat's messages.
type exportReader struct {
	markdown markdown
	q        ExportQuery
	topics   map[int64]int64  // message to the topic it is in
	titles   map[int64]string // of topics
}

// read makes one update of one message; what it cannot read is Unreadable.
func (x *exportReader) read(raw json.RawMessage) adapters.Update {
	var m exportMessage
	if err := json.Unmarshal(raw, &m); err != nil || m.ID == 0 {
		return adapters.Update{
			ID: "export", Key: "export:" + x.q.Chat + ":" + adapters.HashContent(string(raw)), Chat: x.chat(),
			Body: adapters.UnreadableUpdate{Kind: "exported message", Reason: "its form is unknown"}, Raw: raw,
		}
	}
	topic := x.topic(&m)
	u := adapters.Update{
		ID: "export", Key: x.key(m.ID), Common: x.shared(m.ID), Chat: x.chat(), From: exportPerson(m.FromID, m.From), At: m.at(),
	}
	if topic != 0 {
		u.Thread = adapters.Thread{ID: formatID(topic), Title: x.titles[topic]}
	}
	if m.Type != "message" {
		u.Body = adapters.UnreadableUpdate{Kind: m.Action, Reason: "what happened long ago says nothing of now"}
		u.Raw = raw
		return u
	}
	text, entities := m.words()
	said := adapters.IncomingMessage{
		ID: x.name(m.ID), Text: x.markdown.of(text, entities), Mentions: peopleIn(text, entities, user{}),
		Attachments: m.attachments(), Forwarded: m.Forwarded,
	}
	if m.ReplyTo != 0 && m.ReplyTo != topic && m.ReplyPeer == "" {
		said.ReplyTo = x.name(m.ReplyTo)
	}
	u.Body = said
	return u
}

func (x *exportReader) chat() adapters.Chat {
	kind := adapters.Group
	switch {
	case strings.HasSuffix(x.q.Export.Type, "_channel"):
		kind = adapters.Channel
	case !strings.HasPrefix(x.q.Chat, "-"):
		kind = adapters.Direct
	}
	return adapters.Chat{ID: x.q.Chat, Kind: kind}
}

// shared reports whether a number means the same message to a bot. Messages from
// before a group became a supergroup have numbers of their own, below zero.
func (x *exportReader) shared(id int64) bool { return x.q.Export.Shared() && id > 0 }

// name returns the platform's name of a message, or one that no live message has.
func (x *exportReader) name(id int64) string {
	if x.shared(id) {
		return formatID(id)
	}
	return exported + formatID(id)
}

// exported begins the name of a message that is known by an export alone.
const exported = "export"

// key returns the identity of a message, the same as that of the live one.
func (x *exportReader) key(id int64) string {
	if chat, err := strconv.ParseInt(x.q.Chat, 10, 64); err == nil && x.shared(id) {
		return messageKey(chat, id)
	}
	return "export:" + x.q.Chat + ":" + formatID(id)
}

// topic returns the topic a message is in. Exports name none: the message
// that opened it is answered by all that stand in it, or by what they answer.
func (x *exportReader) topic(m *exportMessage) int64 {
	switch {
	case m.Action == "topic_created":
		x.titles[m.ID] = m.Title
		x.topics[m.ID] = m.ID
	case x.topics[m.ReplyTo] != 0:
		x.topics[m.ID] = x.topics[m.ReplyTo]
	}
	return x.topics[m.ID]
}

// at returns when it was said.
func (m *exportMessage) at() time.Time {
	if n, err := strconv.ParseInt(m.Unix, 10, 64); err == nil {
		return at(n)
	}
	if t, err := time.ParseInLocation("2006-01-02T15:04:05", m.Date, time.Local); err == nil {
		return t.UTC()
	}
	return time.Time{}
}

// exportPerson returns who wrote it. Exports do not tell bots from people; what
// is known live goes before it.
func exportPerson(id, name string) adapters.Person {
	for prefix, person := range map[string]func(int64) adapters.Person{
		"user": func(n int64) adapters.Person { return adapters.Person{ID: formatID(n), Kind: adapters.Human} },
		"channel": func(n int64) adapters.Person {
			return adapters.Person{ID: formatID(superID(n)), Kind: adapters.Service}
		},
		"chat": func(n int64) adapters.Person { return adapters.Person{ID: formatID(-n), Kind: adapters.Service} },
	} {
		digits, ok := strings.CutPrefix(id, prefix)
		n, err := strconv.ParseInt(digits, 10, 64)
		if !ok || err != nil || n <= 0 {
			continue
		}
		p := person(n)
		p.Name = cmp.Or(name, "Deleted Account")
		return p
	}
	return adapters.Person{}
}

// words returns the text and its looks as a live message has them.
func (m *exportMessage) words() (string, []entity) {
	parts := m.Entities
	if len(parts) == 0 {
		parts = m.Text
	}
	var text strings.Builder
	var entities []entity
	units := 0
	for _, p := range parts {
		length := len(utf16.Encode([]rune(p.Text)))
		e := entity{Type: p.Type, Offset: units, Length: length, URL: p.Href, Language: p.Language}
		switch p.Type {
		case "plain":
		case "link":
			e.Type = "url"
		case "mention_name":
			e.Type, e.User = "text_mention", &user{ID: p.UserID, FirstName: strings.TrimPrefix(p.Text, "@")}
		}
		if p.Type != "plain" {
			entities = append(entities, e)
		}
		text.WriteString(p.Text)
		units += length
	}
	return text.String(), entities
}

// exportKinds are a live message's words for Telegram Desktop's kinds of media.
var exportKinds = map[string]string{
	"sticker": "sticker", "voice_message": "voice", "audio_file": "audio", "video_message": "video_note",
	"video_file": "video", "animation": "animation",
}

// attachments returns what m carried. The bytes are not there to be fetched.
func (m *exportMessage) attachments() []adapters.IncomingFile {
	var out []adapters.IncomingFile
	if m.Photo != "" {
		out = append(out, adapters.IncomingFile{Kind: "photo", Size: m.PhotoSize})
	}
	if m.File != "" {
		kind := cmp.Or(exportKinds[m.MediaType], "file")
		name := cmp.Or(m.FileName, strings.TrimPrefix(m.Performer+" - "+m.Title, " - "), m.Sticker)
		if kind == "file" && name == "" && !strings.HasPrefix(m.File, "(") { // "(File not included. …)"
			name = path.Base(m.File)
		}
		out = append(out, adapters.IncomingFile{Kind: kind, Name: name, MIME: m.MIME, Size: m.FileSize})
	}
	things := media{Location: m.Location}
	if c := m.Contact; c != nil {
		out = append(out, adapters.IncomingFile{Kind: "contact", Name: strings.TrimSpace(c.FirstName+" "+c.LastName) + ", " + c.Phone})
	}
	if m.PlaceName != "" && m.Location != nil {
		out = append(out, adapters.IncomingFile{Kind: "venue", Name: fmt.Sprintf("%s, %s (%s)", m.PlaceName, m.PlaceStreet, m.Location)})
		things.Location = nil
	}
	if p := m.Poll; p != nil {
		lines := []string{p.Question}
		for i, a := range p.Answers {
			lines = append(lines, fmt.Sprintf("%d. %s", i+1, a.Text))
		}
		out = append(out, adapters.IncomingFile{Kind: "poll", Name: strings.Join(lines, "\n")})
	}
	return append(out, things.things()...)
}
