// Package fake has loopback servers that behave as chat platforms do.
//
// They are products, not test doubles: `trestle run --demo` and `trestle fake`
// serve them, the fault harness and the benchmarks measure against them, and
// official clients of other languages are used to check that they are honest.
//
// [Telegram] answers bots as api.telegram.org does: updates are kept until a
// higher offset confirms them, a second poller throws out the first, markup is
// parsed as strictly as there, and every refusal has the platform's own words.
// The world behind it is driven by methods of [Bot] and [Chat], whose names say
// what people do: [Chat.Says], [Chat.Joins], [Chat.Migrates]. A [Fault] makes
// calls fail in a chosen way. The ledger ([Telegram.Ledger]) tells what was
// received and what was acknowledged, so that an auditor can join it with a
// database. [Network] is a network in memory for testing/synctest bubbles.
//
// The package imports nothing of ours and may know nothing of how it is used.
//
// # By hand
//
// [Telegram.Control] drives everything over HTTP, for `trestle fake telegram`
// and for other processes:
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
// Whoever can reach the control endpoints owns this world; they belong on
// loopback only.
package fake
