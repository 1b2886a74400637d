package llmtest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// An EndpointFault is injected into one request.
type EndpointFault struct {
	Kind       FaultKind
	RetryAfter time.Duration // of TooMany: whole seconds, rounded up; 0 omits the header
}

// FaultKind names a fault.
type FaultKind int

// The faults.
const (
	None              FaultKind = iota
	HangBeforeHeaders           // silence until the client gives up
	HangAfterHeaders            // headers, then silence
	HangMidStream               // half an answer, then silence
	CutConnection               // half an answer, then the connection breaks
	CutQuietly                  // half an answer, then a clean end without a finish_reason
	Huge                        // an answer of 9 MiB
	BadJSON                     // events that are no JSON
	HTML                        // 200 with a web page
	WrongContentType            // an image
	Unauthorized                // 401
	Spent                       // 429 with insufficient_quota
	TooMany                     // 429
	ServerError                 // 500
	ModelGone                   // 404 with model_not_found
	ContextExceeded             // 400 with context_length_exceeded
	BadTranscript               // 400 about the messages
	NoStreamOptions             // 400 when stream_options was sent
	PlainJSON                   // one plain JSON body although a stream was asked for
	Empty                       // a whole answer with nothing in it
	CutLength                   // finish_reason length, in the middle of a call if there is one
	ManyCalls                   // 200 calls of the model's first one, or of send_message
	UnknownTool                 // a call of a tool that was not offered
	ErrorInStream               // an error event after half an answer
	faultKinds
)

var faultNames = [faultKinds]string{
	"none", "hang_before_headers", "hang_after_headers", "hang_mid_stream", "cut_connection", "cut_quietly", "huge",
	"bad_json", "html", "wrong_content_type", "unauthorized", "spent", "too_many", "server_error", "model_gone",
	"context_exceeded", "bad_transcript", "no_stream_options", "plain_json", "empty", "cut_length", "many_calls",
	"unknown_tool", "error_in_stream",
}

// String returns the fault's name in reports.
func (k FaultKind) String() string {
	if k < 0 || k >= faultKinds {
		return fmt.Sprintf("fault_%d", int(k))
	}
	return faultNames[k]
}

// FaultKinds returns every kind but None.
func FaultKinds() []FaultKind {
	kinds := make([]FaultKind, 0, faultKinds-1)
	for k := None + 1; k < faultKinds; k++ {
		kinds = append(kinds, k)
	}
	return kinds
}

// asksModel reports whether the fault needs the model's answer.
func (k FaultKind) asksModel() bool {
	switch k {
	case None, HangMidStream, CutConnection, CutQuietly, PlainJSON, CutLength, ManyCalls, ErrorInStream:
		return true
	case HangBeforeHeaders, HangAfterHeaders, Huge, BadJSON, HTML, WrongContentType, Unauthorized, Spent, TooMany,
		ServerError, ModelGone, ContextExceeded, BadTranscript, NoStreamOptions, Empty, UnknownTool, faultKinds:
	}
	return false
}

// manyCalls is the number of calls of the fault ManyCalls.
const manyCalls = 200

// inject applies a fault. It returns true when the answer is complete, else it may
// have changed resp.
func (s *Server) inject(w http.ResponseWriter, r *http.Request, req *wireRequest, f EndpointFault, resp *llm.ModelResponse) bool {
	switch f.Kind {
	case None, faultKinds:
		return false
	case PlainJSON:
		req.Stream = false
		return false
	case Empty:
		*resp = llm.ModelResponse{Finish: llm.Stopped, Usage: resp.Usage}
		return false
	case CutLength:
		resp.Finish = llm.Length
		cutShort(resp)
		return false
	case ManyCalls:
		resp.Calls, resp.Finish = repeatCalls(resp.Calls), llm.Called
		return false
	case UnknownTool:
		resp.Calls, resp.Finish = []llm.ToolCall{{ID: "call_unknown_" + strconv.Itoa(len(req.Messages)), Name: "launch_rocket", Args: `{"to":"moon"}`}}, llm.Called
		return false
	case HangBeforeHeaders:
		<-r.Context().Done()
		panic(http.ErrAbortHandler) // or net/http would answer with an empty 200
	case HangAfterHeaders, HangMidStream, CutConnection, CutQuietly, ErrorInStream:
		breakStream(w, r, *req, f.Kind, *resp)
	case Huge, BadJSON, HTML, WrongContentType:
		writeGarbage(w, f.Kind)
	case Unauthorized, Spent, TooMany, ServerError, ModelGone, ContextExceeded, BadTranscript, NoStreamOptions:
		writeRefusal(w, f)
	}
	return true
}

