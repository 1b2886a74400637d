package adapters

import (
	"context"
	"net/http/httptrace"
	"sync/atomic"
)

// CallOutcome is what could be seen of one HTTP call, the only ground on which a
// send is judged (DELIVERY 2.4).
type CallOutcome struct {
	Written  bool // any byte of the request may have left us
	Status   int  // HTTP status; 0 when no answer came
	Readable bool // a 2xx answer whose message id we could read
}

// Judge is the one ambiguity rule for sends. It reports sent for an accepted
// call; otherwise kind is what a failure may mean: NotSent, Limited, Invalid
// for a permanent refusal, or Unknown.
func Judge(o CallOutcome) (sent bool, kind Kind) {
	switch {
	case o.Status >= 200 && o.Status < 300 && o.Readable:
		return true, Unknown
	case o.Status == 429:
		return false, Limited
	case o.Status == 408 || o.Status == 425:
		return false, NotSent // the server says it did not process the request
	case o.Status == 409:
		return false, Conflict
	case o.Status >= 400 && o.Status < 500:
		return false, Invalid
	case o.Status == 0 && !o.Written:
		return false, NotSent
	default:
		return false, Unknown
	}
}

// Trace returns a context whose HTTP request reports, through written, whether
// any byte of it may have left this process.
func Trace(ctx context.Context) (traced context.Context, written *atomic.Bool) {
	written = new(atomic.Bool)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteHeaders: func() { written.Store(true) },
		WroteRequest: func(httptrace.WroteRequestInfo) { written.Store(true) },
	}), written
}
