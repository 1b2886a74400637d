package document

import (
	"bytes"
	"math"
	"strconv"

	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
)

// A pdfMatrix is a transformation (ISO 32000-2, 8.3.4).
type pdfMatrix [6]float64

var identityMatrix = pdfMatrix{1, 0, 0, 1, 0, 0}

// multiply returns the matrix that applies m first and then n.
func (m pdfMatrix) multiply(n pdfMatrix) pdfMatrix {
	return pdfMatrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3], m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

// pdfState is the part of the graphics state that places text (ISO 32000-2, 9.3).
type pdfState struct {
	ctm                  pdfMatrix
	font                 *pdfFont
	size, charGap        float64
	wordGap, scale, rise float64
	leading              float64
}

// A pdfRun runs one content stream.
type pdfRun struct {
	*pdfReader
	resources types.Dict
	layout    *pdfLayout
	depth     int
	pdfState
	saved      []pdfState
	text, line pdfMatrix
	args       []pdfOperand
}

// maxSaved bounds the states that a content stream may save within each other.
const maxSaved = 512

// run runs a content stream: it adds the characters that are shown to layout.
func (r *pdfReader) run(content []byte, resources types.Dict, at pdfMatrix, layout *pdfLayout, depth int) error {
	c := &pdfRun{
		pdfReader: r, resources: resources, layout: layout, depth: depth,
		pdfState: pdfState{ctm: at, scale: 1}, text: identityMatrix, line: identityMatrix,
	}
	lex := &pdfLexer{data: content}
	for {
		o, ok := lex.next()
		if !ok {
			return nil
		}
		if o.kind != operandKeyword {
			if len(c.args) < 64 {
				c.args = append(c.args, o)
			}
			continue
		}
		if r.operators++; r.operators > maxOperators {
			return ErrTooLarge
		}
		if r.operators%1024 == 0 && r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		if o.text == "ID" {
			lex.skipImage()
		} else if err := c.operate(o.text); err != nil {
			return err
		}
		c.args = c.args[:0]
	}
}

// number returns an operand, or 0.
func (c *pdfRun) number(i int) float64 {
	if i < len(c.args) {
		return c.args[i].number
	}
	return 0
}

// operate runs one operator.
func (c *pdfRun) operate(name string) error {
	switch name {
	case "q":
		if len(c.saved) < maxSaved {
			c.saved = append(c.saved, c.pdfState)
		}
	case "Q":
		if n := len(c.saved); n > 0 {
			c.pdfState, c.saved = c.saved[n-1], c.saved[:n-1]
		}
	case "cm":
		c.ctm = c.matrix().multiply(c.ctm)
	case "Do":
		return c.drawObject()
	case "gs":
		c.setFontOfState()
	case "Tf":
		if len(c.args) >= 2 {
			c.font, c.size = c.fontNamed(c.args[0].text), c.number(1)
		}
	case "Tc":
		c.charGap = c.number(0)
	case "Tw":
		c.wordGap = c.number(0)
	case "Tz":
		c.scale = c.number(0) / 100
	case "TL":
		c.leading = c.number(0)
	case "Ts":
		c.rise = c.number(0)
	default:
		c.operateText(name)
	}
	return nil
}

// operateText runs an operator that moves or shows text.
func (c *pdfRun) operateText(name string) {
	switch name {
	case "BT":
		c.text, c.line = identityMatrix, identityMatrix
	case "Td":
		c.moveLine(c.number(0), c.number(1))
	case "TD":
		c.leading = -c.number(1)
		c.moveLine(c.number(0), c.number(1))
	case "Tm":
		c.line = c.matrix()
		c.text = c.line
	case "T*":
		c.moveLine(0, -c.leading)
	case "Tj":
		c.showOperand(0)
	case "'":
		c.moveLine(0, -c.leading)
		c.showOperand(0)
	case `"`:
		c.wordGap, c.charGap = c.number(0), c.number(1)
		c.moveLine(0, -c.leading)
		c.showOperand(2)
	case "TJ":
		if len(c.args) == 0 {
			return
		}
		for _, o := range c.args[0].items {
			if o.kind == operandString {
				c.show(o.text)
			} else {
				c.advance(-o.number / 1000 * c.size * c.scale)
			}
		}
	}
}

func (c *pdfRun) matrix() pdfMatrix {
	var m pdfMatrix
	for i := range m {
		m[i] = c.number(i)
	}
	return m
}

