package discord

import (
	"cmp"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
)

// attachmentsOf returns m's files and stickers.
func attachmentsOf(m *message) []adapters.Attachment {
	var all []adapters.Attachment
	for _, a := range m.Attachments {
		all = append(all, adapters.Attachment{
			Kind: kindOf(a), ID: attachmentID(m.ChannelID, m.ID, a.ID), Name: cmp.Or(a.Title, a.Filename), MIME: a.MIME, Size: a.Size,
		})
	}
	for _, s := range m.Stickers {
		all = append(all, adapters.Attachment{Kind: "sticker", ID: stickerID + s.ID + "/" + s.extension(), Name: s.Name})
	}
	return all
}

// kindOf returns the contract's word for what a file is.
func kindOf(a attachment) string {
	kind, _, _ := strings.Cut(a.MIME, "/")
	switch {
	case a.Waveform != "":
		return "voice"
	case kind == "image":
		return "photo"
	case kind == "video", kind == "audio":
		return kind
	default:
		return "file"
	}
}
