//go:build !otlp

package telemetry

import (
	"context"
	"errors"
)

// errWithout says why there are no traces: what encodes OTLP makes the program
// half as large again, for everybody.
var errWithout = errors.New("this program was built without OTLP: use the package, or make build TAGS=otlp")

// NewExporter fails: traces are part of programs built with the tag otlp.
func NewExporter(context.Context, string) (SpanExporter, error) { return nil, errWithout }
