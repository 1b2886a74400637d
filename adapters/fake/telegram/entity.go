package telegram

import (
	"cmp"
	"strconv"
)

// close adds the entity of a tag that contains something.
func (p *htmlParser) close(tag openTag) error {
	e := TextEntity{Type: htmlTags[tag.name], Offset: tag.offset, Length: p.units - tag.offset}
	switch tag.name {
	case "a":
		if tag.argument == "" {
			tag.argument = string(p.out[tag.begin:])
		}
		var leads bool
		if e, leads = e.link(tag.argument); !leads {
			return nil
		}
	case "tg-time":
		if _, err := strconv.ParseInt(tag.argument, 10, 32); err != nil {
			return nil
		}
	case "tg-emoji":
		if _, err := strconv.ParseInt(tag.argument, 10, 64); err != nil {
			return unparsablef("Invalid custom emoji identifier specified")
		}
		e.Emoji = tag.argument
	case "code":
		e.Language = tag.argument // kept only where a pre covers the same text
		if n := len(p.result); n > 0 && e.Language != "" && p.result[n-1].covers(e, "pre") {
			p.result[n-1].Language = e.Language
			return nil
		}
	case "pre":
		if n := len(p.result); n > 0 && p.result[n-1].Language != "" && p.result[n-1].covers(e, "code") {
			e.Language = p.result[n-1].Language
			p.result = p.result[:n-1]
		}
	case "blockquote":
		if tag.argument != "" {
			e.Type = "expandable_blockquote"
		}
	}
	p.result = append(p.result, e)
	return nil
}

func (e TextEntity) covers(o TextEntity, kind string) bool {
	return e.Type == kind && e.Offset == o.Offset && e.Length == o.Length
}

// priority orders entities that cover the same text, the outer one first.
var priority = map[string]int{
	"blockquote": 1, "expandable_blockquote": 1, "pre": 11, "code": 20, "text_link": 49, "text_mention": 49,
	"bold": 90, "italic": 91, "underline": 92, "strikethrough": 93, "spoiler": 94, "custom_emoji": 99,
}

// order is the platform's: by offset, longer first, then by what the entity is.
func (e TextEntity) order(o TextEntity) int {
	return cmp.Or(cmp.Compare(e.Offset, o.Offset), cmp.Compare(o.Length, e.Length), cmp.Compare(priority[e.Type], priority[o.Type]))
}
