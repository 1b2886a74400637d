package telegram

import (
	"context"
	"fmt"
	"strconv"

	"github.com/trestle-bridge/trestle/adapters"
)

var _ adapters.PrivateSender = (*Client)(nil)

// privateMessage is what we need of the message that Telegram returns: an ephemeral one has
// an id of its own, and one of a server that does not know the parameter was shown to
// everybody and has an ordinary id.
type privateMessage struct {
	ID        int64 `json:"message_id"`
	Ephemeral int64 `json:"ephemeral_message_id"`
	Date      int64 `json:"date"`
}

// SendPrivate posts a part as an ephemeral message, which came with Bot API 10.2
// (core.telegram.org/bots/api#ephemeralmessageparameters). Whether the person is reached
// is not promised: one who is offline may not be.
func (c *Client) SendPrivate(ctx context.Context, to string, p adapters.OutgoingMessage) (adapters.Receipt, error) {
	who, err := strconv.ParseInt(to, 10, 64)
	if err != nil {
		return adapters.Receipt{}, &adapters.Error{Kind: adapters.Invalid, Op: "sendMessage", Err: fmt.Errorf("message for %q alone, which is no id of a person on telegram", to)}
	}
	if isGuest(p.Chat) {
		return adapters.Receipt{}, guestError("sendMessage", "a bot that is a guest cannot write to one person alone")
	}
	p.Choices = nil
	params, err := postParams(p)
	if err != nil {
		return adapters.Receipt{}, err
	}
	params["ephemeral_message_parameters"] = fmt.Sprintf(`{"receiver_user_id":%d}`, who)
	sent, err := callHTML[privateMessage](ctx, c, "sendMessage", params)
	if err != nil {
		return adapters.Receipt{}, err
	}
	receipt := adapters.Receipt{At: at(sent.Date)}
	if sent.Ephemeral == 0 && sent.ID > 0 {
		receipt.Message = formatID(sent.ID)
	}
	return receipt, nil
}
