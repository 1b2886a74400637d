package markup

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// delimiterParser reads runs of one sign, such as **, as delimiters. Unlike goldmark's own
// parsers it lets a run open or close beside the punctuation of Chinese, Japanese and
// Korean, which write no spaces between words: CommonMark shows the asterisks of
// **标题：**正文, and makes the words between two such runs bold. The rule is that of
// https://github.com/tats-u/markdown-cjk-friendly/blob/main/specification.md; text without
// such characters is read as CommonMark says.
type delimiterParser struct {
	signs    string // the bytes that make a run
	min, max int    // lengths of a run; max 0: no limit
	node     func(length int) ast.Node
}

// The runs that chat platforms know.
var (
	emphases       = &delimiterParser{signs: "*_", min: 1, node: func(n int) ast.Node { return ast.NewEmphasis(n) }}
	strikethroughs = &delimiterParser{signs: "~", min: 1, max: 2, node: func(int) ast.Node { return east.NewStrikethrough() }}
	spoilers       = &delimiterParser{signs: "|", min: 2, max: 2, node: func(int) ast.Node { return &spoiler{} }}
)

// Extend makes m read runs of d's signs with d, before its own parsers see them.
func (d *delimiterParser) Extend(m goldmark.Markdown) {
	m.Parser().AddOptions(parser.WithInlineParsers(util.Prioritized(d, 400)))
}

// Trigger returns the bytes that begin a run.
func (d *delimiterParser) Trigger() []byte { return []byte(d.signs) }

// IsDelimiter reports whether b may stand in a run.
func (d *delimiterParser) IsDelimiter(b byte) bool { return strings.IndexByte(d.signs, b) >= 0 }

// CanOpenCloser reports whether the two runs belong together.
func (d *delimiterParser) CanOpenCloser(opener, closer *parser.Delimiter) bool {
	return opener.Char == closer.Char
}

// OnMatch returns the node between two runs of which length bytes are used.
func (d *delimiterParser) OnMatch(length int) ast.Node { return d.node(length) }

// Parse reads a run, or returns nil where the signs are words.
func (d *delimiterParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()
	sign := line[0]
	length := len(line) - len(bytes.TrimLeft(line, string(sign)))
	before := block.PrecendingCharacter()
	if length < d.min || d.max > 0 && (length > d.max || before == rune(sign)) {
		return nil
	}
	after := ' '
	if length < len(line) {
		after = util.ToRune(line, length)
	}
	opens, closes := flanks(sign, sideBefore(before, block.Source()[:segment.Start]), sideOf(after))
	node := parser.NewDelimiter(opens, closes, length, sign, d)
	node.Segment = segment.WithStop(segment.Start + length)
	block.Advance(length)
	pc.PushDelimiter(node)
	return node
}

// runSide is the kind of the character on one side of a run.
type runSide struct{ space, punct, cjk bool }

// sideOf returns the side that r makes.
func sideOf(r rune) runSide {
	return runSide{util.IsSpaceRune(r), util.IsPunctRune(r), unicode.In(r, unicode.Hangul, cjkWide)}
}

// sideBefore returns the side that r makes in front of a run. source ends with r; a
// variation selector counts as what it varies.
func sideBefore(r rune, source []byte) runSide {
	if unicode.Is(ideographicSelectors, r) {
		return runSide{cjk: true}
	}
	if r < firstSelector || r > lastSelector {
		return sideOf(r)
	}
	varied, _ := utf8.DecodeLastRune(source[:max(len(source)-utf8.RuneLen(r), 0)])
	side := sideOf(varied)
	if r == fullWidthSelector && (varied|1 == '’' || varied|1 == '”') {
		side.cjk = true // quotation marks as wide as an ideograph
	}
	return side
}

// flanks reports whether a run between two sides can open and close.
func flanks(sign byte, before, after runSide) (opens, closes bool) {
	hardBefore, hardAfter := before.punct && !before.cjk, after.punct && !after.cjk
	left := !after.space && (!hardAfter || before.space || hardBefore || before.cjk)
	right := !before.space && (!hardBefore || after.space || hardAfter || after.cjk)
	if sign == '_' {
		return left && (!right || before.punct), right && (!left || after.punct)
	}
	return left, right
}

// The variation selectors that may follow a character, but for that of emoji.
const (
	firstSelector     = '\uFE00'
	fullWidthSelector = '\uFE01'
	lastSelector      = '\uFE0E'
)

var ideographicSelectors = &unicode.RangeTable{R32: []unicode.Range32{{Lo: 0xE0100, Hi: 0xE01EF, Stride: 1}}}

// cjkWide are the blocks of wide, full-width and half-width characters
// (https://www.unicode.org/reports/tr11/) that are no emoji.
var cjkWide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x1100, Hi: 0x11FF, Stride: 1},
		{Lo: 0x20A9, Hi: 0x20A9, Stride: 1},
		{Lo: 0x2329, Hi: 0x232A, Stride: 1},
		{Lo: 0x2630, Hi: 0x2637, Stride: 1},
		{Lo: 0x268A, Hi: 0x268F, Stride: 1},
		{Lo: 0x2E80, Hi: 0x303E, Stride: 1},
		{Lo: 0x3041, Hi: 0x3247, Stride: 1},
		{Lo: 0x3250, Hi: 0xA4C6, Stride: 1},
		{Lo: 0xF900, Hi: 0xFAFF, Stride: 1},
		{Lo: 0xFE10, Hi: 0xFE19, Stride: 1},
		{Lo: 0xFE30, Hi: 0xFE6B, Stride: 1},
		{Lo: 0xFF01, Hi: 0xFFEE, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x16FE0, Hi: 0x18DF2, Stride: 1},
		{Lo: 0x1AFF0, Hi: 0x1B2FB, Stride: 1},
		{Lo: 0x1D300, Hi: 0x1D376, Stride: 1},
		{Lo: 0x1F200, Hi: 0x1F200, Stride: 1},
		{Lo: 0x1F202, Hi: 0x1F202, Stride: 1},
		{Lo: 0x1F210, Hi: 0x1F219, Stride: 1},
		{Lo: 0x1F21B, Hi: 0x1F22E, Stride: 1},
		{Lo: 0x1F230, Hi: 0x1F231, Stride: 1},
		{Lo: 0x1F237, Hi: 0x1F237, Stride: 1},
		{Lo: 0x1F23B, Hi: 0x1F23B, Stride: 1},
		{Lo: 0x1F240, Hi: 0x1F248, Stride: 1},
		{Lo: 0x1F260, Hi: 0x1F265, Stride: 1},
		{Lo: 0x20000, Hi: 0x3FFFD, Stride: 1},
	},
}

var kindSpoiler = ast.NewNodeKind("Spoiler")

// spoiler is text that is shown only on request, which chat platforms write ||so||.
type spoiler struct{ ast.BaseInline }

// Kind returns the kind of node.
func (*spoiler) Kind() ast.NodeKind { return kindSpoiler }

// Dump prints the node for debugging.
func (n *spoiler) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }
