// Package redact keeps credentials out of what the program says: it knows those
// of the configuration in every form they take inside other text, and the shape
// of the tokens of well-known services.
//
// It promises that text which passes it holds no credential it was told of, as it
// is, escaped for a URL, in JSON or in Go's quotes, or in base64; that a token of
// a known shape is hidden although nobody told of it; and that what it was told
// once stays hidden although the configuration has changed since. It is the last
// line and not the first: whoever makes an error keeps credentials out of it.
package redact
