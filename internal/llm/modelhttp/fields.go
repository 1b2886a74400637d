package modelhttp

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// A ListField is a list, or one value in place of a list of one. Other values read as
// an empty list.
type ListField[T any] []T

// UnmarshalJSON reads either form.
func (l *ListField[T]) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case '[':
		return WithoutTypeErrors(json.Unmarshal(b, (*[]T)(l)))
	case '{', '"':
		var one T
		if err := json.Unmarshal(b, &one); err == nil || b[0] == '{' && WithoutTypeErrors(err) == nil {
			*l = []T{one}
		}
	}
	return nil
}

// A IndexField is an index: a number, or a number as text. Other values read as none.
type IndexField struct {
	N     int
	Known bool
}

// UnmarshalJSON reads either form.
func (p *IndexField) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(b), `" `), 64)
	if p.Known = err == nil && f >= -1<<31 && f < 1<<31; p.Known {
		p.N = int(f)
	}
	return nil
}

// A NumberField is a number, or a number as text. Other values read as 0.
type NumberField float64

// UnmarshalJSON reads either form.
func (n *NumberField) UnmarshalJSON(b []byte) error {
	if f, err := strconv.ParseFloat(strings.Trim(string(b), `" `), 64); err == nil {
		*n = NumberField(f)
	}
	return nil
}

// Whole returns the number as an int within 0 and 1<<31-1.
func (n NumberField) Whole() int { return int(min(max(n, 0), 1<<31-1)) }

// A TextField is a text; other values read as none.
type TextField string

// UnmarshalJSON reads a string.
func (t *TextField) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		*t = TextField(DecodeText(b))
	}
	return nil
}

// A ContentField is a text, an object with a text, or a list of either, of which the
// parts that are no reasoning count.
type ContentField string

// UnmarshalJSON reads any of the forms.
func (c *ContentField) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case '"':
		*c = ContentField(DecodeText(b))
	case '[':
		var parts []ContentField
		err := json.Unmarshal(b, &parts)
		var text strings.Builder
		for _, p := range parts {
			text.WriteString(string(p))
		}
		*c = ContentField(text.String())
		return err
	case '{':
		var part struct {
			Type    TextField    `json:"type"`
			Text    ContentField `json:"text"`
			Content ContentField `json:"content"`
			Value   ContentField `json:"value"`
		}
		err := json.Unmarshal(b, &part)
		switch part.Type {
		case "thinking", "reasoning", "reasoning_text", "thought", "redacted_thinking":
		default:
			*c = part.Text + part.Content + part.Value
		}
		return err
	}
	return nil
}

// A ThoughtField is the reasoning of a model: a text, or lists and objects of texts.
type ThoughtField string

// UnmarshalJSON reads any of the forms.
func (t *ThoughtField) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case '"':
		*t = ThoughtField(DecodeText(b))
	case '[':
		var parts []ThoughtField
		err := json.Unmarshal(b, &parts)
		for _, p := range parts {
			*t += p
		}
		return err
	case '{':
		var part struct {
			Text     ThoughtField `json:"text"`
			Thinking ThoughtField `json:"thinking"`
			Content  ThoughtField `json:"content"`
		}
		err := json.Unmarshal(b, &part)
		*t = part.Text + part.Thinking + part.Content
		return err
	}
	return nil
}

// An ArgumentField is the text of a call's arguments: a string, or JSON that should
// have been one. null reads as none.
type ArgumentField string

// UnmarshalJSON reads any of the forms.
func (a *ArgumentField) UnmarshalJSON(b []byte) error {
	switch {
	case b[0] == '"':
		*a = ArgumentField(DecodeText(b))
	case !bytes.Equal(b, []byte("null")):
		*a = ArgumentField(b)
	}
	return nil
}
