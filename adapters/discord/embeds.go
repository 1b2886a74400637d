package discord

import (
	"fmt"
	"strings"

	"github.com/trestle-bridge/trestle/adapters/markup"
)

// embedWords returns what an embed says.
func (c *messageReader) embedWords(e embed, n mentionNames) string {
	var blocks []string
	title := markup.Escape(e.Title)
	if e.Title != "" && e.URL != "" {
		title = c.linked(e.Title, e.URL)
	}
	if e.Author != nil {
		blocks = append(blocks, markup.Escape(e.Author.Name))
	}
	blocks = append(blocks, title, c.commonMark(e.Description, n))
	for _, f := range e.Fields {
		blocks = append(blocks, markup.Escape(f.Name)+": "+c.commonMark(f.Value, n))
	}
	if e.Image != nil && e.Image.URL != "" {
		blocks = append(blocks, c.linked("image", e.Image.URL))
	}
	if e.Footer != nil {
		blocks = append(blocks, markup.Escape(e.Footer.Text))
	}
	return joinBlocks(blocks...)
}

// linked returns words that lead to an address.
func (c *messageReader) linked(words, address string) string {
	return c.markup.CommonMark(words, []markup.TextSpan{{To: len(words), Look: markup.Link, Arg: address}})
}

// pollResult returns how a poll ended, which Discord tells in an embed of its own
// (docs.discord.com, resources/message#embed-fields-by-embed-type-poll-result-embed-fields).
func (e embed) pollResult() string {
	told := map[string]string{}
	for _, f := range e.Fields {
		told[f.Name] = f.Value
	}
	lines := []string{"Poll closed: " + markup.Escape(told["poll_question_text"])}
	switch votes, all := told["victor_answer_votes"], told["total_votes"]; {
	case told["victor_answer_id"] != "":
		lines = append(lines, fmt.Sprintf("- %s: %s of %s votes", markup.Escape(told["victor_answer_text"]), markup.Escape(votes), markup.Escape(all)))
	case all != "":
		lines = append(lines, fmt.Sprintf("- no answer won; %s votes", markup.Escape(all)))
	}
	return strings.Join(lines, "\n")
}

// maxLayout bounds how deep components nest; Discord's own limit is far below.
const maxLayout = 16

// componentWords returns what components show, in order.
func (c *messageReader) componentWords(list []component, n mentionNames) []string {
	return c.layout(list, n, 0)
}

func (c *messageReader) layout(list []component, n mentionNames, depth int) []string {
	if depth == maxLayout {
		return nil
	}
	var all []string
	for _, one := range list {
		all = append(all, c.shownBy(one, n)...)
		all = append(all, c.layout(one.Components, n, depth+1)...)
		if one.Accessory != nil {
			all = append(all, c.layout([]component{*one.Accessory}, n, depth+1)...)
		}
	}
	return all
}

// Kinds of component that are pictures (docs.discord.com, components/reference).
const thumbnail, mediaGallery = 11, 12

// shownBy returns what one component shows by itself.
func (c *messageReader) shownBy(one component, n mentionNames) []string {
	switch {
	case one.Content != "":
		return []string{c.commonMark(one.Content, n)}
	case one.Label != "":
		return []string{"[" + markup.Escape(one.Label) + "]"}
	case one.Placeholder != "" || len(one.Options) > 0:
		labels := make([]string, len(one.Options))
		for i, o := range one.Options {
			labels[i] = markup.Escape(o.Label)
		}
		return []string{"[" + strings.Trim(markup.Escape(one.Placeholder)+": "+strings.Join(labels, ", "), ": ") + "]"}
	case one.Type == thumbnail:
		return []string{pictured(one.Description)}
	case one.Type == mediaGallery:
		all := make([]string, len(one.Items))
		for i, item := range one.Items {
			all[i] = pictured(item.Description)
		}
		return []string{strings.Join(all, " ")}
	}
	return nil
}

// pictured represents a picture; said is what it shows, if a person has said it.
func pictured(said string) string {
	if said == "" {
		return "[image]"
	}
	return "[image: " + markup.Escape(said) + "]"
}