func (c *pdfRun) moveLine(x, y float64) {
	c.line = pdfMatrix{1, 0, 0, 1, x, y}.multiply(c.line)
	c.text = c.line
}

func (c *pdfRun) advance(x float64) { c.text = pdfMatrix{1, 0, 0, 1, x, 0}.multiply(c.text) }

func (c *pdfRun) showOperand(i int) {
	if i < len(c.args) {
		c.show(c.args[i].text)
	}
}

// show adds the characters of a string to the layout.
func (c *pdfRun) show(codes string) {
	if c.font == nil {
		return
	}
	c.font.decode(codes, func(g pdfGlyph) {
		if g.text == "" {
			c.unmapped++
		}
		at := pdfMatrix{c.size * c.scale, 0, 0, c.size, 0, c.rise}.multiply(c.text).multiply(c.ctm)
		c.layout.add(g.text, at, g.width/1000)
		gap := c.charGap
		if g.space {
			gap += c.wordGap
		}
		c.advance((g.width/1000*c.size + gap) * c.scale)
	})
}

// fontNamed returns a font of the resources, or nil.
func (c *pdfRun) fontNamed(name string) *pdfFont {
	return c.loadFont(c.dict(c.resources["Font"])[name])
}

// loadFont returns the font of an object; fonts are read once.
func (c *pdfRun) loadFont(o types.Object) *pdfFont {
	ref, shared := o.(types.IndirectRef)
	if f, ok := c.fonts[ref]; ok && shared {
		return f
	}
	d := c.dict(o)
	if d == nil {
		return nil
	}
	f := c.readFont(d)
	if shared {
		c.fonts[ref] = f
	}
	return f
}

// setFontOfState sets the font that a graphics state names.
func (c *pdfRun) setFontOfState() {
	if len(c.args) == 0 {
		return
	}
	state := c.dict(c.dict(c.resources["ExtGState"])[c.args[0].text])
	font, _ := c.file.Dereference(state["Font"])
	if pair, ok := font.(types.Array); ok && len(pair) == 2 {
		c.font = c.loadFont(pair[0])
		c.size, _ = c.pdfReader.number(pair[1])
	}
}

// drawObject runs a form; pictures have no text.
func (c *pdfRun) drawObject() error {
	if len(c.args) == 0 {
		return nil
	}
	named := c.dict(c.resources["XObject"])[c.args[0].text]
	o, _ := c.file.Dereference(named)
	form, ok := o.(types.StreamDict)
	if !ok || c.name(form.Dict["Subtype"]) != "Form" {
		return nil
	}
	if ref, ok := named.(types.IndirectRef); ok {
		if c.drawing[ref] {
			return nil // it draws itself
		}
		c.drawing[ref] = true
		defer delete(c.drawing, ref)
	}
	return c.runForm(form, c.resources, c.ctm, c.layout, c.depth)
}

// A pdfOperand is a token of a content stream.
type pdfOperand struct {
	kind   operandKind
	text   string // of a name, a string or a keyword
	number float64
	items  []pdfOperand // of an array
}

type operandKind int

const (
	operandKeyword operandKind = iota
	operandNumber
	operandName
	operandString
	operandArray
	operandMark // an end of an array or of a dictionary
)

// A pdfLexer reads the tokens of a content stream or of a character map.
type pdfLexer struct {
	data []byte
	at   int
}

// next returns the next token; dictionaries come out as their members.
func (l *pdfLexer) next() (pdfOperand, bool) {
	o, ok := l.token()
	if !ok || o.kind != operandMark || o.text != "[" {
		return o, ok
	}
	array := pdfOperand{kind: operandArray}
	for {
		o, ok := l.token()
		if !ok || o.kind == operandMark && o.text == "]" || o.kind == operandKeyword {
			return array, true
		}
		if o.kind != operandMark && len(array.items) < 1<<20 {
			array.items = append(array.items, o)
		}
	}
}

const (
	pdfSpaces     = "\x00\t\n\f\r "
	pdfDelimiters = "()<>[]{}/%"
)

func (l *pdfLexer) token() (pdfOperand, bool) {
	for l.at < len(l.data) {
		switch c := l.data[l.at]; {
		case bytes.IndexByte([]byte(pdfSpaces), c) >= 0:
			l.at++
		case c == '%':
			if end := bytes.IndexAny(l.data[l.at:], "\r\n"); end >= 0 {
				l.at += end
			} else {
				l.at = len(l.data)
			}
		default:
			return l.tokenFrom(c), true
		}
	}
	return pdfOperand{}, false
}

