package server

import (
	"encoding/json"
	"testing"
	"testing/synctest"

	chatcommands "github.com/trestle-bridge/trestle/activity/commands"
)

// Issue 3: the commands that people can give are offered by the platform.
func TestCommandsAreOfferedWhileSomebodyTypes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "admit: open\n")
		defer w.stop()
		w.settle()
		var menu []struct{ Command, Description string }
		if err := json.Unmarshal(w.bot.Menu(), &menu); err != nil {
			t.Fatal(err)
		}
		want := chatcommands.CommandMenu()
		if len(menu) != len(want) || len(menu) < 5 {
			t.Fatalf("offered %+v, want %+v", menu, want)
		}
		for i := range want {
			if menu[i].Command != want[i].Name || menu[i].Description != want[i].Help {
				t.Errorf("offered %+v, want %+v", menu[i], want[i])
			}
		}
		asked := 0
		for _, c := range w.telegram.Ledger().Calls {
			if c.Method == "getMyCommands" { // Telegram is first asked what it offers
				asked++
			}
		}
		if asked != 1 {
			t.Errorf("offered %d times in one start, want once", asked)
		}
	})
}
