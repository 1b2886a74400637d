package telegram

import (
	"fmt"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
)

// media is what a message can carry beside words.
type media struct {
	Photo     []file `json:"photo"` // sizes of one picture, the largest last
	Voice     *file  `json:"voice"`
	Audio     *file  `json:"audio"`
	Document  *file  `json:"document"`
	Video     *file  `json:"video"`
	Animation *file  `json:"animation"`
	VideoNote *file  `json:"video_note"`
	LivePhoto *file  `json:"live_photo"`
	Sticker   *file  `json:"sticker"`
	PaidMedia *struct {
		Media []struct {
			Type  string `json:"type"`
			Photo []file `json:"photo"`
			Video *file  `json:"video"`
		} `json:"paid_media"`
	} `json:"paid_media"`

	Contact *struct {
		Phone     string `json:"phone_number"`
		FirstName string `json:"first_name"`
		LastName  string `json:"last_name"`
	} `json:"contact"`
	Location *location `json:"location"`
	Venue    *struct {
		Title    string   `json:"title"`
		Address  string   `json:"address"`
		Location location `json:"location"`
	} `json:"venue"`
	Poll *struct {
		Question string `json:"question"`
		Options  []struct {
			Text string `json:"text"`
		} `json:"options"`
	} `json:"poll"`
	Checklist *struct {
		Title string `json:"title"`
		Tasks []struct {
			Text string `json:"text"`
		} `json:"tasks"`
	} `json:"checklist"`
	Dice *struct {
		Emoji string `json:"emoji"`
		Value int    `json:"value"`
	} `json:"dice"`
	Story *struct {
		Chat chat `json:"chat"`
	} `json:"story"`
}

type file struct {
	ID        string `json:"file_id"`
	UniqueID  string `json:"file_unique_id"` // the same for every bot
	Name      string `json:"file_name"`
	MIME      string `json:"mime_type"`
	Size      int64  `json:"file_size"`
	Emoji     string `json:"emoji"`     // a sticker's
	Title     string `json:"title"`     // a track's
	Performer string `json:"performer"` // a track's
}

type location struct {
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
}

// attachments returns what m carries. What is not a file (a place, a poll) has
// no id and says itself in its name.
func (m *media) attachments() []adapters.IncomingFile {
	var out []adapters.IncomingFile
	add := func(kind string, f *file) {
		if f != nil {
			out = append(out, f.attachment(kind))
		}
	}
	add("photo", largest(m.Photo))
	add("voice", m.Voice)
	add("audio", m.Audio)
	add("video", m.Video)
	add("video_note", m.VideoNote)
	add("live_photo", m.LivePhoto)
	add("sticker", m.Sticker)
	add("animation", m.Animation)
	if m.Animation == nil { // which Telegram repeats as a document, for old clients
		add("file", m.Document)
	}
	if m.PaidMedia != nil {
		for _, p := range m.PaidMedia.Media {
			add("photo", largest(p.Photo))
			add("video", p.Video)
		}
	}
	return append(out, m.things()...)
}

// uniqueIDs returns the names that every bot knows the files of m by.
func (m *media) uniqueIDs() []string {
	var ids []string
	for _, f := range []*file{largest(m.Photo), m.Voice, m.Audio, m.Video, m.VideoNote, m.LivePhoto, m.Sticker, m.Animation, m.Document} {
		if f != nil {
			ids = append(ids, f.UniqueID)
		}
	}
	if m.PaidMedia != nil {
		for _, p := range m.PaidMedia.Media {
			for _, f := range []*file{largest(p.Photo), p.Video} {
				if f != nil {
					ids = append(ids, f.UniqueID)
				}
			}
		}
	}
	return ids
}

// things returns what m carries that is not a file.
func (m *media) things() []adapters.IncomingFile {
	var out []adapters.IncomingFile
	add := func(kind, name string) { out = append(out, adapters.IncomingFile{Kind: kind, Name: name}) }
	if c := m.Contact; c != nil {
		add("contact", strings.TrimSpace(c.FirstName+" "+c.LastName)+", "+c.Phone)
	}
	switch { // a venue repeats its location
	case m.Venue != nil:
		add("venue", fmt.Sprintf("%s, %s (%s)", m.Venue.Title, m.Venue.Address, m.Venue.Location))
	case m.Location != nil:
		add("location", m.Location.String())
	}
	if p := m.Poll; p != nil {
		lines := []string{p.Question}
		for i, o := range p.Options {
			lines = append(lines, fmt.Sprintf("%d. %s", i+1, o.Text))
		}
		add("poll", strings.Join(lines, "\n"))
	}
	if l := m.Checklist; l != nil {
		lines := []string{l.Title}
		for _, t := range l.Tasks {
			lines = append(lines, "- "+t.Text)
		}
		add("checklist", strings.Join(lines, "\n"))
	}
	if d := m.Dice; d != nil {
		add("dice", fmt.Sprintf("%s %d", d.Emoji, d.Value))
	}
	if s := m.Story; s != nil {
		add("story", s.Chat.name())
	}
	return out
}

// String returns the place as latitude and longitude.
func (l location) String() string { return fmt.Sprintf("%.6f, %.6f", l.Latitude, l.Longitude) }

// largest returns the last of a picture's sizes, or nil.
func largest(sizes []file) *file {
	if len(sizes) == 0 {
		return nil
	}
	return &sizes[len(sizes)-1]
}

// attachment returns f in the contract's form.
func (f *file) attachment(kind string) adapters.IncomingFile {
	name := f.Name
	switch {
	case name != "":
	case f.Title != "" && f.Performer != "":
		name = f.Performer + " - " + f.Title
	case f.Title != "":
		name = f.Title
	default:
		name = f.Emoji
	}
	return adapters.IncomingFile{Kind: kind, ID: f.ID, Name: name, MIME: f.MIME, Size: f.Size}
}
