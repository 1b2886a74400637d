package shell

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/spaces"
)

// A PlainTextPolicy says what becomes of the text of a model that was addressed and
// answers without a tool call.
type PlainTextPolicy string

// The policies for plain text.
const (
	// PlainAuto tells the model once that its text was not sent, and delivers what it
	// answers in words after that. The text of a model that has often answered so is
	// delivered at once.
	PlainAuto PlainTextPolicy = "auto"
	// PlainDeliver delivers it at once.
	PlainDeliver PlainTextPolicy = "deliver"
	// PlainPrivate never delivers it.
	PlainPrivate PlainTextPolicy = "private"
)

// Unheard is the detail of a run that ended with words that were not delivered.
const Unheard = "words without an act"

// spokeInWords is the detail of a run whose words were delivered.
const spokeInWords = "plain text delivered"

// notSent is what a model is told of text that reached no person.
const notSent = "RESULT: your text was not sent: nobody has seen it. To say it, call send_message. To stay silent, call done."

// notSentAtAll marks text that stays unsent at the end of a run.
const notSentAtAll = "RESULT: not sent. Text outside a tool call is private."

// silence is what a model writes to say nothing.
var silence = regexp.MustCompile(`(?i)^[\[(<*_"]*(silent|silence|stay silent|no[ _]?reply|no[ _]?response|no[ _]?answer|nothing|none|done|\.{3}|…)[\])>*_".]*$`)

// wordsOf returns what a text says to people: without the line that ends a run, and
// nothing where it is the model's word for silence.
func wordsOf(text string) string {
	words := strings.TrimSpace(restForm.ReplaceAllString(text, ""))
	if silence.MatchString(words) {
		return ""
	}
	return words
}

// IsUnheard reports whether a model that could have called a tool has answered in
// words alone, and not with the line that ends a run.
func IsUnheard(r llm.ModelRequest, res llm.ModelResponse) bool {
	return len(r.Tools) > 0 && !r.NoCalls && res.Finish == llm.Stopped && len(res.Calls) == 0 && wordsOf(withoutThinking(res.Text)) != ""
}

// addressedReasons are the gate's reasons that mean that an answer is expected.
var addressedReasons = []string{GateDirect, GatePair, GateMention, GateReply, GateThread, GateAwaited}

// addressed reports whether the cycle was woken by a message that was meant for the
// agent, so that who wrote it waits for an answer.
func (c *cycle) addressed() bool {
	return slices.ContainsFunc(c.wake.Rows, func(r spaces.InboxRow) bool { return slices.Contains(addressedReasons, r.Reason) }) ||
		len(c.wake.Waits) > 0
}

// awaited reports whether people expect that the cycle says something: they addressed the
// agent, or had it set the reminder that woke it.
func (c *cycle) awaited() bool {
	t := c.wake.Timer
	return c.addressed() || t != nil && t.Kind != spaces.TimerSleep && t.Space != "" && t.SetBy != ""
}

// unspoken reports whether somebody waits for an answer and none has been given.
func (c *cycle) unspoken() bool { return c.spoke == 0 && c.branch == "" && c.addressed() }

// inPlainText handles an answer without a tool call that somebody waits for. handled is
// false where the text is not to be delivered.
func (c *cycle) inPlainText(ctx context.Context, res llm.ModelResponse, text string) (handled, ended bool, err error) {
	words := wordsOf(text)
	task := c.wake.Task.Task > 0 // its words are handed in, and not sent
	private := c.settings.Tags || c.settings.PlainText == PlainPrivate || c.spoke > 0
	if words == "" || private && !task || c.branch != "" || !c.awaited() {
		return false, false, nil
	}
	told := c.form == spaces.AnsweredInWords
	if c.form == "" {
		c.form = spaces.AnsweredInWords
	}
	if !told && !c.inWords && c.step+1 < c.settings.MaxSteps {
		correction := notSent
		if task {
			correction = notHandedIn
		}
		return true, false, c.commit(ctx, spaces.StepCommit{Turns: []spaces.TranscriptTurn{
			{Role: spaces.RoleAssistant, Text: text}, {Role: spaces.RoleUser, Text: correction},
		}}, nil)
	}
	args := map[string]any{"text": words}
	if home := c.home(); home != c.active {
		args["space"] = string(home)
	}
	data, err := marshalPlain(args)
	if err != nil {
		return true, false, fmt.Errorf("plain text: %w", err)
	}
	c.delivers = true
	defer func() { c.delivers = false }()
	call := ToolCall{ID: fmt.Sprintf("words_%d", c.step), Name: "send_message", Args: data}
	if of, isTask, err := c.plainTaskCall(words); err != nil {
		return true, false, fmt.Errorf("plain text: %w", err)
	} else if isTask {
		call = of
	} else if task {
		return false, false, nil
	}
	ended, err = c.act(ctx, res, []ToolCall{call}, restLine(text))
	return true, ended, err
}

