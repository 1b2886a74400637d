// Package telegram is the adapter for one Telegram bot.
//
// It reads updates by long polling and never confirms one to Telegram before
// the sink has it: the next poll carries the next offset only after Accept. It
// turns CommonMark into the HTML subset that Telegram's parser takes, cuts it
// into messages, and tells every refusal apart. The token is put into the URL
// by the last step before the wire and is in no error, log line or update.
//
// Messages use github.com/go-telegram-bot-api/telegram-bot-api/v5 for the
// requests and our own structs for what comes back: the library's types end in
// 2021, before forum topics and reactions.
//
// What Telegram cannot promise, this package cannot either: it has no key that
// makes a send idempotent and no history to read back, so an ambiguous send
// stays [adapters.Unknown]; it keeps updates for 24 hours only, so a longer
// silence becomes an [adapters.Gap].
package telegram
