package console

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// showHealth answers everybody with one word, and those who may know with more.
func (c *Console) showHealth(w http.ResponseWriter, r *http.Request) {
	h := c.Process.Health()
	code := http.StatusOK
	if h.Status == "starting" {
		code = http.StatusServiceUnavailable
	}
	if !ownerAsks(r) && c.authorise(r) != nil {
		reply(w, code, briefHealth{h.Status})
		return
	}
	reply(w, code, h)
}

func (c *Console) showBoot(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, c.Process.Boot())
}

func (c *Console) status(r *http.Request) (statusAnswer, error) {
	t, err := c.Record.Tally(r.Context(), time.Now())
	h := c.Process.Health()
	return statusAnswer{h, lights(h, t, time.Now()), t}, err
}

func (c *Console) apiAnswer(w http.ResponseWriter, r *http.Request) {
	if c.Answers == nil {
		c.missing(w, r)
		return
	}
	a, err := c.Answers(r.Context(), r.PathValue("command"), r.URL.Query())
	if no, ok := errors.AsType[UserError](err); ok {
		reply(w, http.StatusUnprocessableEntity, no.Refusal())
		return
	}
	if err != nil {
		c.broken(w, r, err)
		return
	}
	reply(w, http.StatusOK, a)
}

func (c *Console) problems(r *http.Request) (problemsAnswer, error) {
	found, err := c.Process.Problems(r.Context())
	return problemsAnswer{some(found)}, err
}

func (c *Console) apiAdapters(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, adaptersAnswer{some(c.Process.Adapters())})
}

func (c *Console) pairings(r *http.Request) (pairingsAnswer, error) {
	waiting, err := c.Process.Pairings(r.Context())
	return pairingsAnswer{some(waiting)}, err
}

func (c *Console) apiConfig(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, configAnswer{some(c.Settings.Rows())})
}

func (c *Console) apiSchema(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, json.RawMessage(c.Settings.Schema()))
}

func (c *Console) tokens(r *http.Request) (TokensAnswer, error) {
	keys, err := c.Keys.ListKeys(r.Context(), KeyToken)
	rows := []TokenRow{}
	for _, k := range keys {
		rows = append(rows, TokenRow{k.ID, k.Name, k.Created, k.Used})
	}
	return TokensAnswer{rows}, err
}

func (c *Console) apiAddToken(w http.ResponseWriter, r *http.Request) {
	var q TokenRequest
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4<<10)).Decode(&q); err != nil || q.Name == "" || len(q.Name) > 100 {
		reply(w, http.StatusBadRequest, ErrorAnswer{Error: "the request has no name for the token", Do: `send {"name": "…"}`})
		return
	}
	m := NewKey(KeyToken, q.Name, time.Now())
	if err := c.Keys.AddKey(r.Context(), m.Key); err != nil {
		c.broken(w, r, err)
		return
	}
	c.Logger.Info("token added", "token", m.ID, "name", m.Name)
	reply(w, http.StatusOK, NewToken{m.ID, m.Name, m.Secret})
}

func (c *Console) apiDropToken(w http.ResponseWriter, r *http.Request) {
	k, err := c.Keys.KeyByID(r.Context(), r.PathValue("id"))
	if err == nil && k.Kind != KeyToken {
		err = ErrUnknown
	}
	if err == nil {
		err = c.Keys.DropKey(r.Context(), k.ID)
	}
	if err != nil {
		c.broken(w, r, err)
		return
	}
	c.revoked.Add(1)
	c.Logger.Info("token revoked", "token", k.ID, "name", k.Name)
	reply(w, http.StatusOK, nothing{})
}

func (c *Console) addLink(r *http.Request) (NewLink, error) { return c.NewLink(r.Context()) }

// apiCancel ends a run where it stands (PRD-5.2-A5).
func (c *Console) apiCancel(w http.ResponseWriter, r *http.Request) {
	id := spaces.CycleID(r.PathValue("id"))
	switch under, err := c.cancel(r, id); {
	case err != nil:
		c.broken(w, r, err)
	case !under:
		reply(w, http.StatusConflict, ErrorAnswer{Error: "the run is not under way"})
	default:
		reply(w, http.StatusAccepted, cancelAnswer{id, spaces.StopCancelled})
	}
}

// cancel asks for the end of a run and reports whether it was under way.
func (c *Console) cancel(r *http.Request, id spaces.CycleID) (bool, error) {
	run, err := c.Record.Run(r.Context(), string(id))
	if err != nil {
		return false, err
	}
	if y := run.Cycle; y.ID != id || y.State != spaces.CycleOpen {
		return false, nil
	}
	under, err := c.Process.Cancel(r.Context(), id)
	if under {
		c.Logger.Info("run cancelled", "run", id)
	}
	return under, err
}

// number reads a number of a request's query; 0 when there is none.
func number(r *http.Request, name string) (int64, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, errNumber
	}
	return n, nil
}

var errNumber = errors.New("no number")

// some returns the list, which in JSON is never null.
func some[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
