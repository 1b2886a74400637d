// Command trestle lets LLM agents live in chats.
//
// It promises that stdout holds answers and nothing else, that the exit code tells
// the result of the command, and that no output holds a credential.
package main

import (
	"os"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/cli"
)

func main() { os.Exit(cli.Main()) }
