package slack

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// A file is one that a person shared, or that an app uploads. mu guards it.
type file struct {
	id, name, mime, user string
	data                 []byte
	complete             bool
}

// wire is the file as messages show it. mu is held.
func (f *file) wire(s *Server) map[string]any {
	at := s.origin + "/files/" + f.id + "/" + f.name
	return map[string]any{
		"id": f.id, "name": f.name, "title": f.name, "mimetype": f.mime, "size": len(f.data), "user": f.user, "mode": "hosted",
		"url_private": at, "url_private_download": at,
	}
}

// keep stores a file that a person shares. mu is held.
func (s *Server) keep(f SharedFile, user string) *file {
	kept := &file{id: s.id("F"), name: f.Name, mime: f.MIME, user: user, data: f.Data, complete: true}
	s.files[kept.id] = kept
	return kept
}

func (c *call) uploadURL() answer {
	f := &file{id: c.of.id("F"), name: c.args.Get("filename"), mime: "application/octet-stream", user: c.app.user.ID}
	c.of.files[f.id] = f
	return ok(map[string]any{"upload_url": c.base + "/upload/" + f.id, "file_id": f.id})
}

func (c *call) completeUpload() answer {
	var list []struct {
		ID string `json:"id"`
	}
	if json.Unmarshal([]byte(c.args.Get("files")), &list) != nil || len(list) == 0 {
		return refuse("invalid_arguments")
	}
	for _, one := range list {
		f := c.of.files[one.ID]
		if f == nil || f.data == nil {
			return refuse("file_not_found")
		}
		f.complete = true
	}
	return ok(map[string]any{"files": list})
}

func (c *call) fileInfo() answer {
	f := c.of.files[c.args.Get("file")]
	if f == nil {
		return refuse("file_not_found")
	}
	return ok(map[string]any{"file": f.wire(c.of)})
}

// serveUpload takes the bytes of a file; its address is the right to send them.
func (s *Server) serveUpload(w http.ResponseWriter, r *http.Request, id string) {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, "too long", http.StatusRequestEntityTooLarge)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.files[id]
	if f == nil || f.complete {
		http.NotFound(w, r)
		return
	}
	f.data = data
	_, _ = io.WriteString(w, "OK") // the client's hanging up is its own affair
}

// serveFile sends a file's bytes to a caller with a token, and the sign-in page to
// others.
func (s *Server) serveFile(w http.ResponseWriter, r *http.Request, path string) {
	id, _, _ := strings.Cut(path, "/")
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	allowed := false
	for _, a := range s.Apps() {
		allowed = allowed || token == a.profile.BotToken && token != ""
	}
	s.mu.Lock()
	f := s.files[id]
	s.mu.Unlock()
	switch {
	case f == nil:
		http.NotFound(w, r)
	case !allowed:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<!DOCTYPE html><title>Sign in | Slack</title>") // as above
	default:
		w.Header().Set("Content-Type", f.mime)
		_, _ = w.Write(f.data) // as above
	}
}
