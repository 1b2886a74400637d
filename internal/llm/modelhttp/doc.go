// Package modelhttp is what the clients of all providers share that call a language model
// over HTTP: connections, limits of time and size, the events of an answer, errors with
// their kind, and what is learned of an endpoint.
//
// A client of a provider embeds a [BaseClient]. It builds a request with the provider's
// library, gives that library an [AnswerExchange] as its HTTP client, and reads the answer
// itself with an [EventReader]: libraries read strictly, and drop what an error tells.
// No error contains the key.
package modelhttp
