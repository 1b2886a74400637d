package redact

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
)

// handler scrubs records before they are rendered, so that quoting and encoding
// cannot hide a credential from it.
type handler struct {
	next  slog.Handler
	known *SecretRegistry

	added []slog.Attr // by WithAttrs; scrubbed lazily, since most loggers never log
	scrub sync.Once   // guards ready
	ready slog.Handler
}

// CaughtCount returns how many log texts a handler of [SecretRegistry.Handler] has
// redacted; 0 for other handlers. Each is an error in the code that logged it.
func CaughtCount(h slog.Handler) int64 {
	if own, ok := h.(*handler); ok {
		return own.known.caught.Load()
	}
	return 0
}

// scrubbedNext returns the next handler with the added attributes, scrubbed.
func (h *handler) scrubbedNext() slog.Handler {
	h.scrub.Do(func() {
		h.ready = h.next
		if len(h.added) > 0 {
			h.ready = h.next.WithAttrs(h.attrs(h.added))
		}
	})
	return h.ready
}

// Enabled implements [slog.Handler].
func (h *handler) Enabled(ctx context.Context, l slog.Level) bool { return h.next.Enabled(ctx, l) }

// Handle implements [slog.Handler].
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	clean := slog.NewRecord(r.Time, r.Level, h.known.scrubLogged(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(h.attr(a))
		return true
	})
	return h.scrubbedNext().Handle(ctx, clean)
}

// WithAttrs implements [slog.Handler].
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &handler{next: h.next, known: h.known, added: slices.Concat(h.added, attrs)}
}

// WithGroup implements [slog.Handler].
func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{next: h.scrubbedNext().WithGroup(name), known: h.known}
}

func (h *handler) attrs(attrs []slog.Attr) []slog.Attr {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = h.attr(a)
	}
	return clean
}

func (h *handler) attr(a slog.Attr) slog.Attr {
	return slog.Attr{Key: h.known.scrubLogged(a.Key), Value: h.value(a.Value)}
}

func (h *handler) value(v slog.Value) slog.Value {
	v = v.Resolve()
	switch v.Kind() {
	case slog.KindString:
		return slog.StringValue(h.known.scrubLogged(v.String()))
	case slog.KindGroup:
		return slog.GroupValue(h.attrs(v.Group())...)
	case slog.KindAny:
		return h.scrubAny(v)
	case slog.KindBool, slog.KindDuration, slog.KindFloat64, slog.KindInt64, slog.KindTime, slog.KindUint64:
		return v
	case slog.KindLogValuer: // Resolve leaves none
		return slog.StringValue(Hidden)
	}
	return v
}

// scrubAny scrubs a value of any type in its rendered text. A value without
// credentials keeps its type, for handlers that encode it.
func (h *handler) scrubAny(v slog.Value) slog.Value {
	text := fmt.Sprintf("%+v", v.Any())
	if raw, ok := v.Any().([]byte); ok {
		text = string(raw)
	}
	if clean := h.known.scrubLogged(text); clean != text {
		return slog.StringValue(clean)
	}
	return v
}
