//go:build faultinject

package crashtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/adapters/fake"
	fakediscord "github.com/trestle-bridge/trestle/adapters/fake/discord"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// Issue 5, SEQ-04: a process that is killed in the middle of Discord's history goes on
// behind the last page that it had recorded: each message once, and no agent woken.
func TestABackfillSurvivesAKill(t *testing.T) {
	t.Parallel() // most of it is waiting for what the killed process held
	ctx, cancel := context.WithTimeout(t.Context(), 2*caseLimit)
	defer cancel()
	s := &stage{world: newWorld(t, seedOf("backfill", 0), 0)}
	discord := fakediscord.New(fakediscord.Options{})
	bot := discord.AddBot(fakediscord.BotProfile{Token: "faults", Name: "ada"})
	maya := discord.AddPerson(fakediscord.UserProfile{Name: "Maya"})
	guild := discord.NewGuild("Work", maya)
	ops := guild.NewChannel("ops", fakediscord.TextChannel)
	thread := ops.NewThread(maya, "food")
	var want []string
	for _, in := range []*fakediscord.GuildChannel{ops, thread} {
		for range 450 {
			want = append(want, fmt.Sprintf("line %d", len(want)))
			in.Says(maya, want[len(want)-1], fakediscord.PostOptions{})
		}
	}
	s.config = fmt.Sprintf("adapters:\n  guild: {type: discord, token: faults, api_url: %q}\n"+
		"spaces:\n  ops: {name: Ops, agents: [ada], wake: all, chats: [\"guild:%s\"]}\n", s.serve(t, discord.Serve), ops.ID)
	prog := s.program(t, false, "")
	prog.start(t, nil)
	if !await(ctx, bot.Connected) {
		t.Fatal("the bot did not connect")
	}
	guild.Adds(bot, 0) // what was said before is no gap
	discord.Fault(fake.CallFault{Method: "get messages", Do: fake.Hang, Skip: 6})
	asked := exec.CommandContext(ctx, binary, "backfill", "ops", "--since", "30d", "--config", prog.config, "--data", prog.data)
	asked.Stderr = os.Stderr
	asked.Env = []string{"HOME=" + prog.dir, "PATH=" + os.Getenv("PATH")}
	testutil.OK(t, asked.Start())
	reached := func() bool {
		return slices.ContainsFunc(discord.Ledger().Calls, func(c fakediscord.APICall) bool { return c.Fault == fake.Hang })
	}
	if !await(ctx, reached) {
		t.Fatal("the history was not read that far")
	}
	prog.kill()
	begun := saidIn(t, prog)
	if len(begun) == 0 || len(begun) >= len(want) {
		t.Fatalf("at the kill %d of %d messages are recorded", len(begun), len(want))
	}
	prog.start(t, nil)
	if err := asked.Wait(); err != nil { // who asked waits for it over the kill
		t.Errorf("the history is not read to its end: %v", err)
	}
	if err := prog.stop(ctx); err != nil {
		t.Error(err)
	}
	testutil.Same(t, "the log", want, saidIn(t, prog))
	pages := 0
	for _, c := range discord.Ledger().Calls {
		if c.Method == "get messages" {
			pages++
		}
	}
	if pages != 5+5+1 {
		t.Errorf("%d pages were read, want ten, and the one that was cut off once more", pages)
	}
	if n := len(s.model.Ledger()); n > 0 {
		t.Errorf("the model was asked %d times about what is past", n)
	}
}

// saidIn returns what people said, in the order of the log.
func saidIn(t *testing.T, prog *program) (words []string) {
	t.Helper()
	for _, e := range readRecord(t, copyRecord(t, prog.data)).events {
		if _, text, said := strings.Cut(e.body, `"text":"`); said && e.kind == "said" {
			text, _, _ = strings.Cut(text, `"`)
			words = append(words, text)
		}
	}
	return words
}
