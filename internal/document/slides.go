package document

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// extractPPTX reads a presentation of Office Open XML (ECMA-376, part 1, chapter 19):
// the text and tables of each slide in the order of the show, and its notes.
func extractPPTX(ctx context.Context, src FileSource, out *textWriter) error {
	a, err := openArchive(ctx, src.Data, out)
	if err != nil {
		return err
	}
	if err := a.readTitle("docProps/core.xml"); err != nil {
		return err
	}
	slides, err := slideOrder(a)
	if err != nil {
		return err
	}
	out.pages = len(slides)
	for i, name := range slides {
		if !out.beginPart(fmt.Sprintf("slide %d", i+1)) {
			break
		}
		r := &slideReader{out: out}
		if err := a.walkXML(name, r.visit); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := readSlideNotes(a, name); err != nil {
			return err
		}
	}
	return nil
}

// slideOrder returns the names of the slides in the order of the show.
func slideOrder(a *fileArchive) ([]string, error) {
	const main = "ppt/presentation.xml"
	targets, err := a.relations(main)
	if err != nil {
		return nil, err
	}
	var slides []string
	err = a.walkXML(main, func(t xml.Token) error {
		e, ok := t.(xml.StartElement)
		if !ok || e.Name.Local != "sldId" {
			return nil
		}
		for _, attr := range e.Attr { // it has an id of its own beside r:id
			if name := targets[attr.Value]; attr.Name.Space != "" && name != "" {
				slides = append(slides, name)
			}
		}
		return nil
	})
	return slides, err
}

// readSlideNotes writes the notes of a slide, if it has any.
func readSlideNotes(a *fileArchive, slide string) error {
	targets, err := a.relations(slide)
	if err != nil {
		return err
	}
	for _, target := range targets {
		if !strings.Contains(target, "notesSlides/") {
			continue
		}
		r := &slideReader{out: a.out, notes: true}
		if err := a.walkXML(target, r.visit); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// A slideReader turns the tokens of a slide into text.
type slideReader struct {
	out       *textWriter
	notes     bool // of the slide: only the body is of interest
	inText    bool
	title     bool
	other     bool // a placeholder such as the slide's number
	paragraph strings.Builder
	level     int
	inTable   bool
	row       []string
	cell      strings.Builder
	firstRow  bool
	began     bool
}

// visit handles one token.
func (r *slideReader) visit(t xml.Token) error {
	if r.out.full() {
		return errStop
	}
	switch t := t.(type) {
	case xml.StartElement:
		r.start(t)
	case xml.EndElement:
		r.end(t.Name.Local)
	case xml.CharData:
		if r.inText {
			r.paragraph.Write(t)
		}
	}
	return nil
}

func (r *slideReader) start(e xml.StartElement) {
	switch e.Name.Local {
	case "sp", "graphicFrame":
		r.title, r.other = false, false
	case "ph":
		kind := xmlAttribute(e, "type")
		r.title = kind == "title" || kind == "ctrTitle"
		r.other = kind == "sldNum" || kind == "dt" || kind == "ftr" || kind == "hdr" || r.notes && kind != "body"
	case "t":
		r.inText = true
	case "br":
		r.paragraph.WriteString("\n")
	case "pPr":
		r.level = min(len(xmlAttribute(e, "lvl")), 1)
	case "p":
		r.level = 0
	case "tbl":
		r.inTable, r.firstRow = true, true
	case "tr":
		r.row = nil
	case "tc":
		r.cell.Reset()
	}
}

func (r *slideReader) end(name string) {
	switch name {
	case "t":
		r.inText = false
	case "p":
		text := strings.TrimSpace(r.paragraph.String())
		r.paragraph.Reset()
		r.endParagraph(text)
	case "tc":
		r.row = append(r.row, r.cell.String())
	case "tr":
		if r.inTable && len(r.row) > 0 {
			r.out.writeRow(r.row, r.firstRow)
			r.firstRow = false
		}
	case "tbl":
		r.inTable = false
	}
}

func (r *slideReader) endParagraph(text string) {
	switch {
	case text == "" || r.other:
	case r.inTable:
		r.cell.WriteString(text + " ")
	case r.title:
		r.out.writeBlock("## " + strings.Join(strings.Fields(text), " "))
		r.out.setTitle(text)
	case r.notes && !r.began:
		r.began = true
		r.out.writeBlock("Notes: " + text)
	case r.level > 0:
		r.out.writeLine("  - " + text)
	default:
		r.out.writeLine("- " + text)
	}
}
