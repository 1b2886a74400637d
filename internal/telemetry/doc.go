// Package telemetry tells other programs how this one is doing: figures for
// Prometheus, and traces for OpenTelemetry.
//
// Both are made of what the record and the live events say anyway; nothing on a
// message's way knows of them, waits for them or fails with them. Losing live
// events costs a span its times and a histogram a value, never a figure that is
// read from the record.
//
// What people or agents said is in neither unless [Options.Content] says so, and
// then only in traces. The package knows nothing of configuration, of the console
// and of how anything is stored.
package telemetry
