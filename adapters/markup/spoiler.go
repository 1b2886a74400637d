package markup

import (
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// spoilers teaches goldmark ||hidden words||, which chat platforms write alike.
type spoilers struct{}

// Extend adds the spoiler's parser to m.
func (spoilers) Extend(m goldmark.Markdown) {
	m.Parser().AddOptions(parser.WithInlineParsers(util.Prioritized(spoilers{}, 500)))
}

var kindSpoiler = ast.NewNodeKind("Spoiler")

// spoiler is text that is shown only on request.
type spoiler struct{ ast.BaseInline }

// Kind returns the kind of node.
func (*spoiler) Kind() ast.NodeKind { return kindSpoiler }

// Dump prints the node for debugging.
func (n *spoiler) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// Trigger returns the byte that begins a spoiler.
func (spoilers) Trigger() []byte { return []byte{'|'} }

// Parse reads a run of exactly two bars as a delimiter.
func (s spoilers) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	line, segment := block.PeekLine()
	node := parser.ScanDelimiter(line, before, 2, s)
	if node == nil || node.OriginalLength != 2 || before == '|' {
		return nil
	}
	node.Segment = segment.WithStop(segment.Start + node.OriginalLength)
	block.Advance(node.OriginalLength)
	pc.PushDelimiter(node)
	return node
}

// IsDelimiter reports whether b is a bar.
func (spoilers) IsDelimiter(b byte) bool { return b == '|' }

// CanOpenCloser reports whether the two belong together.
func (spoilers) CanOpenCloser(opener, closer *parser.Delimiter) bool {
	return opener.Char == closer.Char
}

// OnMatch returns the node between two delimiters.
func (spoilers) OnMatch(int) ast.Node { return &spoiler{} }
