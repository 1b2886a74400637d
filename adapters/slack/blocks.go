package slack

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/trestle-bridge/trestle/adapters/emoji"
	"github.com/trestle-bridge/trestle/adapters/markup"
)

// block is any block or element of Slack's, with the fields we show of each.
type block struct {
	Type      string              `json:"type"`
	Text      json.RawMessage     `json:"text"` // a string, or a text object
	Style     json.RawMessage     `json:"style"`
	Elements  []json.RawMessage   `json:"elements"`
	Fields    []json.RawMessage   `json:"fields"`
	Rows      [][]json.RawMessage `json:"rows"`
	Title     json.RawMessage     `json:"title"`
	Accessory json.RawMessage     `json:"accessory"` // beside a section
	AltText   string              `json:"alt_text"`
	URL       string              `json:"url"`
	User      string              `json:"user_id"`
	Channel   string              `json:"channel_id"`
	Group     string              `json:"usergroup_id"`
	Range     string              `json:"range"`
	Name      string              `json:"name"`
	Fallback  string              `json:"fallback"`
	Value     string              `json:"value"`
	Language  string              `json:"language"`
	Indent    int                 `json:"indent"`
	Offset    int                 `json:"offset"`
}

// style is how an element's words look.
type style struct {
	Bold   bool `json:"bold"`
	Italic bool `json:"italic"`
	Strike bool `json:"strike"`
	Code   bool `json:"code"`
}

// blocks writes a list of blocks. One that we do not know shows the words it
// has; one that cannot be read is left out.
func (p *page) blocks(raw json.RawMessage) {
	var list []json.RawMessage
	_ = json.Unmarshal(raw, &list) // none is no block
	for _, one := range list {
		var b block
		if json.Unmarshal(one, &b) == nil {
			p.block(b)
			p.breakLine(2)
		}
	}
}

// block writes one block.
func (p *page) block(b block) {
	switch b.Type {
	case "rich_text":
		p.rich(b)
	case "header":
		p.look(markup.Heading, "2", func() { p.write(decodePlainText(b.Text)) })
	case "markdown":
		p.markdown(decodePlainText(b.Text))
	case "divider":
		p.write("———")
	case "image", "video":
		p.write(strings.TrimSpace("["+b.Type+": "+cmp.Or(decodePlainText(b.Title), b.AltText)) + "]")
	case "table":
		p.table(b.Rows)
	case "file", "input", "call":
		// its text is in another part of the message, or it has none
	default: // section, context, actions, and what is yet to come
		p.object(b.Text)
		for _, f := range b.Fields {
			p.breakLine(1)
			p.object(f)
		}
		p.row(b.Elements...)
		p.breakLine(1)
		p.row(b.Accessory)
	}
}

// row writes in one line what a context or a row of buttons shows.
func (p *page) row(elements ...json.RawMessage) {
	gap := ""
	for _, raw := range elements {
		var e block
		if json.Unmarshal(raw, &e) != nil {
			continue
		}
		words := decodePlainText(e.Text)
		switch {
		case e.Type == "image":
			words = strings.TrimSpace("[image: "+e.AltText) + "]"
		case words == "":
			continue
		case e.Type != "mrkdwn" && e.Type != "plain_text":
			words = "[" + words + "]"
		}
		p.write(gap)
		gap = " "
		if e.Type == "mrkdwn" {
			p.mrkdwn(words)
		} else {
			p.write(words)
		}
	}
}

// object writes a text object, or a bare string.
func (p *page) object(raw json.RawMessage) {
	var t struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(raw, &t) == nil && t.Type == "mrkdwn" {
		p.mrkdwn(decodePlainText(raw))
		return
	}
	p.write(decodePlainText(raw))
}

// decodePlainText returns the words of a text object, or a bare string.
func decodePlainText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var t struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(raw, &t) // anything else has no words
	return t.Text
}

// markdown writes standard Markdown with its looks.
func (p *page) markdown(md string) {
	t := incoming.Read(md)
	p.pay()
	at := p.text.Len()
	for _, s := range t.Spans {
		s.From, s.To = s.From+at, s.To+at
		p.spans = append(p.spans, s)
	}
	p.write(t.Words)
}

