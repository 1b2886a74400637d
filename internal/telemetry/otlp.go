//go:build otlp

package telemetry

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
)

// NewExporter returns what hands spans to an OTLP endpoint over HTTP. The
// environment's OTEL_EXPORTER_OTLP_* variables say more, such as headers and
// certificates. It makes no call; an endpoint that is away costs spans alone.
func NewExporter(ctx context.Context, endpoint string) (SpanExporter, error) {
	e, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(endpoint))
	if err != nil {
		return nil, fmt.Errorf("open the endpoint for traces: %w", err)
	}
	return e, nil
}
