package document

import (
	"math"
	"strings"
)

// A pdfLayout joins the characters of a page into lines, in the order in which the
// page draws them: almost every program draws text in the order of reading, column
// by column. Where lines and words end is told by positions alone.
type pdfLayout struct {
	b       strings.Builder
	started bool
	// of the character before
	dirX, dirY float64 // unit vector of its baseline
	x, y       float64 // its origin
	endX, endY float64 // where it ends
	size       float64
	last       string
	width      float64
}

// Gaps in shares of the size of the font. A space is a quarter of it in most fonts.
const (
	wordGap      = 0.17
	columnGap    = 2.5
	lineGap      = 0.4
	paragraphGap = 1.75
)

// add adds a character that is drawn at a matrix and is width wide before that.
func (p *pdfLayout) add(text string, at pdfMatrix, width float64) {
	size := math.Hypot(at[2], at[3])
	length := math.Hypot(at[0], at[1])
	if size == 0 || length == 0 || math.IsNaN(size) || math.IsInf(size, 0) {
		return
	}
	dirX, dirY := at[0]/length, at[1]/length
	x, y := at[4], at[5]
	if p.started && text != "" {
		if text == p.last && math.Hypot(x-p.x, y-p.y) < 0.1*size && p.width > 0.15 {
			return // drawn twice to look bold
		}
		p.separate(x, y, dirX, dirY, size, text)
	}
	if text != "" {
		p.b.WriteString(text)
		p.last, p.x, p.y, p.size, p.dirX, p.dirY, p.width = text, x, y, size, dirX, dirY, width
		p.started = true
	}
	p.endX, p.endY = x+dirX*width*length, y+dirY*width*length
}

// separate writes what is between the character before and one at x and y.
func (p *pdfLayout) separate(x, y, dirX, dirY, size float64, text string) {
	scale := math.Max(size, p.size)
	along := (x-p.endX)*p.dirX + (y-p.endY)*p.dirY
	across := (x-p.endX)*p.dirY - (y-p.endY)*p.dirX // downwards
	turned := p.dirX*dirX+p.dirY*dirY < 0.95
	switch {
	case turned, across > paragraphGap*scale, across < -paragraphGap*scale:
		p.write("\n\n")
	case math.Abs(across) > lineGap*scale, along < -1.2*scale && -along > 3*p.width*scale:
		p.write("\n")
	case along > columnGap*scale:
		p.write("\t")
	case along > wordGap*math.Min(size, p.size) && text != " ":
		p.write(" ")
	}
}

// write adds a separator unless there is one already.
func (p *pdfLayout) write(gap string) {
	have := p.b.String()
	if gap == " " && (strings.HasSuffix(have, " ") || strings.HasSuffix(have, "\t")) {
		return
	}
	p.b.WriteString(gap)
}

// writeLine writes a line that the page does not draw in its content.
func (p *pdfLayout) writeLine(line string) {
	p.b.WriteString("\n" + line + "\n")
	p.started = false
}

// text returns the lines of the page.
func (p *pdfLayout) text() string {
	lines := strings.Split(p.b.String(), "\n")
	kept := lines[:0]
	for _, l := range lines {
		l = strings.TrimSpace(l)
		if l != "" || len(kept) > 0 && kept[len(kept)-1] != "" {
			kept = append(kept, l)
		}
	}
	return strings.TrimSpace(strings.Join(kept, "\n"))
}
