package httpx

import (
	"errors"
	"io"
	"net/http"
)

// maxCall bounds the body of a platform's call (SECURITY S9).
const maxCall = 1 << 20

// Called returns the body of a platform's call once it is proved to come from there.
// Only raw bytes are looked at before: each of the headers has to come once, and prove
// says what is wrong with the signature that is among them. Any other request is
// answered here and noted as refused, and ok is false.
func Called(w http.ResponseWriter, r *http.Request, refuse func(reason string), headers []string, prove func(body []byte) error) (body []byte, ok bool) {
	if r.Method != http.MethodPost {
		refuse("only POST is taken")
		http.Error(w, "only POST", http.StatusMethodNotAllowed)
		return nil, false
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxCall))
	if err != nil {
		refuse("the body is too long, or cut short")
		http.Error(w, "the body is too long", http.StatusRequestEntityTooLarge)
		return nil, false
	}
	if err = plain(r.Header, headers); err == nil {
		err = prove(body)
	}
	if err != nil {
		refuse(err.Error())
		http.Error(w, "not proved to come from the platform", http.StatusUnauthorized)
		return nil, false
	}
	return body, true
}

// plain says why the headers leave it open what was signed: one that comes twice proves
// nothing, and a body may be encoded on the way.
func plain(h http.Header, once []string) error {
	for _, name := range once {
		if len(h.Values(name)) != 1 {
			return errors.New("the header " + name + " does not come once")
		}
	}
	if h.Get("Content-Encoding") != "" {
		return errors.New("the body is encoded")
	}
	return nil
}
