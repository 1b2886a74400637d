package server

import (
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// drafts shows partial answers through the egresses of this process. An account that another
// process serves shows none.
type drafts struct{ conns *connectionSet }

var _ shell.DraftDisplay = drafts{}

// Shows implements [shell.Drafts].
func (d drafts) Shows(account, chat string, p spaces.StreamingPolicy) bool {
	out := d.conns.egress(account)
	return out != nil && out.ShowsDrafts(chat, p)
}

// Show implements [shell.Drafts].
func (d drafts) Show(x spaces.MessageDraft) {
	if out := d.conns.egress(x.Account); out != nil {
		out.ShowDraft(x)
	}
}

// Over implements [shell.Drafts].
func (d drafts) Over(x spaces.MessageDraft) {
	if out := d.conns.egress(x.Account); out != nil {
		out.EndDraft(x.ID)
	}
}
