package fake

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// MaxBody is the largest request body that a fake reads.
const MaxBody = 64 << 20

// EncodeJSON returns v as JSON. The wire types cannot fail to encode.
func EncodeJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("fake: wire type does not encode: " + err.Error())
	}
	return b
}

// HandleJSON makes a handler of a function from a request's JSON to what was done; a
// member that it does not know, and an error of the function, answer 400 with
// {"error": …}. It serves every fake platform's /control/.
func HandleJSON[In, Out any](do func(In) (Out, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in In
		dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, MaxBody))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&in); err != nil {
			WriteError(w, http.StatusBadRequest, err)
			return
		}
		out, err := do(in)
		if err != nil {
			WriteError(w, http.StatusBadRequest, err)
			return
		}
		WriteResult(w, out)
	})
}

// WriteResult answers v as JSON.
func WriteResult[Out any](w http.ResponseWriter, v Out) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(EncodeJSON(v), '\n')) // the client's hanging up is its own affair
}

// WriteError answers a status and {"error": …}.
func WriteError(w http.ResponseWriter, status int, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(EncodeJSON(map[string]string{"error": err.Error()}), '\n')) // as above
}

// WriteSent answers what await returns. With wait and n in the address await is given
// so much time for so many messages, one at least; else it is to return at once.
func WriteSent[Out any](w http.ResponseWriter, r *http.Request, await func(ctx context.Context, n int) (Out, error)) {
	ctx, n := r.Context(), 0
	if wait, err := time.ParseDuration(r.URL.Query().Get("wait")); err == nil {
		n, _ = strconv.Atoi(r.URL.Query().Get("n")) // none is one
		n = max(n, 1)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, wait)
		defer cancel()
	}
	all, _ := await(ctx, n) // running out of time is an answer too
	WriteResult(w, all)
}

// HandleFaults lets /control/fault put faults in force, and out of it.
func HandleFaults(mux *http.ServeMux, on interface {
	Fault(f CallFault) *ArmedFault
	ClearFaults()
},
) {
	type done struct {
		OK bool `json:"ok"`
	}
	mux.Handle("POST /control/fault", HandleJSON(func(f CallFault) (done, error) {
		on.Fault(f)
		return done{true}, nil
	}))
	mux.HandleFunc("DELETE /control/fault", func(w http.ResponseWriter, _ *http.Request) {
		on.ClearFaults()
		WriteResult(w, done{true})
	})
}

// TrimHalf makes room in a list that reached its limit by giving up the older half,
// so that the copying costs each entry once. It counts what it gave up in dropped.
func TrimHalf[E any](list []E, limit int, dropped *int) []E {
	if len(list) < limit {
		return list
	}
	half := len(list) - limit/2
	*dropped += half
	return slices.Delete(list, 0, half)
}
