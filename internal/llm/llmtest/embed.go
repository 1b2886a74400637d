package llmtest

import (
	"encoding/json"
	"hash/fnv"
	"net/http"
	"strings"
)

// vectorSize is how many numbers a vector of [Vector] has.
const vectorSize = 64

// Vector is where the server says that a text stands: texts are the nearer the more
// words they share.
func Vector(text string) []float32 {
	v := make([]float32, vectorSize)
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		h := fnv.New64a()
		_, _ = h.Write([]byte(word)) // a hash takes all
		bits := h.Sum64()
		for i := range v {
			v[i] += float32(int(bits>>i&1)*2 - 1)
		}
	}
	return v
}

type wireVector struct {
	Object    string    `json:"object"`
	Index     int       `json:"index"`
	Embedding []float32 `json:"embedding"`
}

// embed answers POST …/embeddings.
func (s *Server) embed(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Model string   `json:"model"`
		Input []string `json:"input"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostBody)).Decode(&asked); err != nil || len(asked.Input) == 0 {
		writeError(w, http.StatusBadRequest, "invalid_request_error", "The body holds no texts.")
		return
	}
	if !s.exists(asked.Model) {
		writeError(w, http.StatusNotFound, "model_not_found", "The model `"+asked.Model+"` does not exist.")
		return
	}
	answer := struct {
		Object string       `json:"object"`
		Model  string       `json:"model"`
		Data   []wireVector `json:"data"`
		Usage  wireUsage    `json:"usage"`
	}{Object: "list", Model: asked.Model}
	for i, text := range asked.Input {
		answer.Data = append(answer.Data, wireVector{"embedding", i, Vector(text)})
		answer.Usage.Prompt += (len(text) + 3) / 4
	}
	answer.Usage.Total = answer.Usage.Prompt
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // who asked has gone
}
