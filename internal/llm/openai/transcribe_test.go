package openai

import (
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// Issue 5: a recording goes to the endpoint's /audio/transcriptions under a name
// that says what it is, with the key and the model's name.
func TestARecordingIsHeardByTheEndpoint(t *testing.T) {
	got := map[string]string{}
	c, err := New(Options{BaseURL: "http://model.test/v1", APIKey: "sk-1", Transport: fakeTransport(func(r *http.Request) (*http.Response, error) {
		got["to"] = r.Method + " " + r.URL.Path + " " + r.Header.Get("Authorization")
		_, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
		if err != nil {
			return nil, err
		}
		form, err := multipart.NewReader(r.Body, params["boundary"]).ReadForm(1 << 20)
		if err != nil {
			return nil, err
		}
		got["model"] = strings.Join(form.Value["model"], " ")
		f, err := form.File["file"][0].Open()
		if err != nil {
			return nil, err
		}
		defer f.Close()
		content, err := io.ReadAll(f)
		got["file"] = form.File["file"][0].Filename + " " + string(content)
		return &http.Response{
			StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(`{"text":"hello there"}`)),
		}, err
	})})
	if err != nil {
		t.Fatal(err)
	}
	text, u, err := c.Transcribe(t.Context(), "whisper-1", "voice.ogg", strings.NewReader("OggS"), 3000)
	if err != nil || text != "hello there" || u.Prompt != 10 || u.Output != 3 || !u.Estimated {
		t.Errorf("heard %q for %+v, %v", text, u, err)
	}
	want := map[string]string{"to": "POST /v1/audio/transcriptions Bearer sk-1", "model": "whisper-1", "file": "voice.ogg OggS"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

// DELIVERY 2.8: a refusal has its kind.
func TestARefusedRecordingHasItsKind(t *testing.T) {
	for status, want := range map[int]llm.ErrorKind{400: llm.Rejected, 401: llm.Denied, 429: llm.Limited, 500: llm.Unavailable} {
		_, _, err := canned(t, status, http.Header{}, `{"error":{"message":"no"}}`).Transcribe(t.Context(), "m", "voice.ogg", strings.NewReader("x"), 1)
		if err == nil || llm.KindOf(err) != want {
			t.Errorf("%d: %v, want %s", status, err, want)
		}
	}
}
