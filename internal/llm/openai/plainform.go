package openai

import (
	"crypto/sha256"
	"math/big"
	"strings"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// shortID returns an id of nine letters and digits for a call, which Mistral requires,
// always the same for the same id.
func shortID(id string) string {
	sum := sha256.Sum256([]byte(id))
	text := new(big.Int).SetBytes(sum[:16]).Text(62)
	return (strings.Repeat("0", 9) + text)[len(text):][:9]
}

// mostPlainName is the length of the longest name in the plain form.
const mostPlainName = 32

// plainName returns a tool's name as letters and digits that begin with a letter.
func plainName(name string) string {
	var out strings.Builder
	upper := false
	for _, c := range []byte(name) {
		switch letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'; {
		case !letter && (c < '0' || c > '9'):
			upper = out.Len() > 0
			continue
		case !letter && out.Len() == 0:
			out.WriteByte('t')
		case upper && c >= 'a' && c <= 'z':
			c -= 'a' - 'A'
		}
		upper = false
		out.WriteByte(c)
	}
	text := out.String()
	if text == "" {
		text = "unknown"
	}
	return text[:min(len(text), mostPlainName)]
}

// toolNamed returns the name of the tool whose plain name is given, or the name itself.
func toolNamed(tools []llm.ToolSpec, name string) string {
	for i := range tools {
		if plainName(tools[i].Name) == name {
			return tools[i].Name
		}
	}
	return name
}
