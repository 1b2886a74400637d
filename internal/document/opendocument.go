package document

import (
	"context"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
)

// extractODF reads a text, spreadsheet or presentation of OpenDocument (ISO/IEC
// 26300): headings, paragraphs, lists, tables, links and notes.
func extractODF(ctx context.Context, src FileSource, out *textWriter) error {
	a, err := openArchive(ctx, src.Data, out)
	if err != nil {
		return err
	}
	if manifest, err := a.readAll("META-INF/manifest.xml"); err == nil && strings.Contains(string(manifest), "encryption-data") {
		return ErrEncrypted
	}
	if err := a.readTitle("meta.xml"); err != nil {
		return err
	}
	r := &openReader{out: out}
	return a.walkXML("content.xml", r.visit)
}

// An openReader turns the tokens of an OpenDocument file into text.
type openReader struct {
	out       *textWriter
	skip      int
	paragraph strings.Builder
	depth     int // of paragraphs: a note holds some of its own
	heading   int
	lists     int
	slides    int
	sheets    bool
	tables    int
	row       []string
	rowCopies int
	cell      strings.Builder
	copies    int
	firstRow  bool
	link      string
	linkStart int
}

// visit handles one token.
func (r *openReader) visit(t xml.Token) error {
	if r.out.full() {
		return errStop
	}
	switch t := t.(type) {
	case xml.StartElement:
		if r.skip > 0 || t.Name.Local == "tracked-changes" || t.Name.Local == "annotation-end" || t.Name.Space == "style" {
			r.skip++
			return nil
		}
		r.start(t)
	case xml.EndElement:
		if r.skip > 0 {
			r.skip--
			return nil
		}
		r.end(t)
	case xml.CharData:
		if r.skip == 0 && r.depth > 0 {
			r.paragraph.Write(t)
		}
	}
	return nil
}

func (r *openReader) start(e xml.StartElement) {
	switch e.Name.Space + ":" + e.Name.Local {
	case "office:spreadsheet":
		r.sheets = true
	case "draw:page":
		r.slides++
		r.out.beginPart(fmt.Sprintf("slide %d", r.slides))
	case "text:h":
		r.depth++
		r.heading, _ = strconv.Atoi(xmlAttribute(e, "outline-level"))
		r.heading = min(max(r.heading, 1), 6)
	case "text:p":
		r.depth++
	case "text:list":
		r.lists++
	case "text:s":
		r.paragraph.WriteString(strings.Repeat(" ", min(max(repeated(e, "c"), 1), 100)))
	case "text:tab":
		r.paragraph.WriteString("\t")
	case "text:line-break":
		r.paragraph.WriteString("\n")
	case "text:a":
		r.link, r.linkStart = xmlAttribute(e, "href"), r.paragraph.Len()
	case "text:note":
		r.paragraph.WriteString(" [note: ")
	case "office:annotation":
		r.paragraph.WriteString(" [comment: ")
	case "table:table":
		if r.tables++; r.tables == 1 {
			r.firstRow = true
			if r.sheets {
				r.out.beginPart("sheet " + xmlAttribute(e, "name"))
			}
		}
	case "table:table-row":
		if r.tables == 1 {
			r.row, r.rowCopies = nil, max(1, repeated(e, "number-rows-repeated"))
		}
	case "table:table-cell", "table:covered-table-cell":
		if r.tables == 1 {
			r.copies = max(1, repeated(e, "number-columns-repeated"))
			r.cell.Reset()
		}
	}
}

// repeated returns an attribute as a number, at most a million.
func repeated(e xml.StartElement, name string) int {
	n, err := strconv.Atoi(xmlAttribute(e, name))
	if err != nil {
		return 0
	}
	return min(n, 1_000_000)
}

func (r *openReader) end(e xml.EndElement) {
	switch e.Name.Space + ":" + e.Name.Local {
	case "text:h", "text:p":
		r.depth--
		r.endParagraph(e.Name.Local == "h")
	case "text:list":
		r.lists--
	case "text:a":
		r.endLink()
	case "text:note", "office:annotation":
		text := strings.TrimRight(r.paragraph.String(), " \n")
		r.paragraph.Reset()
		r.paragraph.WriteString(text + "]")
	case "table:table-cell", "table:covered-table-cell":
		r.endCell()
	case "table:table-row":
		if r.tables == 1 {
			r.endRow()
		}
	case "table:table":
		r.tables--
	}
}

// endLink writes the text since the link's beginning as a link of Markdown.
func (r *openReader) endLink() {
	text := r.paragraph.String()
	if !strings.Contains(r.link, ":") || r.linkStart >= len(text) || text[r.linkStart:] == r.link {
		return
	}
	r.paragraph.Reset()
	r.paragraph.WriteString(text[:r.linkStart] + "[" + text[r.linkStart:] + "](" + r.link + ")")
}

// endParagraph writes a paragraph. One within another, as notes have it, becomes a
// part of the outer one.
func (r *openReader) endParagraph(heading bool) {
	if r.depth > 0 {
		r.paragraph.WriteString(" ")
		return
	}
	text := strings.TrimSpace(r.paragraph.String())
	r.paragraph.Reset()
	switch {
	case text == "":
	case r.tables > 0:
		r.cell.WriteString(text + " ")
	case heading:
		r.out.writeBlock(strings.Repeat("#", r.heading) + " " + strings.Join(strings.Fields(text), " "))
	case r.lists > 0:
		r.out.writeLine(strings.Repeat("  ", min(r.lists-1, 8)) + "- " + text)
	default:
		r.out.writeBlock(text)
	}
}

// endCell adds a cell as often as it is repeated. Empty cells are kept only before
// others: a sheet ends with thousands of them.
func (r *openReader) endCell() {
	if r.tables != 1 {
		return
	}
	for range min(r.copies, maxColumns-min(len(r.row), maxColumns)) {
		r.row = append(r.row, r.cell.String())
	}
}

// endRow writes a row as often as it is repeated; empty ones are left out.
func (r *openReader) endRow() {
	for len(r.row) > 0 && strings.TrimSpace(r.row[len(r.row)-1]) == "" {
		r.row = r.row[:len(r.row)-1]
	}
	if len(r.row) == 0 {
		return
	}
	for range r.rowCopies {
		if !r.out.writeRow(r.row, r.firstRow) {
			return
		}
		r.firstRow = false
	}
}
