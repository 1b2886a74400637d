package mcpclient

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trestle-bridge/trestle/internal/textformat"
)

// Bounds of a result.
const (
	maxResult = 5 << 20 // bytes of texts and files together
	maxFiles  = 20
	maxLinks  = 50
	maxMeta   = 4 << 10
)

// A CallResult is what a tool answered. All of it is data from outside.
type CallResult struct {
	// Text is the text of the answer, valid UTF-8, its parts separated by empty lines. A
	// text resource is part of it, under a line with its address.
	Text string
	// Structured is the answer as JSON, which Text often repeats; nil if there is none.
	Structured json.RawMessage
	Files      []ResultFile
	Links      []ResultLink
	// Failed reports that the tool says it failed; Text says why.
	Failed bool
	// Cut reports that a part of the answer was over a bound and was left out.
	Cut bool
	// Questions, unless nil, are to be answered by a person before the tool goes on; the
	// result has nothing else. See [CallRequest.Questions].
	Questions *InputRequired
	// Meta is the answer's _meta as a JSON object, at most 4 KB; nil if there is none.
	Meta json.RawMessage
	Took time.Duration
}

// A ResultFile is an image, a sound or another file.
type ResultFile struct {
	Name  string // the last part of a resource's address; may be empty
	Media string // media type as the server says it, unchecked
	Data  []byte
}

// A ResultLink names a resource that the answer does not contain.
type ResultLink struct {
	URI, Name, Title, About, Media string
	Size                           int64 // 0 when it is unknown
}

// A resultBuilder collects a result within its bounds.
type resultBuilder struct {
	out   CallResult
	parts []string
	left  int
}

// resultOf returns a result of the protocol within our bounds.
func resultOf(r *mcp.CallToolResult) CallResult {
	b := &resultBuilder{left: maxResult, out: CallResult{Failed: r.IsError}}
	for _, content := range r.Content {
		switch c := content.(type) {
		case *mcp.TextContent:
			b.addText(c.Text)
		case *mcp.ImageContent:
			b.addFile("", c.MIMEType, c.Data)
		case *mcp.AudioContent:
			b.addFile("", c.MIMEType, c.Data)
		case *mcp.EmbeddedResource:
			b.addResource(c.Resource)
		case *mcp.ResourceLink:
			b.addLink(c)
		default:
			b.out.Cut = true
		}
	}
	b.addStructured(r.StructuredContent)
	if len(r.Meta) > 0 {
		if text, err := json.Marshal(r.Meta); err == nil && len(text) <= maxMeta {
			b.out.Meta = text
		}
	}
	b.out.Text = strings.Join(b.parts, "\n\n")
	return b.out
}

func (b *resultBuilder) addText(text string) {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
	if len(text) > b.left {
		text, b.out.Cut = textformat.ClipBytes(text, b.left), true
	}
	b.left = max(0, b.left-len(text))
	if text != "" {
		b.parts = append(b.parts, text)
	}
}

func (b *resultBuilder) addFile(name, media string, data []byte) {
	if len(data) > b.left || len(b.out.Files) == maxFiles {
		b.out.Cut = true
		return
	}
	b.left -= len(data)
	b.out.Files = append(b.out.Files, ResultFile{Name: name, Media: cleanLine(media, maxProductName), Data: data})
}

func (b *resultBuilder) addResource(r *mcp.ResourceContents) {
	if r == nil {
		return
	}
	if r.Blob == nil {
		b.addText(cleanLine(r.URI, maxLabel) + "\n" + r.Text)
		return
	}
	name, _, _ := strings.Cut(r.URI, "?")
	b.addFile(cleanLine(name[strings.LastIndex(name, "/")+1:], maxProductName), r.MIMEType, r.Blob)
}

func (b *resultBuilder) addLink(r *mcp.ResourceLink) {
	if len(b.out.Links) == maxLinks || len(r.URI) > maxQuestion {
		b.out.Cut = true
		return
	}
	link := ResultLink{
		URI: cleanLine(r.URI, maxQuestion), Name: cleanLine(r.Name, maxLabel), Title: cleanLine(r.Title, maxLabel),
		About: cleanLine(r.Description, maxQuestion), Media: cleanLine(r.MIMEType, maxProductName),
	}
	if r.Size != nil {
		link.Size = max(0, *r.Size)
	}
	b.out.Links = append(b.out.Links, link)
}

func (b *resultBuilder) addStructured(content any) {
	if content == nil {
		return
	}
	text, err := json.Marshal(content)
	if err != nil || len(text) > b.left {
		b.out.Cut = true
		return
	}
	b.left -= len(text)
	b.out.Structured = text
}
