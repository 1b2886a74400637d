// Package activity is the border: the only package that knows both worlds.
//
// [Ingress] takes batches of updates from adapters, decides who is admitted,
// places each update in a space, translates it into an event, and has the
// record take the whole batch with the platform's cursor in one transaction.
// [Egress] takes decided actions from the outbox, formats them for their chat,
// sends them in order within the platform's pace, and records what became of
// each. A [Connection] keeps one account connected and runs both. [SpaceMapping] is
// the map between chats and spaces; a [PairingState] is where strangers ask to be let in.
//
// The package promises that a lost process loses nothing here: everything that
// matters is a row, behind the ports in ports.go. The words of people who are
// not admitted reach neither the record nor the log.
//
// The package knows nothing of models, prompts, frames or SQL.
package activity
