package config

import (
	"fmt"
	"regexp"
)

// chatForms are the ids that platforms give chats. Those of other adapters may be
// anything.
var chatForms = map[string]struct {
	form *regexp.Regexp
	mend string
}{
	"telegram": {regexp.MustCompile(`^-?[0-9]{1,19}$`), "write the number that Telegram gives the chat, such as -1001234; trestle pair lists chats that wrote to the bot"},
	"slack":    {regexp.MustCompile(`^[CDG][A-Z0-9]+$`), "write the channel's id, such as C0123456: it stands at the end of its details in Slack"},
	"discord":  {regexp.MustCompile(`^[0-9]{1,20}$`), "write the channel's id, such as 998877: Developer Mode, then Copy Channel ID"},
}

// CheckChatID says that a platform gives no chat such an id, and what to write; nil when
// it may.
func CheckChatID(platform, id string) *Error {
	known, strict := chatForms[platform]
	if !strict || known.form.MatchString(id) {
		return nil
	}
	return &Error{What: fmt.Sprintf("%q is no id of a chat", id), Remedy: known.mend}
}

// warnChatID says that a space names a chat that cannot be: it would stay silent
// there.
func (d *decoder) warnChatID(entry string, at Origin, c ChatRef) {
	if f := CheckChatID(d.config.platformOf(c.Adapter), c.Chat); f != nil {
		f.At = at
		d.config.Warnings = append(d.config.Warnings, EntryWarning{Entry: entry, Err: *f})
	}
}