// writeRefusal answers with an HTTP error.
func writeRefusal(w http.ResponseWriter, f EndpointFault) {
	switch f.Kind {
	case Unauthorized:
		writeError(w, http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided.")
	case Spent:
		writeError(w, http.StatusTooManyRequests, "insufficient_quota", "You exceeded your current quota.")
	case TooMany:
		writeLimited(w, f.RetryAfter)
	case ModelGone:
		writeError(w, http.StatusNotFound, "model_not_found", "The model does not exist or you do not have access to it.")
	case ContextExceeded:
		writeError(w, http.StatusBadRequest, "context_length_exceeded", "This model's maximum context length is 8192 tokens.")
	case BadTranscript:
		writeError(w, http.StatusBadRequest, "invalid_request_error", "An assistant message with 'tool_calls' must be followed by tool messages.")
	case NoStreamOptions:
		writeError(w, http.StatusBadRequest, "invalid_request_error", "Unrecognized request argument supplied: stream_options")
	default: // ServerError
		writeError(w, http.StatusInternalServerError, "server_error", "The server had an error.")
	}
}

// breakStream writes the beginning of a stream and then fails.
func breakStream(w http.ResponseWriter, r *http.Request, req wireRequest, k FaultKind, resp llm.ModelResponse) {
	w.Header().Set("Content-Type", "text/event-stream")
	if k != HangAfterHeaders {
		all := answerEvents(req, 0, resp, splitHalves)
		n := len(all) / 2
		if k == CutQuietly { // within a call if there are any: a stream may end after a whole one
			n--
		}
		_, _ = w.Write(joinEvents(all[:max(1, n)]))
	}
	_ = http.NewResponseController(w).Flush()
	switch k {
	case CutConnection:
		panic(http.ErrAbortHandler)
	case HangAfterHeaders, HangMidStream:
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	case ErrorInStream:
		_, _ = w.Write([]byte(`data: {"error":{"message":"The server had an error.","type":"server_error","code":null}}` + "\n\n"))
	default: // CutQuietly ends here
	}
}

// writeGarbage answers 200 with an invalid body.
func writeGarbage(w http.ResponseWriter, k FaultKind) {
	switch k {
	case HTML:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte("<!DOCTYPE html>\n<html><body><h1>Sign in</h1></body></html>\n"))
	case WrongContentType:
		w.Header().Set("Content-Type", "image/png")
		_, _ = w.Write([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"))
	case BadJSON:
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hal\n\ndata: [DONE]\n\n"))
	default: // Huge
		w.Header().Set("Content-Type", "text/event-stream")
		piece := joinEvents([][]byte{streamEvent(0, "m", delta{Content: strings.Repeat("a", 64<<10)}, "")})
		for range (9 << 20) / (64 << 10) {
			if _, err := w.Write(piece); err != nil {
				return // the client has closed the connection
			}
		}
	}
}

// cutShort removes the second half of the answer.
func cutShort(resp *llm.ModelResponse) {
	resp.Text = strings.ToValidUTF8(resp.Text[:len(resp.Text)/2], "")
	if n := len(resp.Calls); n > 0 {
		last := &resp.Calls[n-1]
		last.Args = strings.ToValidUTF8(last.Args[:len(last.Args)/2], "")
	}
}

// repeatCalls returns manyCalls calls like the first one.
func repeatCalls(calls []llm.ToolCall) []llm.ToolCall {
	first := llm.ToolCall{ID: "call", Name: "send_message", Args: `{"text":"again"}`}
	if len(calls) > 0 {
		first = calls[0]
	}
	all := make([]llm.ToolCall, manyCalls)
	for i := range all {
		all[i] = first
		all[i].ID = first.ID + "_" + strconv.Itoa(i)
	}
	return all
}