// rich writes what people type.
func (p *page) rich(b block) {
	numbers := map[int]int{} // the last number by depth
	for _, raw := range b.Elements {
		var e block
		if json.Unmarshal(raw, &e) != nil {
			continue
		}
		if e.Type != "rich_text_list" {
			clear(numbers)
		}
		switch e.Type {
		case "rich_text_list":
			p.list(e, numbers)
		case "rich_text_preformatted":
			p.breakLine(1)
			p.look(markup.Pre, e.Language, func() { p.runs(e.Elements, true) })
			p.breakLine(1)
		case "rich_text_quote":
			p.breakLine(1)
			p.look(markup.Quote, "", func() { p.runs(e.Elements, false) })
			p.breakLine(2)
		default:
			p.runs(e.Elements, false)
		}
	}
}

// list writes the items of a list at one depth.
func (p *page) list(e block, numbers map[int]int) {
	var kind string
	_ = json.Unmarshal(e.Style, &kind) // none is bullets
	if e.Offset > 0 || numbers[e.Indent] == 0 {
		numbers[e.Indent] = e.Offset
	}
	for deeper := range numbers {
		if deeper > e.Indent {
			delete(numbers, deeper)
		}
	}
	for _, raw := range e.Elements {
		var item block
		if json.Unmarshal(raw, &item) != nil {
			continue
		}
		mark := strings.Repeat("   ", max(min(e.Indent, 8), 0)) + "- "
		if kind == "ordered" {
			numbers[e.Indent]++
			mark = fmt.Sprintf("%s%d. ", strings.Repeat("   ", max(min(e.Indent, 8), 0)), numbers[e.Indent])
		}
		p.breakLine(1)
		p.look(markup.Mark, "", func() { p.write(mark) })
		p.runs(item.Elements, false)
		p.breakLine(1)
	}
}

// runs writes the elements of a line of rich text.
func (p *page) runs(elements []json.RawMessage, code bool) {
	for _, raw := range elements {
		var e block
		if json.Unmarshal(raw, &e) != nil {
			continue
		}
		var s style
		if !code {
			_ = json.Unmarshal(e.Style, &s) // none is plain
		}
		p.styled(s, func() { p.run(e) })
	}
}

// styled gives what fill writes the looks of s.
func (p *page) styled(s style, fill func()) {
	for _, l := range []struct {
		on   bool
		look markup.TextStyle
	}{{s.Code, markup.Code}, {s.Strike, markup.Strikethrough}, {s.Italic, markup.Italic}, {s.Bold, markup.Bold}} {
		if l.on {
			inner := fill
			fill = func() { p.look(l.look, "", inner) }
		}
	}
	fill()
}

// run writes one element of rich text.
func (p *page) run(e block) {
	switch e.Type {
	case "text":
		p.write(decodePlainText(e.Text))
	case "link":
		p.link(e.URL, decodePlainText(e.Text))
	case "user":
		p.name(e.User, "")
	case "channel":
		p.channel(e.Channel, "")
	case "usergroup":
		p.write("@" + e.Group)
	case "broadcast":
		p.write("@" + e.Range)
	case "emoji":
		p.write(emoji.Named(e.Name))
	case "date":
		p.write(e.Fallback)
	case "color":
		p.write(e.Value)
	default:
		p.write(cmp.Or(decodePlainText(e.Text), e.Fallback, e.Name, e.URL))
	}
}

// table writes the cells of a table, a row a line.
func (p *page) table(rows [][]json.RawMessage) {
	for i, row := range rows {
		cells := make([]string, len(row))
		for j, raw := range row {
			cell := &page{who: p.who, room: p.room}
			cell.blocks(append(append(json.RawMessage("["), raw...), ']'))
			cells[j] = strings.ReplaceAll(strings.TrimSpace(cell.text.String()), "\n", " ")
			p.people = append(p.people, cell.people...)
		}
		p.breakLine(1)
		p.write(strings.Join(cells, " | "))
		if i == 0 {
			p.breakLine(1)
			p.write(strings.Repeat("—", min(3*max(len(cells), 1), 40)))
		}
	}
}
