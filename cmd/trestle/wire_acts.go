package main

import "github.com/trestle-bridge/trestle/internal/config"

// without returns the acts that the configuration takes from an agent (PRD-6.1-3).
// Who may not speak may neither answer nor send a file.
func without(s config.Settings) []string {
	var off []string
	for _, a := range []struct {
		on   bool
		acts []string
	}{
		{s.Acts.SendMessage, []string{"send_message", "send_reply"}},
		{s.Acts.SendMessage && s.Acts.SendFile, []string{"send_file"}},
		{s.Acts.React, []string{"react"}},
		{s.Acts.EditMessage, []string{"edit_message"}},
		{s.Acts.DeleteMessage, []string{"delete_message"}},
		{s.Acts.ReadMessages, []string{"read_messages"}},
		{s.Acts.Search, []string{"search"}},
		{s.Acts.SetUp && s.Acts.SendMessage, []string{"set_up"}},
	} {
		if !a.on {
			off = append(off, a.acts...)
		}
	}
	return off
}
