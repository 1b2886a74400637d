package discord

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// fileLife is how long a file's address is good.
const fileLife = 24 * time.Hour

// uploadedFile are the files of messages, by path.
type uploadedFile struct {
	mu    sync.Mutex // guards what follows
	files map[string][]byte
}

func (k *uploadedFile) put(path string, data []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.files == nil {
		k.files = map[string][]byte{}
	}
	k.files[path] = data
}

func (k *uploadedFile) get(path string) ([]byte, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	data, ok := k.files[path]
	return data, ok
}

// keepFile keeps a file of a channel. Its address is completed when it is shown.
// It needs the lock.
func (d *Server) keepFile(ch *GuildChannel, f SharedFile) wireAttachment {
	id := d.id()
	path := fmt.Sprintf("/files/%d/%d/%s", ch.ID, id, f.Name)
	d.kept.put(path, f.Data)
	return wireAttachment{ID: id, Filename: f.Name, Size: len(f.Data), MIME: f.MIME, URL: path, ProxyURL: path}
}

// sign returns an attachment with an address that is good for a while.
func (a wireAttachment) sign(origin string) wireAttachment {
	until := time.Now().Add(fileLife).Unix()
	a.URL = fmt.Sprintf("%s%s?ex=%x", origin, a.URL, until)
	a.ProxyURL = a.URL
	return a
}

func (d *Server) serveFile(w http.ResponseWriter, r *http.Request) {
	data, ok := d.kept.get(r.URL.Path)
	until, err := strconv.ParseInt(r.URL.Query().Get("ex"), 16, 64)
	switch {
	case !ok, err != nil, time.Now().Unix() > until:
		http.Error(w, "This content is no longer available.", http.StatusNotFound)
	case strings.HasPrefix(r.Header.Get("Authorization"), "Bot"):
		http.Error(w, "a file needs no token", http.StatusBadRequest)
	default:
		_, _ = w.Write(data) // the client's hanging up is its own affair
	}
}
