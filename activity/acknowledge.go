package activity

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
)

// commandAck takes on the problems that the program has told of. It counts in
// operators' chats alone, and there without a slash as well.
const commandAck = "ack"

// ackWords is how operators answer an alarm: "ack", "ack 2h", "ack 3 for 2h".
var ackWords = regexp.MustCompile(`(?i)^/?ack((?: +#?\d+)?(?: +(?:for +)?\d+ *[smhd])?)$`)

// acknowledged returns the command in an operator's answer to an alarm; nil for
// anything else that is said.
func acknowledged(text string) *adapters.Command {
	found := ackWords.FindStringSubmatch(strings.Trim(strings.TrimSpace(text), "`.!"))
	if found == nil {
		return nil
	}
	return &adapters.Command{Name: commandAck, Args: strings.TrimSpace(found[1])}
}

// ack takes problems on and says so.
func (a *CommandHandler) ack(ctx context.Context, q CommandRequest) (string, error) {
	if !q.Operators || a.Ack == nil {
		return "", nil
	}
	said, err := a.Ack(ctx, q.Args, q.At)
	if err != nil {
		return "", fmt.Errorf("acknowledge: %w", err)
	}
	return said, nil
}
