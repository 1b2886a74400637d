package openai

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	goopenai "github.com/sashabaranov/go-openai"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/modelhttp"
)

var looking = llm.ModelRequest{Model: "m", Messages: []llm.TranscriptMessage{
	{Role: llm.System, Text: "You see."},
	{Role: llm.User, Text: "what is this?", Pictures: []llm.ModelImage{
		{Media: "image/png", Data: []byte("\x89PNG"), Tokens: 100}, {Media: "image/jpeg", Data: bytes.Repeat([]byte("x"), 40_000), Tokens: 200},
	}},
}}

// Images follow the text, in the form of the library.
func TestImagesFollowTheText(t *testing.T) {
	var got goopenai.ChatCompletionRequest
	if err := json.Unmarshal(written(looking, parameters{pictures: true}), &got); err != nil {
		t.Fatal(err)
	}
	want := []goopenai.ChatMessagePart{
		{Type: goopenai.ChatMessagePartTypeText, Text: "what is this?"},
		{Type: goopenai.ChatMessagePartTypeImageURL, ImageURL: &goopenai.ChatMessageImageURL{URL: "data:image/png;base64,iVBORw=="}},
		{Type: goopenai.ChatMessagePartTypeImageURL, ImageURL: &goopenai.ChatMessageImageURL{
			URL: "data:image/jpeg;base64," + base64.StdEncoding.EncodeToString(looking.Messages[1].Pictures[1].Data),
		}},
	}
	if diff := cmp.Diff(want, got.Messages[1].MultiContent); diff != "" || got.Messages[0].Content != "You see." {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if body := written(looking, parameters{}); strings.Contains(string(body), "image_url") {
		t.Error("pictures are sent although the endpoint does not take them")
	}
}

// Without reported usage the estimate counts the text and the tokens of each image,
// not its bytes.
func TestImagesCountAsTheirTokens(t *testing.T) {
	u := (&streamAssembler{request: looking, sees: true}).tokenUsage(len(written(looking, parameters{pictures: true})))
	if u.Prompt < 300 || u.Prompt > 500 || !u.Estimated {
		t.Errorf("counted %+v, want 300 and some words", u)
	}
}

// When a model refuses images, this request and later ones are sent without them.
func TestModelWithoutVisionGetsTextOnly(t *testing.T) {
	var pictures []bool
	c, err := New(modelhttp.ClientOptions{BaseURL: "http://model.test/v1", Transport: fakeTransport(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		with := bytes.Contains(body, []byte("image_url"))
		pictures = append(pictures, with)
		status, answer := 200, `{"id":"x","choices":[{"message":{"content":"a cat"},"finish_reason":"stop"}]}`
		if with {
			status, answer = 400, `{"error":{"message":"m does not support image input"}}`
		}
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(answer))}, nil
	})})
	if err != nil {
		t.Fatal(err)
	}
	words := (len(written(looking, c.parametersFor(looking, noPictures, llm.ModelCapability{}))) + 3) / 4
	for range 2 {
		got, err := c.Generate(t.Context(), looking)
		if err != nil || got.Text != "a cat" {
			t.Fatalf("%+v, %v", got, err)
		}
		if got.Usage.Prompt != words { // the images were not sent
			t.Errorf("%d tokens for the words alone, want %d", got.Usage.Prompt, words)
		}
	}
	if diff := cmp.Diff([]bool{true, false, false}, pictures); diff != "" {
		t.Errorf("asked with pictures (-want +got):\n%s", diff)
	}
}
