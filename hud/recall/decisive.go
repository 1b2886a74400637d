package recall

import (
	_ "embed"
	"math"
	"sync"
)

//go:embed decisive.txt
var decisiveText string

var decisivePhrases = sync.OnceValue(func() *phraseBook { return readPhrases(decisiveText) })

// A decisiveSign is something in a text by which a decision is told from other talk: words
// of a class in decisive.txt, or one that [decisiveSigns.readCharacters] knows.
type decisiveSign uint8

const (
	signStrong decisiveSign = iota
	signMedium
	signWeak
	signFact
	signDoubt
	signOwn
	signMe
	signThird
	signPast
	signView
	signChat
	signAsk
	signDoer
	signShared
	signNot
	signWill
	signBe
	signOpener
	signClock    // a time of day, or a sum of money
	signDate     // a day of the month
	signNumber   // any other number
	signName     // a word with a capital within a sentence
	signAsked    // a question mark at the end
	signAsks     // one before it
	signShout    // an exclamation mark
	signSentence // the end of a sentence, but the last
	signColon    // what it is about, then what it is
	signContrast // this, not that
	signComma
	signLink
	signTiny    // fewer words than tell what was decided
	signBrief   // few words
	signLong    // many words
	signLengthy // very many
	signCount
)

// signClasses are the signs of the classes in decisive.txt.
var signClasses = map[string]decisiveSign{
	"strong": signStrong, "medium": signMedium, "weak": signWeak, "fact": signFact, "doubt": signDoubt, "own": signOwn,
	"me": signMe, "third": signThird, "past": signPast, "view": signView, "chat": signChat, "ask": signAsk, "doer": signDoer,
	"shared": signShared, "not": signNot, "will": signWill, "be": signBe, "opener": signOpener,
}

// The chance that a text is a decision, as a logistic function of its signs. The weights
// were fitted to a few hundred made-up decisions and to several thousand lines of public
// chat; none of these is used to measure how well decisions are found.
const decisiveBias = -2.17

var decisiveWeights = [signCount]float64{
	signStrong: 2.82, signMedium: 1.60, signWeak: 0.19, signFact: 0.94, signDoubt: -2.61, signOwn: -0.38,
	signMe: -0.72, signThird: -0.36, signPast: -0.94, signView: -1.15, signChat: -0.92, signAsk: -1.34, signDoer: 1.59,
	signShared: 1.04, signNot: -0.01, signWill: 0.33, signBe: -0.48, signOpener: 0.61,
	signClock: 0.79, signDate: 1.21, signNumber: 0.32, signName: 0.59, signAsked: -1.34, signAsks: -0.43, signShout: -0.40,
	signSentence: -0.65, signColon: 0.51, signContrast: 0.57, signComma: 1.79, signLink: -0.70,
	signTiny: -0.92, signBrief: 1.57, signLong: -0.25, signLengthy: -0.22,
}

// signShares are how much of its weight a sign counts that is there so many times.
var signShares = [...]float64{0, 0.5, 0.75, 0.875}

// Decisiveness returns how much a text reads like a decision, 0 to 1: by the words with
// which people tell one, the days, times and sums it names, who is spoken of, and the words
// of doubt, proposals and questions in it. It knows words of English, German, French and
// Spanish.
func Decisiveness(text string) float64 {
	var words wordList
	return decisiveness(text, &words)
}

// decisiveness is Decisiveness with a buffer to use again.
func decisiveness(text string, w *wordList) float64 {
	w.read(text)
	if len(w.ends) == 0 {
		return 0
	}
	var found decisiveSigns
	found.readWords(w)
	found.readCharacters(text)
	sum := decisiveBias
	for sign, n := range found {
		sum += decisiveWeights[sign] * signShares[n]
	}
	return 1 / (1 + math.Exp(-sum))
}
