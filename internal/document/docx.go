package document

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// extractDOCX reads a word processor file of Office Open XML (ECMA-376, part 1,
// chapter 17): headings, paragraphs, numbered and other lists, tables, links,
// footnotes, endnotes and comments. Deleted text of tracked changes is left out.
func extractDOCX(ctx context.Context, src FileSource, out *textWriter) error {
	a, err := openArchive(ctx, src.Data, out)
	if err != nil {
		return err
	}
	if err := a.readTitle("docProps/core.xml"); err != nil {
		return err
	}
	styles, err := readWordStyles(a)
	if err != nil {
		return err
	}
	lists, err := readWordLists(a)
	if err != nil {
		return err
	}
	const main = "word/document.xml"
	links, err := a.relations(main)
	if err != nil {
		return err
	}
	r := &wordReader{out: out, styles: styles, lists: lists, links: links, counters: map[string][]int{}}
	if err := a.walkXML(main, r.visit); err != nil {
		return err
	}
	for _, part := range []struct{ name, element, title string }{
		{"word/footnotes.xml", "footnote", "Footnotes"}, {"word/endnotes.xml", "endnote", "Endnotes"}, {"word/comments.xml", "comment", "Comments"},
	} {
		notes := &wordReader{out: out, noteElement: part.element, notesTitle: part.title, links: links, counters: map[string][]int{}}
		if err := a.walkXML(part.name, notes.visit); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// A wordReader turns the tokens of a part of a word file into text.
type wordReader struct {
	out    *textWriter
	styles map[string]wordStyle
	lists  map[string][]string // number formats of the levels, by list
	links  map[string]string

	skip      int // depth within an element that is not shown
	inText    int
	paragraph strings.Builder
	style     string
	list      string
	level     int
	counters  map[string][]int // last number of each level, by list
	link      string
	linkStart int
	wasList   bool

	tables   int // depth of tables
	row      []string
	cell     strings.Builder
	firstRow bool

	noteElement string // element of a note or comment, "" in the main part
	notesTitle  string
	note        string // id of the note, "" between notes
	author      string
}

// hiddenWordElements are not part of the text that a reader sees.
var hiddenWordElements = []string{"del", "moveFrom", "Fallback", "instrText", "delText", "fldData", "sectPr"}

// visit handles one token.
func (r *wordReader) visit(t xml.Token) error {
	if r.out.full() {
		return errStop
	}
	switch t := t.(type) {
	case xml.StartElement:
		if r.skip > 0 || slices.Contains(hiddenWordElements, t.Name.Local) {
			r.skip++
			return nil
		}
		r.start(t)
	case xml.EndElement:
		if r.skip > 0 {
			r.skip--
			return nil
		}
		r.end(t.Name.Local)
	case xml.CharData:
		if r.skip == 0 && r.inText > 0 {
			r.paragraph.Write(t)
		}
	}
	return nil
}

// start handles the beginning of an element.
func (r *wordReader) start(e xml.StartElement) {
	switch e.Name.Local {
	case "t":
		r.inText++
	case "tab":
		r.paragraph.WriteString("\t")
	case "br", "cr":
		r.paragraph.WriteString("\n")
	case "noBreakHyphen":
		r.paragraph.WriteString("-")
	case "sym":
		r.paragraph.WriteString("•")
	case "p":
		r.style, r.list, r.level = "", "", 0
	case "pStyle":
		r.style = xmlAttribute(e, "val")
	case "numId":
		r.list = xmlAttribute(e, "val")
	case "ilvl":
		r.level, _ = strconv.Atoi(xmlAttribute(e, "val"))
		r.level = min(max(r.level, 0), 8)
	case "hyperlink":
		r.link, r.linkStart = r.links[xmlAttribute(e, "id")], r.paragraph.Len()
	case "footnoteReference", "endnoteReference", "commentReference":
		fmt.Fprintf(&r.paragraph, "[%s %s]", strings.TrimSuffix(e.Name.Local, "Reference"), xmlAttribute(e, "id"))
	case "tbl":
		if r.tables++; r.tables == 1 {
			r.firstRow = true
		}
	case "tr":
		if r.tables == 1 {
			r.row = nil
		}
	case "tc":
		if r.tables == 1 {
			r.cell.Reset()
		}
	case r.noteElement:
		r.beginNote(e)
	}
}

// beginNote handles the beginning of a note or comment. Separators are notes with a
// type of their own.
func (r *wordReader) beginNote(e xml.StartElement) {
	if xmlAttribute(e, "type") != "" && xmlAttribute(e, "type") != "normal" {
		r.skip = 1
		return
	}
	if r.notesTitle != "" {
		r.out.writeBlock("## " + r.notesTitle)
		r.notesTitle = ""
	}
	r.note, r.author = xmlAttribute(e, "id"), xmlAttribute(e, "author")
}

// end handles the end of an element.
func (r *wordReader) end(name string) {
	switch name {
	case "t":
		r.inText--
	case "hyperlink":
		r.endLink()
	case "p":
		text := r.paragraph.String()
		r.paragraph.Reset()
		r.endParagraph(text)
	case "tc":
		if r.tables == 1 {
			r.row = append(r.row, r.cell.String())
		}
	case "tr":
		if r.tables == 1 && len(r.row) > 0 {
			r.out.writeRow(r.row, r.firstRow)
			r.firstRow = false
		}
	case "tbl":
		r.tables = max(0, r.tables-1)
		r.wasList = false
	}
}

// endLink writes the text since the link's beginning as a link of Markdown.
func (r *wordReader) endLink() {
	text := r.paragraph.String()
	if r.link == "" || r.linkStart >= len(text) || !strings.Contains(r.link, ":") {
		return
	}
	label := text[r.linkStart:]
	if strings.TrimSpace(label) != strings.TrimPrefix(r.link, "mailto:") {
		r.paragraph.Reset()
		r.paragraph.WriteString(text[:r.linkStart] + "[" + label + "](" + r.link + ")")
	}
	r.link = ""
}

// endParagraph writes a paragraph by its style.
func (r *wordReader) endParagraph(text string) {
	if r.tables > 0 {
		r.cell.WriteString(text + " ")
		return
	}
	if strings.TrimSpace(text) == "" {
		return
	}
	if r.note != "" {
		if r.author != "" {
			text = r.author + ": " + text
		}
		r.out.writeLine("- [" + r.noteElement + " " + r.note + "] " + strings.TrimSpace(text))
		r.author = ""
		return
	}
	style := r.styles[r.style]
	list := r.list
	if list == "" {
		list = style.list
	}
	switch marker := r.listMarker(list); {
	case style.heading > 0:
		r.out.writeBlock(strings.Repeat("#", min(style.heading, 6)) + " " + strings.Join(strings.Fields(text), " "))
		r.wasList = false
	case marker != "":
		line := strings.Repeat("  ", r.level) + marker + " " + strings.TrimSpace(text)
		if r.wasList {
			r.out.writeLine(line)
		} else {
			r.out.writeBlock(line)
		}
		r.wasList = true
	default:
		r.out.writeBlock(text)
		r.wasList = false
	}
}

// listMarker returns the mark of the next item of a list: its number or a dash; ""
// for a paragraph outside lists.
func (r *wordReader) listMarker(list string) string {
	if list == "" || list == "0" {
		return ""
	}
	format := "bullet"
	if levels := r.lists[list]; r.level < len(levels) {
		format = levels[r.level]
	}
	numbers := r.counters[list]
	for len(numbers) <= r.level {
		numbers = append(numbers, 0)
	}
	numbers = numbers[:r.level+1] // deeper levels begin anew
	numbers[r.level]++
	r.counters[list] = numbers
	switch format {
	case "bullet", "none", "":
		return "-"
	case "lowerLetter", "upperLetter":
		letter := string(rune('a' + (numbers[r.level]-1)%26))
		if format == "upperLetter" {
			letter = strings.ToUpper(letter)
		}
		return letter + "."
	}
	return strconv.Itoa(numbers[r.level]) + "."
}