// tokenFrom reads the token that begins with c.
func (l *pdfLexer) tokenFrom(c byte) pdfOperand {
	l.at++
	switch c {
	case '(':
		return pdfOperand{kind: operandString, text: l.literal()}
	case '<':
		if l.at < len(l.data) && l.data[l.at] == '<' {
			l.at++
			return pdfOperand{kind: operandMark, text: "<<"}
		}
		return pdfOperand{kind: operandString, text: l.hex()}
	case '>', ')', '{', '}', '[', ']':
		return pdfOperand{kind: operandMark, text: string(c)}
	case '/':
		return pdfOperand{kind: operandName, text: unescapeName(l.word(l.at))}
	}
	word := l.word(l.at - 1)
	if n, err := strconv.ParseFloat(word, 64); err == nil && (c == '+' || c == '-' || c == '.' || c >= '0' && c <= '9') && !math.IsInf(n, 0) {
		return pdfOperand{kind: operandNumber, number: n}
	}
	return pdfOperand{kind: operandKeyword, text: word}
}

// word returns the regular characters from start.
func (l *pdfLexer) word(start int) string {
	for l.at < len(l.data) && bytes.IndexByte([]byte(pdfSpaces+pdfDelimiters), l.data[l.at]) < 0 {
		l.at++
	}
	return string(l.data[start:l.at])
}

// unescapeName replaces #41 by A.
func unescapeName(name string) string {
	if !bytes.Contains([]byte(name), []byte("#")) {
		return name
	}
	var b []byte
	for i := 0; i < len(name); i++ {
		if name[i] == '#' && i+2 < len(name) {
			if n, err := strconv.ParseUint(name[i+1:i+3], 16, 8); err == nil {
				b, i = append(b, byte(n)), i+2
				continue
			}
		}
		b = append(b, name[i])
	}
	return string(b)
}

// hex reads a string in hexadecimal up to its end.
func (l *pdfLexer) hex() string {
	var b []byte
	digits, value := 0, byte(0)
	for l.at < len(l.data) {
		c := l.data[l.at]
		l.at++
		if c == '>' {
			break
		}
		n, err := strconv.ParseUint(string(c), 16, 8)
		if err != nil {
			continue
		}
		if value = value<<4 | byte(n); digits%2 == 1 {
			b, value = append(b, value), 0
		}
		digits++
	}
	if digits%2 == 1 {
		b = append(b, value<<4)
	}
	return string(b)
}

// literal reads a string in parentheses up to its end.
func (l *pdfLexer) literal() string {
	var b []byte
	for depth := 1; l.at < len(l.data); {
		c := l.data[l.at]
		l.at++
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return string(b)
			}
		case '\\':
			b = l.escape(b)
			continue
		}
		b = append(b, c)
	}
	return string(b)
}

// escape appends what follows a backslash.
func (l *pdfLexer) escape(b []byte) []byte {
	if l.at >= len(l.data) {
		return b
	}
	c := l.data[l.at]
	l.at++
	switch c {
	case 'n':
		return append(b, '\n')
	case 'r':
		return append(b, '\r')
	case 't':
		return append(b, '\t')
	case 'b':
		return append(b, '\b')
	case 'f':
		return append(b, '\f')
	case '\r':
		if l.at < len(l.data) && l.data[l.at] == '\n' {
			l.at++
		}
		return b
	case '\n':
		return b
	}
	if c < '0' || c > '7' {
		return append(b, c)
	}
	n := int(c - '0')
	for range 2 {
		if l.at < len(l.data) && l.data[l.at] >= '0' && l.data[l.at] <= '7' {
			n = n*8 + int(l.data[l.at]-'0')
			l.at++
		}
	}
	return append(b, byte(n))
}

// skipImage goes behind the bytes of an inline picture.
func (l *pdfLexer) skipImage() {
	for l.at < len(l.data) {
		i := bytes.Index(l.data[l.at:], []byte("EI"))
		if i < 0 {
			l.at = len(l.data)
			return
		}
		end := l.at + i
		l.at = end + 2
		before := end == 0 || bytes.IndexByte([]byte(pdfSpaces), l.data[end-1]) >= 0
		after := l.at == len(l.data) || bytes.IndexByte([]byte(pdfSpaces), l.data[l.at]) >= 0
		if before && after {
			return
		}
	}
}
