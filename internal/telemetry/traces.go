package telemetry

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"math/rand/v2"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/trestle-bridge/trestle/spaces"
)

// flushTime bounds how long the last spans may take to leave.
const flushTime = 3 * time.Second

// patience is how long a run may take to be read for its trace.
const patience = 2 * time.Second

// traces makes spans of runs that have ended.
//
// One trace is one causal chain: its id is made of the chain's root event, so
// that the runs of several agents, and those of a run that was resumed by another
// process, meet in it.
type traces struct {
	o        Options
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	waiting  map[string]pendingSend // by action: sends whose outcome is not known yet
}

// pendingSend is a send with the span it belongs to.
type pendingSend struct {
	in     trace.SpanContext
	action spaces.Action
}

func newTraces(o Options) *traces {
	p := sdk.NewTracerProvider(
		sdk.WithBatcher(o.Exporter),
		sdk.WithIDGenerator(ids{}),
		sdk.WithResource(resource.NewSchemaless(semconv.ServiceName("trestle"), semconv.ServiceVersion(o.Version))),
	)
	return &traces{o: o, provider: p, tracer: p.Tracer("github.com/trestle-bridge/trestle"), waiting: map[string]pendingSend{}}
}

// run makes the spans of one run: how its words came in, what the model was
// asked, what was carried out, and what was sent.
func (t *traces) run(ctx context.Context, id spaces.CycleID, w *watched, done map[string]sent) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, err := t.o.Run(ctx, id)
	if err != nil {
		t.o.Logger.Warn("run not traced", "cycle", id, "error", err)
		return
	}
	if r.Cycle.Ended.IsZero() {
		return // it goes back to the queue, and ends another time
	}
	in, received := t.received(context.WithValue(context.WithoutCancel(ctx), chainKey{}, root(r)), r)
	in, agent := t.tracer.Start(in, "invoke_agent "+r.Agent, trace.WithTimestamp(r.Cycle.Started), trace.WithAttributes(
		semconv.GenAIOperationNameInvokeAgent, semconv.GenAIAgentID(string(r.Cycle.Mind.Agent)), semconv.GenAIAgentName(r.Agent),
		semconv.GenAIConversationID(string(r.Cycle.Space)), semconv.GenAIRequestModel(r.Model),
		semconv.GenAIUsageInputTokens(r.Cycle.Usage.Prompt), semconv.GenAIUsageOutputTokens(r.Cycle.Usage.Output),
		attribute.String("trestle.run", string(r.Cycle.ID)), attribute.String("trestle.mind", r.Cycle.Mind.String()),
		attribute.String("trestle.wake", r.Cycle.Wake), attribute.String("trestle.stop", string(r.Cycle.Stop)),
		attribute.Int("trestle.denials", r.Cycle.Denials),
	))
	if t.o.Content {
		agent.SetAttributes(t.said(r.Turns)...)
	}
	if r.Cycle.Stop != spaces.StopCompleted && r.Cycle.Stop != spaces.StopSilent {
		agent.SetStatus(codes.Error, string(r.Cycle.Stop))
	}
	t.steps(in, r, w)
	for _, a := range r.Actions {
		t.action(in, a, done)
	}
	agent.End(trace.WithTimestamp(r.Cycle.Ended))
	received.End(trace.WithTimestamp(r.Cycle.Ended))
}

// received begins the span that a run's trace starts with: from the moment its
// first words were learned of.
func (t *traces) received(ctx context.Context, r RunRecord) (context.Context, trace.Span) {
	at := r.Cycle.Started
	for _, e := range r.Events {
		if !e.RecvAt.IsZero() && e.RecvAt.Before(at) {
			at = e.RecvAt
		}
	}
	return t.tracer.Start(ctx, "handle message", trace.WithSpanKind(trace.SpanKindConsumer), trace.WithTimestamp(at), trace.WithAttributes(
		attribute.String("trestle.space", string(r.Cycle.Space)), attribute.Int("trestle.messages", len(r.Events)),
	))
}

