package slack

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
)

// A response is the right to answer one slash command or press, five times at most.
type response struct {
	in   *WorkspaceChannel
	to   string // the user who gave it
	left int
}

// An EphemeralMessage is an answer that one person alone sees.
type EphemeralMessage struct {
	To     string // the user
	Thread string // ts; empty outside threads
	Text   string
}

// serveResponseURL takes an answer to a slash command: by an address that is good for
// a few, without any token, also where the app is not.
func serveResponseURL(s *Server, w http.ResponseWriter, r *http.Request, trigger string) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var said struct {
		Text string `json:"text"`
		Type string `json:"response_type"`
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	open := s.responses[trigger]
	switch {
	case open == nil || open.left == 0:
		http.Error(w, "used_url", http.StatusNotFound)
	case err != nil || json.Unmarshal(body, &said) != nil || said.Text == "" || said.Type != "ephemeral":
		http.Error(w, "invalid_payload", http.StatusBadRequest)
	case r.Header.Get("Authorization") != "":
		http.Error(w, "a token has no business here", http.StatusBadRequest)
	default:
		open.left--
		open.in.whispers = append(open.in.whispers, EphemeralMessage{To: open.to, Text: said.Text})
		_, _ = io.WriteString(w, "ok") // the client's hanging up is its own affair
	}
}

// Whispers returns what was said in the channel to one person alone, oldest first.
func (c *WorkspaceChannel) Whispers() []EphemeralMessage {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	return slices.Clone(c.whispers)
}
