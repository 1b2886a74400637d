package llm

import (
	"context"
	"time"
)

// A CallObserver tells of every call of a model, answered or failed.
type CallObserver struct {
	Model Model
	// Saw is called after each call, with how long it took, and must not keep the
	// request. Calls overlap.
	Saw func(r Request, resp Response, took time.Duration, err error)
}

var _ Model = CallObserver{}

// Generate asks the model and tells of it.
func (w CallObserver) Generate(ctx context.Context, r Request) (Response, error) {
	asked := time.Now()
	resp, err := w.Model.Generate(ctx, r)
	w.Saw(r, resp, time.Since(asked), err)
	return resp, err
}

// Size is how many bytes of text and schema a request holds.
func (r Request) Size() int {
	n := 0
	for _, m := range r.Messages {
		n += len(m.Text)
		for _, c := range m.Calls {
			n += len(c.Name) + len(c.Args)
		}
	}
	for _, t := range r.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	return n
}
