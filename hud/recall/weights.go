package recall

// RankWeights are the parameters of ranking and selection. They were not tuned to one
// corpus; the benchmark measures the effect of half and twice of each.
type RankWeights struct {
	Neighbour float64 // share of a direct neighbour's score
	Second    float64 // share of a second neighbour's score
	Answer    float64 // share of the score of the answered line, and of an answer
	Session   float64 // weight of the normalised score of the line's conversation
	Focus     float64 // factor of rooms other than the active one
	Alike     float64 // weight of spelling variants of a query word
	Kin       float64 // weight of synonyms of a query word
	Date      float64 // share added to the score of lines from a time that the query names
	Crowding  float64 // discount of a conversation's lines for each line chosen of it
	Meaning   float64 // weight of the embedding score, against the best score by words
	Thrift    float64 // exponent of the length penalty
}

// DefaultWeights returns the weights that are used where none are given.
func DefaultWeights() RankWeights {
	return RankWeights{
		Neighbour: 0.4, Second: 0.15, Answer: 0.4, Session: 1.5, Focus: 0.35,
		Alike: 0.5, Kin: 0.45, Date: 0.5, Meaning: 0.5, Crowding: 0.04, Thrift: 0.1,
	}
}

// Named returns a pointer to the weight of that lower-case name, or nil when there
// is none.
func (w *RankWeights) Named(name string) *float64 {
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

// WeightNames returns the names that [Weights.Named] knows, in the order of the fields.
func WeightNames() []string {
	return []string{"neighbour", "second", "answer", "session", "focus", "alike", "kin", "date", "meaning", "crowding", "thrift"}
}
