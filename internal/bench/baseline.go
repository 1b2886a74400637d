package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"
	"github.com/sashabaranov/go-openai"
	"golang.org/x/sync/errgroup"
)

// parallel is how many messages a baseline works on at once.
const parallel = 64

// baseline is a bare bot: it answers every message and stores nothing. With a
// model it makes one call for each.
func baseline(ctx context.Context, withModel bool) error {
	transport := &http.Transport{MaxIdleConnsPerHost: parallel}
	client := &http.Client{Transport: transport}
	bot, err := tgbotapi.NewBotAPIWithClient(botToken, os.Getenv("BENCH_API")+"/bot%s/%s", client)
	if err != nil {
		return err
	}
	config := openai.DefaultConfig("none")
	config.BaseURL, config.HTTPClient = os.Getenv("BENCH_BASE"), client
	endpoint := openai.NewClientWithConfig(config)

	poll := tgbotapi.NewUpdate(0)
	poll.Timeout = 30
	var answering errgroup.Group
	answering.SetLimit(parallel)
	updates := bot.GetUpdatesChan(poll)
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case u := <-updates:
			if u.Message == nil {
				continue
			}
			answering.Go(func() error { return respond(ctx, bot, endpoint, u.Message, withModel) })
		}
	}
	bot.StopReceivingUpdates()
	return answering.Wait()
}

func respond(ctx context.Context, bot *tgbotapi.BotAPI, endpoint *openai.Client, m *tgbotapi.Message, withModel bool) error {
	text := reply(number.FindAllString(m.Text, -1))
	if withModel {
		answer, err := endpoint.CreateChatCompletion(ctx, openai.ChatCompletionRequest{
			Model: "responder", Messages: []openai.ChatCompletionMessage{{Role: openai.ChatMessageRoleUser, Content: m.Text}},
		})
		if err != nil {
			return fmt.Errorf("ask the model: %w", err)
		}
		text = answer.Choices[0].Message.Content
	}
	_, err := bot.Send(tgbotapi.NewMessage(m.Chat.ID, text))
	return err
}
