// Package httpx is what adapters share that speak with a platform over HTTP: the
// address that an operator wrote, the client and the dialer, answers that are read
// whole, errors without credentials, calls that are made again, and calls by the
// platform that have to be proved.
//
// It promises that no redirect is followed, and that an error it gave words to holds
// no secret it was told of. It knows no platform.
package httpx
