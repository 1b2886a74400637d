package slack

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/markup"
)

// renderedMessage is what a person sees of a message.
type renderedMessage struct {
	text      string // CommonMark
	plain     string // the words alone
	people    []adapters.Person
	forwarded string
}

// words returns what a person sees of m: its blocks where it has any that can be
// shown, else its text, and what hangs on it as attachments. People's own
// messages come as both; the blocks say more.
func (r reader) words(ctx context.Context, m *message) renderedMessage {
	p := &page{
		who:  func(id string) adapters.Person { return r.who(ctx, id, "") },
		room: func(id string) string { return r.c.names.chat(ctx, id, "", r.self.Team).Title },
	}
	p.blocks(m.Blocks)
	if p.empty() {
		p.spans = nil
		p.mrkdwn(m.Text)
	}
	p.attachments(m.Attachments)
	out := renderedMessage{plain: strings.TrimSpace(p.text.String()), people: p.people, forwarded: p.forwarded}
	out.text = incoming.CommonMark(p.finish())
	return out
}

// incoming reads CommonMark as Slack shows it with all it can.
var incoming = markup.New(markup.Options{Headings: 6, Lists: true, Tables: true, Reach: func(address string) (string, markup.LinkPolicy) {
	return address, markup.Linked
}})

// A page is what is being read: words, the looks over them, and who is named.
// Line breaks are owed until more words come.
type page struct {
	who  func(id string) adapters.Person
	room func(id string) string // a channel's name; empty when it is not known

	text      strings.Builder
	spans     []markup.TextSpan
	people    []adapters.Person
	forwarded string
	owed      int
}

func (p *page) empty() bool { return strings.TrimSpace(p.text.String()) == "" }

// breakLine asks for n line breaks before the next words.
func (p *page) breakLine(n int) { p.owed = max(p.owed, n) }

func (p *page) write(words string) {
	if words == "" {
		return
	}
	p.pay()
	p.text.WriteString(words)
}

// pay writes the line breaks that are owed.
func (p *page) pay() {
	if p.text.Len() > 0 {
		p.text.WriteString("\n\n"[:min(p.owed, 2)])
	}
	p.owed = 0
}

// look gives what fill writes a look.
func (p *page) look(l markup.TextStyle, arg string, fill func()) {
	p.pay()
	from := p.text.Len()
	i := len(p.spans)
	p.spans = append(p.spans, markup.TextSpan{})
	fill()
	p.spans[i] = markup.TextSpan{From: from, To: p.text.Len(), Look: l, Arg: arg}
}

// finish returns the words and the looks that are over any.
func (p *page) finish() (string, []markup.TextSpan) {
	words := markup.Legible(strings.TrimRight(p.text.String(), " \t\n"))
	var spans []markup.TextSpan
	for _, s := range p.spans {
		if s.To = min(s.To, len(words)); s.From < s.To {
			spans = append(spans, s)
		}
	}
	return words, spans
}

// name writes a mention of a person and notes it.
func (p *page) name(id, label string) {
	who := p.who(id)
	if who.Name == id && label != "" {
		who.Name = label
	}
	if !slices.ContainsFunc(p.people, func(have adapters.Person) bool { return have.ID == who.ID }) {
		p.people = append(p.people, who)
	}
	p.write("@" + who.Name)
}

// channel writes the name of a channel.
func (p *page) channel(id, label string) {
	if label == "" {
		label = cmp.Or(p.room(id), id)
	}
	p.write("#" + label)
}

// link writes words that lead to an address.
func (p *page) link(address, words string) {
	if words == "" || words == address || "mailto:"+words == address {
		p.look(markup.Address, "", func() { p.write(strings.TrimPrefix(address, "mailto:")) })
		return
	}
	p.look(markup.Link, address, func() { p.write(words) })
}

// attachment is what programs hang on a message: the older way to lay out one.
type attachment struct {
	Fallback  string          `json:"fallback"`
	Pretext   string          `json:"pretext"`
	Author    string          `json:"author_name"`
	Title     string          `json:"title"`
	TitleLink string          `json:"title_link"`
	Text      string          `json:"text"`
	Footer    string          `json:"footer"`
	FromURL   string          `json:"from_url"`
	Original  string          `json:"original_url"`
	Image     string          `json:"image_url"`
	Share     bool            `json:"is_share"`
	Blocks    json.RawMessage `json:"blocks"`
	Fields    []struct {
		Title string `json:"title"`
		Value string `json:"value"`
	} `json:"fields"`
}

// attachments writes the message's attachments as quotes. A preview of a link is left
// out: Slack made it, not the author.
func (p *page) attachments(raw json.RawMessage) {
	var list []json.RawMessage
	_ = json.Unmarshal(raw, &list) // none is no attachment
	for _, one := range list {
		var a attachment
		if json.Unmarshal(one, &a) != nil {
			continue
		}
		if (a.FromURL != "" || a.Original != "") && !a.Share {
			continue
		}
		if a.Share && p.empty() {
			p.forwarded = a.Author
		}
		p.breakLine(2)
		p.mrkdwn(a.Pretext)
		p.breakLine(2)
		p.look(markup.Quote, "", func() { p.attachment(a) })
		p.breakLine(2)
	}
}

// attachment writes one.
func (p *page) attachment(a attachment) {
	before := p.text.Len()
	line := func(write func()) {
		write()
		p.breakLine(1)
	}
	if a.Author != "" {
		line(func() { p.look(markup.Bold, "", func() { p.write(a.Author) }) })
	}
	switch {
	case a.Title != "" && a.TitleLink != "":
		line(func() { p.link(a.TitleLink, unescape(a.Title)) })
	case a.Title != "":
		line(func() { p.look(markup.Bold, "", func() { p.write(unescape(a.Title)) }) })
	}
	at := p.text.Len()
	p.blocks(a.Blocks)
	if p.text.Len() == at {
		line(func() { p.mrkdwn(a.Text) })
	}
	for _, f := range a.Fields {
		line(func() {
			if f.Title != "" {
				p.write(strings.TrimSuffix(unescape(f.Title), ":") + ": ")
			}
			p.mrkdwn(f.Value)
		})
	}
	if a.Image != "" {
		line(func() { p.link(a.Image, "image") })
	}
	if a.Footer != "" {
		line(func() { p.look(markup.Italic, "", func() { p.write(unescape(a.Footer)) }) })
	}
	if p.text.Len() == before {
		p.mrkdwn(a.Fallback)
	}
}
