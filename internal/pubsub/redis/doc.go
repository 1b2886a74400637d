// Package redis rings doorbells, hands out calls, keeps budgets and shows live events
// between processes, over a Redis server.
//
// It promises what [pubsub] says, and that losing the server, or all it stores, costs
// latency only: a notification reaches listeners of the same process at once and
// without the server; nothing here blocks a caller; each command has a deadline and is
// never repeated by the library; what was missed while the server was away is made good
// by one ring of every bell when it is back. The server holds nothing that exists
// nowhere else.
//
// It knows nothing of what its keys, notes and events mean.
package redis
