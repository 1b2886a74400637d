// Package hook is the adapter for programs that post events over HTTP: a build server, a
// monitoring system, a form.
//
// A program posts JSON to /hooks/NAME and proves who it is by a bearer token or by a
// signature over the body, in GitHub's form or in that of Standard Webhooks. It is answered
// 202 once its event is recorded, and the same id is the same event. What agents say in the
// chat is posted to an address that the operator wrote, or to no address where there is none.
package hook
