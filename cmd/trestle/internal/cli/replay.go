package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/replay"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/hud/recall"
)

// replayQuestion is what is asked of a replay.
type replayQuestion struct {
	file, questions, frames string
	budget                  int
	lines                   bool // answer as JSON lines
	running                 bool // divide the budget as a running program does
	weigh                   map[string]string
}

// replayCommand answers `trestle replay`.
type replayCommand struct{ installation }

func newReplayCommand(env *Environment) *cobra.Command {
	cmd := replayCommand{installation{env}}
	var q replayQuestion
	c := &cobra.Command{
		Use: "replay FILE", Short: "play conversations into a record that is thrown away, and see what questions would bring to mind", Args: cobra.ExactArgs(1),
		Long: "FILE and the questions are JSON lines: {\"id\",\"space\",\"at\",\"from\",\"text\"}, lines of conversations also with\n" +
			"\"session\" and \"reply_to\" if there are any. For each question, said in its space at its time by that person, the frame is\n" +
			"rendered that the message would cause, and taken back again: what a question is told holds nothing of the others, and\n" +
			"nothing later than itself. No model is asked. --budget bounds the tokens of everything that comes from conversations;\n" +
			"the fixed text is told apart. Most of them go to recalled lines; with --as-running they are divided as in a running program\n" +
			"with that budget, by low_water and recall_tokens.",
		RunE: func(c *cobra.Command, args []string) error {
			q.file = args[0]
			return cmd.replay(c.Context(), q)
		},
	}
	c.Flags().StringVar(&q.questions, "ask", "", "the file of questions")
	c.Flags().IntVar(&q.budget, "budget", 4000, "tokens for all that comes from conversations")
	c.Flags().StringVar(&q.frames, "frames", "", "also write each frame into this folder, as ID.txt")
	c.Flags().BoolVar(&q.running, "as-running", false, "divide the tokens as a running program does with its default settings")
	c.Flags().BoolVar(&q.lines, "json", false, "answer as JSON lines, one a question")
	c.Flags().StringToStringVar(&q.weigh, "weigh", nil, "change a weight of relevance by a factor, as session=1.5")
	_ = c.Flags().MarkHidden("weigh") // it is there: for measuring only
	return c
}

// weights returns the weights of relevance that the question asks for.
func (q replayQuestion) weights() (*recall.RankWeights, error) {
	w := recall.DefaultWeights()
	for name, factor := range q.weigh {
		by, err := strconv.ParseFloat(factor, 64)
		value := w.Named(name)
		if err != nil || value == nil {
			return nil, &apperr.Error{What: fmt.Sprintf("%s=%s names no weight and factor", name, factor), Where: "--weigh", Remedy: "name one of " + textout.JoinOr(recall.WeightNames()), Code: apperr.Usage}
		}
		*value *= by
	}
	return &w, nil
}

// leastReplay is the smallest bound that leaves room for a question.
const leastReplay = 200

// A replayAnswer is what one question would bring to mind.
type replayAnswer struct {
	ID     string   `json:"id"`
	Tokens int      `json:"tokens"` // of what comes from conversations, exact
	Budget int      `json:"budget"`
	Fixed  int      `json:"fixed"` // tokens of system text, tools and the words of the phase
	Plain  int      `json:"plain"` // tokens of the shown lines and the question as bare "who: words"
	Heads  int      `json:"heads"` // of tokens, those of headings that stand once a frame or a room
	Shown  []string `json:"shown"` // ids of lines that stand whole in the frame
	MS     float64  `json:"ms"`    // milliseconds that the frame took, without its keyframe
}

func (cmd replayCommand) replay(ctx context.Context, q replayQuestion) error {
	if q.questions == "" || q.budget < leastReplay {
		return &apperr.Error{What: fmt.Sprintf("a replay needs questions, and a budget of %d tokens or more", leastReplay), Where: "replay", Remedy: "see trestle replay --help", Code: apperr.Usage}
	}
	weights, err := q.weights()
	if err != nil {
		return err
	}
	lines, err := cmd.readRetold(q.file)
	if err != nil {
		return err
	}
	asked, err := cmd.readRetold(q.questions)
	if err != nil {
		return err
	}
	if q.frames != "" {
		if err := os.MkdirAll(cmd.absolute(q.frames), 0o755); err != nil {
			return &apperr.Error{What: err.Error(), Where: q.frames, Remedy: "name a folder that can be written", Code: apperr.Failed}
		}
	}
	if len(asked) == 0 {
		return nil
	}
	lines, last := replay.SortByTime(lines), asked[0].At
	if n := len(lines); n > 0 {
		last = lines[n-1].At
	}
	for i := range asked {
		if asked[i].At.IsZero() {
			asked[i].At = last
		}
	}
	order := map[string]int{}
	for i, question := range asked {
		order[question.Space+"\x00"+question.ID] = i
	}
	answers := make([]replayAnswer, len(asked))
	asked = replay.SortByTime(asked)
	err = replay.RunReplay(ctx, append(slices.Clip(lines), asked...), func(ctx context.Context, r *replay.ReplayedRooms) error {
		r.Weights, r.AsRunning = weights, q.running
		return cmd.askAll(ctx, r, lines, asked, q, func(question replay.FileLine, a replayAnswer) {
			answers[order[question.Space+"\x00"+question.ID]] = a
		})
	})
	if err != nil {
		return err
	}
	for _, a := range answers {
		if err := cmd.tellReplayed(a, q.lines); err != nil {
			return err
		}
	}
	return nil
}

