package config

import "github.com/trestle-bridge/trestle/adapters"

// Telemetry says what other programs are told of this one beside /metrics.
type Telemetry struct {
	Traces  adapters.Secret // the OTLP endpoint; it may hold a credential
	Content bool
}

var telemetryKeys = []keyRow{
	{"traces", "", "the address of an OpenTelemetry collector that takes OTLP over HTTP, such as `http://127.0.0.1:4318/v1/traces`. The variables `OTEL_EXPORTER_OTLP_*` add headers and certificates", keyForm{kind: aSecret, start: true}},
	{"content", "false", "whether traces hold what was read and said", keyForm{kind: aFlag, start: true}},
}

// readTelemetry reads where traces go. What is wrong there is a problem of that key.
func (d *decoder) readTelemetry(top *section) {
	s := top.subsection("telemetry")
	d.config.Telemetry = Telemetry{Traces: s.secretURL("traces"), Content: s.boolean("content")}
	top.mergeErrors(s)
	d.reportKey(top, "telemetry")
}
