package httpx

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// maxCall bounds the body of a platform's call.
const maxCall = 1 << 20

// maxReading bounds how many bodies are read at once in this process, and with maxCall
// the bytes that strangers can have it hold.
const maxReading = 32

// reading has a place for each body that is read.
var reading = make(chan struct{}, maxReading)

// stampWindow is how old, or how far ahead, the time of a call may be.
const stampWindow = 5 * time.Minute

// bodyLimit is how long a body may take to come.
const bodyLimit = 5 * time.Second

// ReadProvedBody returns the body of a platform's call once it is proved to come from there.
// Only raw bytes are looked at before: each of the headers has to come once, the first
// of them the time of the call in seconds, which has to be within five minutes; and
// prove says what is wrong with the signature that is among them. Nothing of the body is read
// before the headers are right, and of no more than maxReading bodies at once. Any other
// request is answered here and noted as refused, and ok is false.
func ReadProvedBody(w http.ResponseWriter, r *http.Request, refuse func(reason string), headers []string, prove func(body []byte) error) (body []byte, ok bool) {
	if r.Method != http.MethodPost {
		refuse("only POST is taken")
		http.Error(w, "only POST", http.StatusMethodNotAllowed)
		return nil, false
	}
	err := checkHeaders(r.Header, headers)
	if err == nil {
		select {
		case reading <- struct{}{}:
			defer func() { <-reading }()
		default:
			refuse("too many calls at once")
			http.Error(w, "too many calls at once", http.StatusServiceUnavailable)
			return nil, false
		}
		deadline := http.NewResponseController(w)
		_ = deadline.SetReadDeadline(time.Now().Add(bodyLimit)) // a server that cannot has a limit of its own
		body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, maxCall))
		_ = deadline.SetReadDeadline(time.Time{})
		if err != nil {
			refuse("the body is too long, or cut short")
			http.Error(w, "the body is too long", http.StatusRequestEntityTooLarge)
			return nil, false
		}
		err = prove(body)
	}
	if err != nil {
		refuse(err.Error())
		http.Error(w, "not proved to come from the platform", http.StatusUnauthorized)
		return nil, false
	}
	return body, true
}

// checkHeaders says why the headers leave it open what was signed: one that comes twice proves
// nothing, the first of them is an old time, or a body may be encoded on the way.
func checkHeaders(h http.Header, once []string) error {
	for _, name := range once {
		if len(h.Values(name)) != 1 {
			return errors.New("the header " + name + " does not come once")
		}
	}
	if len(once) > 0 {
		at, err := strconv.ParseInt(h.Get(once[0]), 10, 64)
		if err != nil {
			return errors.New("the time is none")
		}
		if age := time.Since(time.Unix(at, 0)); age > stampWindow || age < -stampWindow {
			return errors.New("the time is not now")
		}
	}
	if h.Get("Content-Encoding") != "" {
		return errors.New("the body is encoded")
	}
	return nil
}

// tellEvery is how often calls that were refused are told of.
const tellEvery = time.Minute

// RejectedCallLog counts calls that are refused and tells the log of them, the first at once and
// those behind it once a minute: whoever finds the address can make any number. Its
// zero value is ready. It may be used concurrently.
type RejectedCallLog struct {
	mu     sync.Mutex // guards what follows
	all    int64
	untold int64
	reason string // of the last
	quiet  bool   // until a person tells the next
}

// Note counts a call that was refused for a reason, which holds no word of the caller's.
func (r *RejectedCallLog) Note(lg *slog.Logger, reason string) {
	r.mu.Lock()
	r.all, r.untold, r.reason = r.all+1, r.untold+1, reason
	first := !r.quiet
	r.quiet = true
	r.mu.Unlock()
	if first {
		r.tell(lg)
	}
}

// tell tells of what nobody was told of, and again in a minute, until there is nothing.
func (r *RejectedCallLog) tell(lg *slog.Logger) {
	r.mu.Lock()
	n, reason := r.untold, r.reason
	r.untold, r.quiet = 0, n > 0
	r.mu.Unlock()
	if n == 0 {
		return
	}
	lg.Warn("calls refused", "calls", n, "reason", reason)
	time.AfterFunc(tellEvery, func() { r.tell(lg) })
}

// All returns how many calls were refused since the start.
func (r *RejectedCallLog) All() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all
}