// askAll tells the lines and asks the questions, each at its time.
func (cmd replayCommand) askAll(ctx context.Context, r *replay.ReplayedRooms, lines, asked []replay.FileLine, q replayQuestion, answered func(replay.FileLine, replayAnswer)) error {
	told := replayedWords{}
	for _, question := range asked {
		n := 0
		for n < len(lines) && !lines[n].At.After(question.At.Time) {
			n++
		}
		if err := r.RecordLines(ctx, lines[:n]); err != nil {
			return err
		}
		told.add(lines[:n])
		lines = lines[n:]
		done, err := r.PreviewFrame(ctx, question, q.budget)
		if err != nil {
			return fmt.Errorf("question %q: %w", question.ID, err)
		}
		a := replayAnswer{
			ID: question.ID, Tokens: done.Tokens, Budget: q.budget, Fixed: done.Fixed, Plain: done.Plain, Heads: done.Heads, Shown: []string{},
			MS: float64(done.Took.Microseconds()) / 1000,
		}
		for _, ref := range done.Shown {
			a.Shown = append(a.Shown, told.shown(ref.Chat, ref.Message)...)
		}
		answered(question, a)
		if q.frames == "" {
			continue
		}
		if err := writeFrame(cmd.absolute(q.frames), question.ID, done.Frame); err != nil {
			return err
		}
	}
	return nil
}

// replayedWords are the lines whose words each message of a replay has had, the last one the
// words it has now; by room and message.
type replayedWords map[[2]string][]replay.FileLine

func (w replayedWords) add(lines []replay.FileLine) {
	for _, l := range lines {
		of := [2]string{l.Space, cmp.Or(l.Edits, l.ID)}
		w[of] = append(w[of], l)
	}
}

// shown returns the ids of the lines that are shown with a message: that of its words, and
// those of earlier words that are among them still.
func (w replayedWords) shown(space, message string) (ids []string) {
	lines := w[[2]string{space, message}]
	for _, l := range lines {
		if strings.Contains(lines[len(lines)-1].Text, l.Text) {
			ids = append(ids, l.ID)
		}
	}
	return ids
}

func (cmd replayCommand) tellReplayed(a replayAnswer, lines bool) error {
	if lines || cmd.output != "text" {
		return json.NewEncoder(cmd.Out).Encode(a)
	}
	_, err := fmt.Fprintf(cmd.Out, "%s: %d of %d tokens, %d lines, %.1f ms\n", textout.EscapeControls(a.ID), a.Tokens, a.Budget, len(a.Shown), a.MS)
	return err
}

// readRetold reads one of the two files.
func (cmd replayCommand) readRetold(name string) ([]replay.FileLine, error) {
	f, err := os.Open(cmd.absolute(name))
	if err != nil {
		return nil, &apperr.Error{What: err.Error(), Where: name, Remedy: "name a file that can be read", Code: apperr.Failed}
	}
	defer f.Close() //nolint:errcheck // it was only read
	all, err := replay.ReadLines(f)
	if err != nil {
		return nil, &apperr.Error{What: err.Error(), Where: name, Remedy: "see trestle replay --help for the form of a line", Code: apperr.Failed}
	}
	return all, nil
}

// writeFrame writes a frame as a model would be given it. An id that is no file
// name is written in a safe form.
func writeFrame(dir, id string, frame []hud.FrameMessage) error {
	name := strings.Map(func(r rune) rune {
		if r == filepath.Separator || r < ' ' {
			return '_'
		}
		return r
	}, id)
	out, err := os.Create(filepath.Join(dir, name+".txt")) //nolint:gosec // the name holds no way out of the folder
	if err != nil {
		return fmt.Errorf("write frame of %q: %w", id, err)
	}
	for _, m := range frame {
		if _, err := io.WriteString(out, "--- "+string(m.Role)+"\n"+m.Text+"\n"); err != nil {
			return fmt.Errorf("write frame of %q: %w", id, err)
		}
	}
	return out.Close()
}
