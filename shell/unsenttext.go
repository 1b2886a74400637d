package shell

import (
	"strings"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// Unheard is the detail of a run that ended with words in place of an act: what a
// model writes beside its tool calls is never sent.
const Unheard = "words without an act"

// IsUnheard reports whether a model that could have acted has answered in words
// alone, and not with the line that ends a run. One that only ever does so is
// silent everywhere.
func IsUnheard(r llm.ModelRequest, res llm.ModelResponse) bool {
	return len(r.Tools) > 0 && !r.NoCalls && res.Finish == llm.Stopped && len(res.Calls) == 0 &&
		strings.TrimSpace(res.Text) != "" && restLine(res.Text) == ""
}
