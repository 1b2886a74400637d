package config

import (
	"fmt"
	"slices"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// ValueOrigin is the position where a value was written.
type ValueOrigin struct {
	File      string
	Line, Col int    // from 1; zero outside files
	Env       string // name of the variable; empty in files
	Flag      string // of the command line; empty elsewhere
}

// String returns file:line:col, the variable, the flag, or "default".
func (o ValueOrigin) String() string {
	switch {
	case o.Flag != "":
		return "flag " + o.Flag
	case o.Env != "":
		return "env " + o.Env
	case o.File != "" && o.Line == 0:
		return o.File
	case o.File == "":
		return "default"
	case o.Col == 0:
		return fmt.Sprintf("%s:%d", o.File, o.Line)
	}
	return fmt.Sprintf("%s:%d:%d", o.File, o.Line, o.Col)
}

type nodeKind int

const (
	nullNode nodeKind = iota
	scalarNode
	mapNode
	listNode
)

// node is one YAML value. text keeps a scalar as written, so that the id -1001 stays
// a text.
type node struct {
	kind    nodeKind
	origin  ValueOrigin
	text    string   // of a scalar, expanded
	plain   bool     // a scalar that was written as a number or a truth value
	missing string   // why the text could not be expanded; empty when it could
	refers  bool     // the text was written with a reference
	files   []string // that the text was read from
	entries []mapEntry
	items   []*node
}

// mapEntry is one key of a mapping, in the order of the file.
type mapEntry struct {
	key    string
	origin ValueOrigin // of the key
	value  *node
}

// get returns the value of a key, or nil.
func (n *node) get(key string) *node {
	if n == nil {
		return nil
	}
	for _, e := range n.entries {
		if e.key == key {
			return e.value
		}
	}
	return nil
}

// put sets the value at a path of keys and creates missing mappings.
func (n *node) put(path []string, value *node) {
	for i := range n.entries {
		if n.entries[i].key != path[0] {
			continue
		}
		if len(path) == 1 {
			n.entries[i].value = value
			return
		}
		if n.entries[i].value.kind != mapNode {
			n.entries[i].value = &node{kind: mapNode, origin: value.origin}
		}
		n.entries[i].value.put(path[1:], value)
		return
	}
	if len(path) > 1 {
		below := &node{kind: mapNode, origin: value.origin}
		below.put(path[1:], value)
		value = below
	}
	n.entries = append(n.entries, mapEntry{path[0], value.origin, value})
}

// remove removes the value at a path of keys, and reports whether there was one.
func (n *node) remove(path []string) bool {
	for i := range n.entries {
		switch {
		case n.entries[i].key != path[0]:
		case len(path) > 1:
			return n.entries[i].value.remove(path[1:])
		default:
			n.entries = slices.Delete(n.entries, i, i+1)
			return true
		}
	}
	return false
}

// isEmpty reports whether the node is a group without keys, or has no value.
func (n *node) isEmpty() bool {
	return n.kind == nullNode || n.kind == mapNode && len(n.entries) == 0
}

// parseTree parses the text of a configuration file. x expands references in string
// scalars after parsing.
func parseTree(file, text string, x expander) (*node, []Error) {
	cover := newRefEscaper(text)
	parsed, err := parser.ParseBytes([]byte(cover.escape(text)), 0)
	if err != nil {
		return nil, []Error{syntaxFault(file, err, cover)}
	}
	g := nodeBuilder{file: file, shield: cover, expand: x, anchors: map[string]*node{}}
	root := &node{kind: mapNode, origin: ValueOrigin{File: file, Line: 1, Col: 1}}
	for _, doc := range parsed.Docs {
		if doc.Body == nil {
			continue
		}
		body := g.build(doc.Body)
		switch body.kind {
		case mapNode:
			if len(root.entries) > 0 {
				g.errs = append(g.errs, Error{At: body.origin, What: "the file holds a second document", Remedy: "remove the line `---` and what repeats"})
				continue
			}
			root.entries = body.entries
		case nullNode: // a file of comments
		case scalarNode, listNode:
			g.errs = append(g.errs, Error{At: body.origin, What: "the file is not a mapping of keys to values", Remedy: "begin with a key, such as `data: ./data`"})
		}
	}
	return root, g.errs
}

// nodeBuilder converts the syntax tree of the parser to nodes.
type nodeBuilder struct {
	file    string
	shield  refEscaper
	expand  expander
	anchors map[string]*node
	errs    []Error
}

func (g *nodeBuilder) positionOf(n ast.Node) ValueOrigin {
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 && !m.IsFlowStyle {
		n = m.Values[0].Key // a block mapping's own token is its first colon
	}
	tk := n.GetToken()
	if tk == nil || tk.Position == nil {
		return ValueOrigin{File: g.file, Line: 1, Col: 1}
	}
	return ValueOrigin{File: g.file, Line: tk.Position.Line, Col: tk.Position.Column}
}

func (g *nodeBuilder) build(n ast.Node) *node {
	at := g.positionOf(n)
	switch n := n.(type) {
	case *ast.NullNode:
		return &node{kind: nullNode, origin: at}
	case *ast.MappingNode:
		return g.mapping(at, n.Values)
	case *ast.MappingValueNode:
		return g.mapping(at, []*ast.MappingValueNode{n})
	case *ast.SequenceNode:
		list := &node{kind: listNode, origin: at}
		for _, v := range n.Values {
			list.items = append(list.items, g.build(v))
		}
		return list
	case *ast.AnchorNode:
		grown := g.build(n.Value)
		g.anchors[n.Name.GetToken().Value] = grown
		return grown
	case *ast.AliasNode:
		return g.alias(at, n)
	case *ast.TagNode:
		return g.build(n.Value)
	case *ast.LiteralNode:
		return g.scalar(at, n.Value.Value)
	case *ast.StringNode:
		return g.scalar(at, n.Value)
	default: // numbers, booleans and infinities keep their text
		return &node{kind: scalarNode, origin: at, plain: true, text: g.shield.unescape(n.GetToken().Value)}
	}
}

func (g *nodeBuilder) scalar(at ValueOrigin, text string) *node {
	e := g.expand.expand(g.shield.unescape(text))
	return &node{kind: scalarNode, origin: at, text: e.text, missing: e.missing, refers: e.refers, files: e.files}
}

func (g *nodeBuilder) alias(at ValueOrigin, n *ast.AliasNode) *node {
	name := n.Value.GetToken().Value
	if known, ok := g.anchors[name]; ok {
		return known
	}
	g.errs = append(g.errs, Error{At: at, What: fmt.Sprintf("the alias *%s has no anchor &%s before it", name, name), Remedy: "name an anchor that stands above"})
	return &node{kind: nullNode, origin: at}
}

func (g *nodeBuilder) mapping(at ValueOrigin, values []*ast.MappingValueNode) *node {
	m := &node{kind: mapNode, origin: at}
	for _, v := range values {
		if v.Key.IsMergeKey() {
			g.merge(m, g.build(v.Value))
			continue
		}
		key := g.shield.unescape(v.Key.GetToken().Value)
		m.entries = append(m.entries, mapEntry{key, g.positionOf(v.Key), g.build(v.Value)})
	}
	return m
}

// merge adds the entries of one mapping, or of a list of mappings, for keys that m
// does not have.
func (g *nodeBuilder) merge(m, from *node) {
	if from.kind == scalarNode {
		g.errs = append(g.errs, Error{At: from.origin, What: "<< takes over keys from a mapping, and this is none", Remedy: "name an alias of a mapping, such as <<: *defaults"})
	}
	for _, item := range from.items {
		g.merge(m, item)
	}
	for _, e := range from.entries {
		if m.get(e.key) == nil {
			m.entries = append(m.entries, e)
		}
	}
}
