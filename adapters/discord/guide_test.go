package discord_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/adapters/discord"
)

// The guide's link asks for what the adapter uses, bit for bit.
func TestTheGuidesLinkHasTheExactRights(t *testing.T) {
	page, err := os.ReadFile("../../docs/discord.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := discord.InviteLink("APPLICATION_ID"); !strings.Contains(string(page), want) {
		t.Errorf("docs/discord.md lacks %s", want)
	}
	if got, want := discord.Permissions(), uint64(1<<6|1<<10|1<<11|1<<14|1<<15|1<<16|1<<18|1<<29|1<<35|1<<38); got != want {
		t.Errorf("the rights are %s, want %s", fmt.Sprint(got), fmt.Sprint(want))
	}
}
