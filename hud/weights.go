package hud

// Weights are what relevance weighs by. They were not tuned to any one corpus; the
// bench tells what half and twice of each would do.
type Weights struct {
	Neighbour float64 // share of a direct neighbour's score (CONTEXT 1)
	Second    float64 // share of a second neighbour's
	Answer    float64 // share of the line that is answered, and of an answer
	Session   float64 // of the normalised score of the conversation a line stands in
	Focus     float64 // of rooms other than the active one
	Alike     float64 // of a word that is spelled much like one that was asked for
	Kin       float64 // of a word that means much the same
	Date      float64 // what a line gains that was said at a time that was asked for, a share of its score
	Crowding  float64 // by which each line of a conversation makes its others worth less
	Meaning   float64 // of a line that means much the same, against the best by words
	Thrift    float64 // how much the length of a line counts against it: the power of its tokens
}

// DefaultWeights returns the weights that are used where none are given.
func DefaultWeights() Weights {
	return Weights{
		Neighbour: 0.4, Second: 0.15, Answer: 0.4, Session: 1.5, Focus: 0.35,
		Alike: 0.5, Kin: 0.45, Date: 0.5, Meaning: 0.5, Crowding: 0.04, Thrift: 0.1,
	}
}

// Named returns the weight of that name, in small letters, to be read and changed;
// nil when there is none.
func (w *Weights) Named(name string) *float64 {
	switch name {
	case "neighbour":
		return &w.Neighbour
	case "second":
		return &w.Second
	case "answer":
		return &w.Answer
	case "session":
		return &w.Session
	case "focus":
		return &w.Focus
	case "alike":
		return &w.Alike
	case "kin":
		return &w.Kin
	case "date":
		return &w.Date
	case "meaning":
		return &w.Meaning
	case "crowding":
		return &w.Crowding
	case "thrift":
		return &w.Thrift
	}
	return nil
}

// WeightNames are the names that [Weights.Named] knows, in the order of the fields.
func WeightNames() []string {
	return []string{"neighbour", "second", "answer", "session", "focus", "alike", "kin", "date", "meaning", "crowding", "thrift"}
}

func (v *View) weights() Weights {
	if v.Weights == nil {
		return DefaultWeights()
	}
	return *v.Weights
}
