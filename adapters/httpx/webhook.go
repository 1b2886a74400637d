package httpx

import (
	"bytes"
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

// A RefusedCallError is why a call is not taken: a status for the caller, and the reason,
// which holds no word of the caller's.
type RefusedCallError struct {
	Status int
	Reason string
}

// Error returns the reason.
func (e *RefusedCallError) Error() string { return e.Reason }

// refusals are what platforms are told of a refused call, by its status.
var refusals = map[int]string{
	http.StatusMethodNotAllowed:      "only POST",
	http.StatusServiceUnavailable:    "too many calls at once",
	http.StatusRequestEntityTooLarge: "the body is too long",
	http.StatusUnauthorized:          "not proved to come from the platform",
}

// ReadProvedBody returns the body of a platform's call as [ProveCall] does. A call that is
// refused is answered here and noted as refused, and ok is false.
func ReadProvedBody(w http.ResponseWriter, r *http.Request, refuse func(reason string), headers []string, prove func(body []byte) error) (body []byte, ok bool) {
	body, refused := ProveCall(w, r, headers, prove)
	if refused != nil {
		refuse(refused.Reason)
		http.Error(w, refusals[refused.Status], refused.Status)
		return nil, false
	}
	return body, true
}

// ProveCall returns the body of a call once it is proved where it comes from.
// Only raw bytes are looked at before: each of the headers has to come once, the first
// of them the time of the call in seconds, which has to be within five minutes; and
// prove says what is wrong with the signature that is among them. Nothing of the body is read
// before the headers are right, and of no more than maxReading bodies at once. Any other
// call is refused, and the caller answers it.
func ProveCall(w http.ResponseWriter, r *http.Request, headers []string, prove func(body []byte) error) ([]byte, *RefusedCallError) {
	if r.Method != http.MethodPost {
		return nil, &RefusedCallError{http.StatusMethodNotAllowed, "only POST is taken"}
	}
	if err := checkHeaders(r.Header, headers); err != nil {
		return nil, &RefusedCallError{http.StatusUnauthorized, err.Error()}
	}
	select {
	case reading <- struct{}{}:
		defer func() { <-reading }()
	default:
		return nil, &RefusedCallError{http.StatusServiceUnavailable, "too many calls at once"}
	}
	deadline := http.NewResponseController(w)
	_ = deadline.SetReadDeadline(time.Now().Add(bodyLimit)) // a server that cannot has a limit of its own
	body, err := readBody(http.MaxBytesReader(w, r.Body, maxCall), r.ContentLength)
	_ = deadline.SetReadDeadline(time.Time{})
	if err != nil {
		return nil, &RefusedCallError{http.StatusRequestEntityTooLarge, "the body is too long, or cut short"}
	}
	if err := prove(body); err != nil {
		return nil, &RefusedCallError{http.StatusUnauthorized, err.Error()}
	}
	return body, nil
}

// readBody reads a body that is said to have that length, negative where nothing is said,
// into memory for that length alone.
func readBody(body io.Reader, length int64) ([]byte, error) {
	b := bytes.NewBuffer(make([]byte, 0, int(min(max(length, 0), maxCall))+bytes.MinRead)) // or it would grow at the end
	_, err := b.ReadFrom(body)
	return b.Bytes(), err
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

// RejectedCallLog counts refused calls and logs them, the first at once and the following ones
// once a minute, since anyone who finds the address can make any number. Its zero value is
// ready. It may be used concurrently.
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

// tell logs the calls that were not logged yet, and again every minute until there are
// none.
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
