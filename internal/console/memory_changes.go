package console

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"

	"github.com/trestle-bridge/trestle/spaces"
)

// A MemoryEdit is what a memory is to say in place of what it says.
type MemoryEdit struct {
	Fact string `json:"fact"`
}

// change has the mind that a path names forget something or, with a fact, have that in
// place of what it remembers.
func (c *Console) change(r *http.Request, id string, correct *MemoryEdit) (m spaces.Mind, err error) {
	if m, err = mindOf(r); err != nil {
		return m, err
	}
	var had bool
	if correct == nil {
		had, err = c.Process.Forget(r.Context(), m, id)
	} else {
		had, err = c.Process.Correct(r.Context(), m, id, correct.Fact)
	}
	if err == nil && !had {
		err = ErrUnknown
	}
	return m, err
}

func (c *Console) apiForget(w http.ResponseWriter, r *http.Request) { c.apiChange(w, r, nil) }

func (c *Console) apiCorrect(w http.ResponseWriter, r *http.Request) {
	var fact MemoryEdit
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<10)).Decode(&fact); err != nil {
		reply(w, http.StatusBadRequest, ErrorAnswer{Error: "the request is no JSON of a correction", Do: `send {"fact": "…"}`})
		return
	}
	c.apiChange(w, r, &fact)
}

func (c *Console) apiChange(w http.ResponseWriter, r *http.Request, correct *MemoryEdit) {
	_, err := c.change(r, r.URL.Query().Get("id"), correct)
	if no, ok := errors.AsType[UserError](err); ok {
		reply(w, http.StatusBadRequest, no.Refusal())
		return
	}
	if err != nil {
		c.broken(w, r, err)
		return
	}
	reply(w, http.StatusOK, nothing{})
}

// pageChangeMemory changes what a mind has and shows it.
func (c *Console) pageChangeMemory(w http.ResponseWriter, r *http.Request) {
	var correct *MemoryEdit
	if r.PostFormValue("do") == "correct" {
		correct = &MemoryEdit{r.PostFormValue("fact")}
	}
	m, err := c.change(r, r.PostFormValue("id"), correct)
	if no, ok := errors.AsType[UserError](err); ok {
		said := no.Refusal()
		c.fail(w, r, http.StatusBadRequest, said.Error+" "+said.Do)
		return
	}
	if err != nil {
		c.broken(w, r, err)
		return
	}
	http.Redirect(w, r, memoryPath(m), http.StatusSeeOther)
}

func memoryPath(m spaces.Mind) string {
	return "/memory/" + url.PathEscape(string(m.Agent)) + "/" + url.PathEscape(string(m.Circle))
}
