// Package readmodel reads the database for the console, the audit, alerts, prompts and
// past runs. It never opens a write transaction.
package readmodel
