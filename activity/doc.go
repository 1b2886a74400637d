// Package activity is the bridge between chat platforms and spaces, and the only
// package that translates between the two.
//
// [Ingress] receives batches of updates from an adapter, decides who is admitted,
// places each update in a space, translates it into an event, and stores the batch
// with the platform's cursor in one transaction. [Egress] claims decided actions
// from the outbox, formats them for their chat, sends them in order within the
// platform's rate limits, and stores the result of each. A [Connection] keeps one
// account connected and runs both. A [SpaceMapping] maps chats to spaces.
//
// Package access decides who may talk, commands answers chat commands, and media
// downloads and transcribes files.
//
// A process that is killed loses nothing here: all state that matters is stored
// behind the ports in ports.go. The messages of senders who are not admitted reach
// neither the store nor the log.
package activity
