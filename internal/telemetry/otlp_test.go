//go:build otlp

package telemetry

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Issue 7: spans reach a collector in OTLP over HTTP.
func TestSpansReachACollector(t *testing.T) {
	got := make(chan *collector.ExportTraceServiceRequest, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		var sent collector.ExportTraceServiceRequest
		if err := proto.Unmarshal(raw, &sent); err != nil {
			t.Error(err)
		}
		got <- &sent
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	defer server.Close()
	e, err := NewExporter(t.Context(), server.URL+"/v1/traces")
	if err != nil {
		t.Fatal(err)
	}
	p := sdk.NewTracerProvider(sdk.WithSyncer(e))
	_, span := p.Tracer("test").Start(t.Context(), "handle message")
	span.End()
	select {
	case sent := <-got:
		if name := sent.GetResourceSpans()[0].GetScopeSpans()[0].GetSpans()[0].GetName(); name != "handle message" {
			t.Errorf("got %q", name)
		}
	case <-time.After(time.Minute):
		t.Fatal("nothing came")
	}
	if err := p.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}
