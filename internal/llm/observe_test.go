package llm

import (
	"context"
	"errors"
	"testing"
	"time"
)

type one struct {
	resp Response
	err  error
}

func (o one) Generate(context.Context, Request) (Response, error) { return o.resp, o.err }

func TestWitnessTellsOfEveryCallAndChangesNone(t *testing.T) {
	failure := errors.New("no")
	for _, inner := range []one{{resp: Response{Text: "yes"}}, {err: failure}} {
		told := 0
		w := CallObserver{Model: inner, Saw: func(r Request, resp Response, _ time.Duration, err error) {
			told++
			if r.Model != "m" || resp.Text != inner.resp.Text || !errors.Is(err, inner.err) {
				t.Errorf("saw %+v %+v %v", r, resp, err)
			}
		}}
		resp, err := w.Generate(t.Context(), Request{Model: "m"})
		if told != 1 || resp.Text != inner.resp.Text || !errors.Is(err, inner.err) {
			t.Errorf("got %+v, %v, told %d times", resp, err, told)
		}
	}
}

func TestSizeCountsWhatIsSent(t *testing.T) {
	r := Request{
		Messages: []Message{{Text: "four"}, {Calls: []ToolCall{{Name: "ab", Args: "{}"}}}},
		Tools:    []Tool{{Name: "t", Description: "does", Schema: []byte("{}")}},
	}
	if got := r.Size(); got != 4+4+7 {
		t.Errorf("size is %d", got)
	}
}