// steps makes a span of each call of the model and of each act it asked for.
func (t *traces) steps(ctx context.Context, r RunRecord, w *watched) {
	for _, s := range r.Steps {
		from, known := w.thinking[s.N]
		if !known || from.After(s.At) {
			from = s.At
		}
		_, span := t.tracer.Start(ctx, "chat "+r.Model, trace.WithSpanKind(trace.SpanKindClient), trace.WithTimestamp(from), trace.WithAttributes(
			semconv.GenAIOperationNameChat, semconv.GenAIRequestModel(r.Model), semconv.GenAIResponseFinishReasons(s.Finish),
			semconv.GenAIUsageInputTokens(s.Usage.Prompt), semconv.GenAIUsageOutputTokens(s.Usage.Output),
			attribute.Int("trestle.step", s.N), attribute.String("trestle.phase", string(s.Phase)),
		))
		span.End(trace.WithTimestamp(s.At))
	}
	for _, a := range w.tools {
		_, span := t.tracer.Start(ctx, "execute_tool "+a.name, trace.WithTimestamp(a.from), trace.WithAttributes(
			semconv.GenAIOperationNameExecuteTool, semconv.GenAIToolName(a.name), semconv.GenAIToolCallID(a.call),
		))
		if !a.ok {
			span.SetStatus(codes.Error, "refused")
		}
		if a.to.IsZero() {
			a.to = a.from
		}
		span.End(trace.WithTimestamp(a.to))
	}
}

// action makes the span of a send whose outcome is known, and else waits for it.
func (t *traces) action(ctx context.Context, a spaces.Action, done map[string]sent) {
	l := pendingSend{trace.SpanContextFromContext(ctx), a}
	if s, known := done[string(a.ID)]; known {
		delete(done, string(a.ID))
		t.send(ctx, l, s)
		return
	}
	if len(t.waiting) >= mostWatched {
		clear(t.waiting)
	}
	t.waiting[string(a.ID)] = l
}

// delivered makes the span of a send that was waited for, and reports whether it
// was.
func (t *traces) delivered(ctx context.Context, action string, s sent) bool {
	l, known := t.waiting[action]
	if known {
		delete(t.waiting, action)
		t.send(ctx, l, s)
	}
	return known
}

// send makes the span of an action from its decision to its receipt.
func (t *traces) send(ctx context.Context, l pendingSend, s sent) {
	a := l.action
	_, span := t.tracer.Start(trace.ContextWithSpanContext(ctx, l.in), "send "+string(a.Kind), trace.WithSpanKind(trace.SpanKindProducer), trace.WithTimestamp(a.Created), trace.WithAttributes(
		attribute.String("trestle.action", string(a.ID)), attribute.String("trestle.account", a.Account), attribute.String("trestle.space", string(a.Space)),
	))
	if s.code != "" {
		span.SetStatus(codes.Error, s.code)
	}
	span.End(trace.WithTimestamp(s.at))
}

// said returns what a run read and said.
func (t *traces) said(turns []spaces.TranscriptTurn) []attribute.KeyValue {
	var in, out []message
	for _, turn := range turns {
		m := message{string(turn.Role), t.o.Scrub(turn.Text)}
		for _, c := range turn.Calls {
			m.Content += "\n" + c.Name + t.o.Scrub(c.Args)
		}
		if turn.Role == spaces.RoleAssistant {
			out = append(out, m)
		} else {
			in = append(in, m)
		}
	}
	return []attribute.KeyValue{semconv.GenAIInputMessagesKey.String(asJSON(in)), semconv.GenAIOutputMessagesKey.String(asJSON(out))}
}

// message is one message of a conversation in a span.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func asJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic("telemetry: a message does not marshal: " + err.Error())
	}
	return string(raw)
}

// root names the chain of causes that a run belongs to.
func root(r RunRecord) string {
	for _, e := range r.Events {
		if e.Root != "" {
			return string(e.Root)
		}
	}
	return string(r.Cycle.ID)
}

// chainKey carries the root of a chain to where the id of its trace is made.
type chainKey struct{}

// ids mints the ids of spans by chance, and that of a trace from its chain.
type ids struct{}

// NewIDs implements [sdk.IDGenerator].
func (g ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	chain, _ := ctx.Value(chainKey{}).(string)
	sum := sha256.Sum256([]byte(chain))
	id := trace.TraceID(sum[:16])
	return id, g.NewSpanID(ctx, id)
}

// NewSpanID implements [sdk.IDGenerator].
func (ids) NewSpanID(context.Context, trace.TraceID) trace.SpanID {
	var id trace.SpanID
	for !id.IsValid() {
		n := rand.Uint64()
		for i := range id {
			id[i] = byte(n >> (8 * i))
		}
	}
	return id
}
