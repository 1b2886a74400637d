// Package telegram is a loopback server that behaves as the Telegram Bot API does.
//
// [Telegram] answers bots as api.telegram.org does: it stores updates until a
// higher offset confirms them, a second poller ends the first one's poll, it parses
// markup as strictly as Telegram, and every refusal has Telegram's own description.
// Methods of [Bot] and [Chat] drive the world behind it; their names say what people
// do: [Chat.Says], [Chat.Joins], [Chat.Migrates]. A [fake.Fault] makes calls fail in a
// chosen way. [Telegram.Ledger] returns what the server received and what the client
// acknowledged, so that an auditor can join it with a database.
//
// # Control over HTTP
//
// [Telegram.Control] drives everything over HTTP, for `trestle fake telegram` and for
// other processes:
//
//	curl -s localhost:8081/control/bots   -d '{"token":"1:a","name":"Ada","username":"ada_bot"}'
//	curl -s localhost:8081/control/people -d '{"name":"Maya","username":"maya"}'
//	curl -s localhost:8081/control/chats  -d '{"kind":"forum","title":"Family","people":[5000000001],"bots":[1],"topics":["Food"]}'
//	curl -s localhost:8081/control/says   -d '{"chat":-1001000000001,"from":5000000001,"text":"@ada_bot hello","thread":2}'
//	curl -s localhost:8081/control/says   -d '{"bot":1,"from":5000000001,"text":"hello, just us"}'
//	curl -s 'localhost:8081/control/sent?chat=-1001000000001&wait=5s&n=1'
//	curl -s localhost:8081/control/fault  -d '{"do":"refuse","method":"sendMessage","retry_after":2,"every":5,"times":-1}'
//	curl -s -X DELETE localhost:8081/control/fault
//	curl -s localhost:8081/control/ledger
//	curl -s localhost:8081/control/world
//
// The control endpoints have no authentication; serve them on loopback only.
package telegram