// learnHabit finds out whether the model answers people in words, and has the prompt
// say what becomes of them.
func (c *cycle) learnHabit(ctx context.Context) error {
	if c.settings.Tags || !c.awaited() || c.settings.PlainText == PlainPrivate {
		return nil
	}
	inWords := c.settings.PlainText == PlainDeliver
	inWords = inWords || !c.takesTools()
	if !inWords {
		var err error
		if inWords, err = c.shell.answersInWords(ctx, c.agent.ID, c.settings.ModelName); err != nil {
			return err
		}
	}
	if c.inWords = inWords; inWords {
		c.system = c.shell.prompt(c.agent, c.settings, true)
	}
	return nil
}

// written reports whether a piece of text stands in a message that others wrote in a
// room of the agent: a model that repeats it has not asked for anything.
func (c *cycle) written(text string) bool {
	bare := lettersOf(text)
	m := c.mind
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(m.seats, func(s hud.RoomView) bool {
		return slices.ContainsFunc(s.Room.Chat.Messages, func(x spaces.ChatMessage) bool {
			return x.Sender != c.agent.ID.Entity() && len(x.Text) >= len(bare) && strings.Contains(lettersOf(x.Text), bare)
		})
	})
}

// lettersOf returns the letters and digits of a text.
func lettersOf(text string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && !isAlnum(byte(r)) {
			return -1
		}
		return r
	}, text)
}

// answerHabits keeps the habits of the models of this process' agents. Each is read
// from the store once; what other processes learn meanwhile is seen after a restart.
type answerHabits struct {
	mu  sync.Mutex                        // guards all
	all map[habitKey]*[]spaces.AnswerForm // the newest answers, the last one last
}

type habitKey struct {
	agent spaces.AgentID
	model string
}

// answersInWords reports whether the model of an agent is known to answer in words.
func (s *Shell) answersInWords(ctx context.Context, agent spaces.AgentID, model string) (bool, error) {
	key := habitKey{agent, model}
	s.habits.mu.Lock()
	h := s.habits.all[key]
	s.habits.mu.Unlock()
	if h == nil {
		forms, err := s.Record.AnswerForms(ctx, agent, model, spaces.HabitAnswers)
		if err != nil {
			return false, fmt.Errorf("answers of %s: %w", agent, err)
		}
		slices.Reverse(forms)
		h = &forms
	}
	s.habits.mu.Lock()
	defer s.habits.mu.Unlock()
	if s.habits.all == nil {
		s.habits.all = map[habitKey]*[]spaces.AnswerForm{}
	}
	if known := s.habits.all[key]; known != nil {
		h = known
	}
	s.habits.all[key] = h
	return spaces.AnswersInWords(*h), nil
}

// answered notes the form of an answer that is stored.
func (s *Shell) answered(agent spaces.AgentID, model string, form spaces.AnswerForm) {
	s.habits.mu.Lock()
	defer s.habits.mu.Unlock()
	if h := s.habits.all[habitKey{agent, model}]; h != nil && form != "" {
		*h = append(*h, form)
		*h = (*h)[max(0, len(*h)-spaces.HabitAnswers):]
	}
}

// apologies are what a room is told of a run that was to answer and could not.
var apologies = map[spaces.StopReason]string{
	spaces.StopModelError: "I could not answer this: what my model returned could not be used. Please ask again.",
	spaces.StopMaxSteps:   "I could not finish this: it took more steps than I may take at once. Please ask for a smaller part of it.",
	spaces.StopBudget:     "I could not finish this: it took more tokens than one run may use.",
	spaces.StopMaxRetries: "I could not answer this: my model cannot be reached. Please ask again later.",
	spaces.StopTimeout:    "I could not answer this: my model did not answer in time. Please ask again later.",
}

// apologise has the closing tell the room, once, that a message stays unanswered. It
// returns the turn by which the agent learns of it.
func (c *cycle) apologise(cl *spaces.CycleClose) []spaces.TranscriptTurn {
	say := apologies[cl.Stop]
	if say == "" || len(cl.Notices) > 0 || !c.unspoken() || c.wake.Cycle.Space == "" {
		return nil
	}
	notice := spaces.RoomNotice{Room: c.wake.Cycle.Space, Key: "unanswered|" + string(c.wake.Cycle.ID), Text: say}
	if n := len(c.wake.Events); n > 0 {
		notice.Thread = c.wake.Events[n-1].Thread
	}
	cl.Notices = append(cl.Notices, notice)
	m := c.mind
	m.mu.Lock()
	defer m.mu.Unlock()
	const kept = 100 // as many as may be shown again
	if m.unanswered == nil || len(m.unanswered) > kept {
		m.unanswered = map[spaces.EventID]bool{}
	}
	for _, e := range c.wake.Events {
		m.unanswered[e.ID] = true
	}
	if cl.Back {
		return nil // the lines are shown again, with a mark
	}
	return []spaces.TranscriptTurn{{Role: spaces.RoleUser, Text: "UNANSWERED: you did not answer what woke you (" + string(cl.Stop) + "). People were told that you could not, and to ask again."}}
}
