package telegram

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// entityNames are the four named entities the platform decodes.
var entityNames = map[string]rune{"lt": '<', "gt": '>', "amp": '&', "quot": '"'}

// decodeEntity reads an HTML entity at the head of s and returns its rune and
// length; a length of zero means that s begins with a plain ampersand.
func decodeEntity(s string) (rune, int) {
	i := 1
	if strings.HasPrefix(s, "&#") {
		base, digits := 10, "0123456789"
		i = 2
		if strings.HasPrefix(s[2:], "x") {
			base, digits, i = 16, "0123456789abcdefABCDEF", 3
		}
		end := i
		for end < len(s) && strings.IndexByte(digits, s[end]) >= 0 {
			end++
		}
		n, err := strconv.ParseUint(s[i:end], base, 32)
		if err != nil || n == 0 || n >= 0x10ffff || end-i >= 10 {
			return 0, 0
		}
		return rune(n), end + semicolon(s, end)
	}
	for i < len(s) && (s[i] >= 'a' && s[i] <= 'z' || s[i] >= 'A' && s[i] <= 'Z') {
		i++
	}
	r, ok := entityNames[s[1:i]]
	if !ok {
		return 0, 0
	}
	return r, i + semicolon(s, i)
}

func semicolon(s string, at int) int {
	if at < len(s) && s[at] == ';' {
		return 1
	}
	return 0
}

func lowerASCII(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r >= 'A' && r <= 'Z' }) < 0 {
		return s
	}
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// link returns e as a link to the address, and false when that leads nowhere.
func (e TextEntity) link(address string) (TextEntity, bool) {
	if rest, ok := strings.CutPrefix(strings.ToLower(address), "tg://user?id="); ok {
		id, err := strconv.ParseInt(rest, 10, 64)
		if err == nil && id > 0 {
			e.Type, e.User = "text_mention", &wireUser{ID: id}
			return e, true
		}
	}
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil {
		return e, false
	}
	switch u.Scheme {
	case "tg", "ton", "tonsite":
	case "http", "https":
		if !strings.Contains(u.Host, ".") {
			return e, false
		}
		u.Host = strings.ToLower(u.Host)
		if u.Path == "" {
			u.Path = "/"
		}
	default:
		return e, false
	}
	e.URL = u.String()
	return e, true
}

// trim cuts white space off both ends, as the platform does before it measures,
// and shortens the entities that reached into it.
func trim(text string, entities []TextEntity) (string, []TextEntity) {
	text = strings.TrimRight(text, " \t\r\n\v\x00")
	first := len(text)
	if len(entities) > 0 {
		first = entities[0].Offset
	}
	lead := 0
	for lead < first && lead < len(text) && (text[lead] == ' ' || text[lead] == '\n' || text[lead] == '\t' || text[lead] == '\r') {
		lead++
	}
	text = text[lead:]
	size := lenUTF16(text)
	kept := entities[:0]
	for _, e := range entities {
		e.Offset -= lead
		e.Length = min(e.Length, size-e.Offset)
		if e.Length > 0 {
			kept = append(kept, e)
		}
	}
	return text, kept
}

func lenUTF16(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

// cutUTF16 returns the stretch of s that an entity means; empty when it lies outside.
func cutUTF16(s string, offset, length int) string {
	begin, units := -1, 0
	for i, r := range s {
		if units >= offset && begin < 0 {
			begin = i
		}
		if units >= offset+length {
			return s[begin:i]
		}
		units++
		if r > 0xffff {
			units++
		}
	}
	if begin < 0 || units < offset+length {
		return ""
	}
	return s[begin:]
}

// detect adds the commands, mentions and addresses a text contains to the
// entities it already has, leaving out what lies inside code or a link.
func detect(text string, have []TextEntity) []TextEntity {
	if !strings.ContainsAny(text, "@/.") {
		return have
	}
	found := scan(text)
	added := slices.Clone(have)
	for _, e := range found {
		if !slices.ContainsFunc(have, e.clashes) {
			added = append(added, e)
		}
	}
	slices.SortStableFunc(added, TextEntity.order)
	return added
}

func (e TextEntity) equal(o TextEntity) bool {
	if e.User != nil && o.User != nil && e.User.ID == o.User.ID {
		e.User, o.User = nil, nil
	}
	return e == o
}

func (e TextEntity) clashes(o TextEntity) bool {
	switch o.Type {
	case "code", "pre", "text_link", "text_mention", "custom_emoji":
		return e.Offset < o.Offset+o.Length && o.Offset < e.Offset+e.Length
	default:
		return false
	}
}

// scan finds what the platform marks by itself, word by word.
func scan(text string) []TextEntity {
	var found []TextEntity
	units := 0
	for len(text) > 0 {
		word := text
		if i := strings.IndexAny(text, " \n\t\r"); i >= 0 {
			word = text[:i]
		}
		if e, ok := special(word); ok {
			e.Offset += units
			found = append(found, e)
		}
		units += lenUTF16(word)
		text = text[len(word):]
		if len(text) > 0 {
			units++
			text = text[1:]
		}
	}
	return found
}

// special recognises one word, without the punctuation around it.
func special(word string) (TextEntity, bool) {
	core := strings.TrimLeft(word, "(\"'«[{<,;")
	lead := lenUTF16(word) - lenUTF16(core)
	switch {
	case strings.HasPrefix(core, "@"):
		n := name(core[1:])
		return TextEntity{Type: "mention", Offset: lead, Length: n + 1}, n >= 3
	case strings.HasPrefix(core, "/"):
		n := name(core[1:])
		end := 1 + n
		if rest := core[end:]; strings.HasPrefix(rest, "@") {
			if m := name(rest[1:]); m >= 3 {
				end += 1 + m
			}
		}
		return TextEntity{Type: "bot_command", Offset: lead, Length: end}, n > 0 && n <= 64 && !strings.HasPrefix(core[end:], "/")
	case strings.HasPrefix(core, "http://"), strings.HasPrefix(core, "https://"), bareDomain(core):
		core = strings.TrimRight(core, ".,;:!?)\"'»]}>")
		return TextEntity{Type: "url", Offset: lead, Length: lenUTF16(core)}, true
	default:
		return TextEntity{}, false
	}
}

// name measures the leading letters, digits and underscores.
func name(s string) int {
	i := strings.IndexFunc(s, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	if i < 0 {
		return len(s)
	}
	return i
}

// bareDomain reports whether the word is an address without a scheme under one
// of the commonest top-level domains.
func bareDomain(s string) bool {
	host, _, _ := strings.Cut(s, "/")
	host = strings.TrimRight(host, ".,;:!?)\"'»]}>")
	dot := strings.LastIndexByte(host, '.')
	if dot <= 0 || strings.ContainsAny(host, "@_ ") {
		return false
	}
	switch strings.ToLower(host[dot+1:]) {
	case "com", "org", "net", "io", "dev", "de", "uk", "eu", "ru", "me", "app", "ai", "info", "co":
		return true
	default:
		return false
	}
}
