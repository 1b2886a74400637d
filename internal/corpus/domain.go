package corpus

import (
	_ "embed"
	"strings"
)

//go:embed domains.txt
var domainText string

//go:embed people.txt
var peopleText string

//go:embed chatter.txt
var chatterText string

//go:embed short.txt
var shortText string

//go:embed details.txt
var detailText string

//go:embed words.txt
var wordText string

// words returns the words of a class of words.txt.
func words(class string) []string {
	for row := range strings.Lines(wordText) {
		if rest, ok := strings.CutPrefix(row, class+" "); ok {
			return strings.Fields(strings.ReplaceAll(rest, "_", " "))
		}
	}
	return nil
}

// A topic is one thing people talk about, with the ways they do.
type topic struct {
	name                                         string
	values, says, asks, alls, whens, whos, chats []string
	changes, nows, near, tags                    []string
	pairs                                        [][2]string // a prompt, and the answer that leaves out what the prompt said
}

// domains reads domains.txt, whose head explains it.
func domains() []topic {
	var all []topic
	for row := range strings.Lines(domainText) {
		key, rest, _ := strings.Cut(strings.TrimSpace(row), " ")
		if key == "domain" {
			all = append(all, topic{name: rest})
		}
		if len(all) == 0 || key == "" || key == "#" {
			continue
		}
		d := &all[len(all)-1]
		switch key {
		case "value":
			d.values = strings.Split(rest, "|")
		case "tag":
			d.tags = strings.Split(rest, "|")
		case "near":
			d.near = strings.Fields(rest)
		case "pair":
			prompt, answer, _ := strings.Cut(rest, " => ")
			d.pairs = append(d.pairs, [2]string{prompt, answer})
		default:
			if list := d.list(key); list != nil {
				*list = append(*list, rest)
			}
		}
	}
	return all
}

func (d *topic) list(key string) *[]string {
	switch key {
	case "say":
		return &d.says
	case "ask":
		return &d.asks
	case "all":
		return &d.alls
	case "when":
		return &d.whens
	case "who":
		return &d.whos
	case "change":
		return &d.changes
	case "now":
		return &d.nows
	case "chat":
		return &d.chats
	}
	return nil
}

var (
	adjectives, nouns, verbs = words("adjectives"), words("nouns"), words("verbs")

	people  = strings.Fields(peopleText)
	chatter = strings.Split(strings.TrimSpace(chatterText), "\n")
	short   = strings.Split(strings.TrimSpace(shortText), "|")
	details = strings.Split(strings.TrimSpace(detailText), "\n") // as told, then as asked
	times   = []string{"yesterday", "last week", "two weeks ago", "on Saturday", "last Sunday", "this morning", "last month", "three days ago", "on Friday evening", "over the weekend"}
	days    = []string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
)
