// Package tokens counts the tokens of a text as the o200k vocabulary has them.
//
// The vocabulary is a table within the program's own file, o200k.bin, and is read
// where it lies: nothing is built at the start, nothing is on the heap, and the
// collector has nothing to walk through. The counts are those of
// github.com/tiktoken-go/tokenizer, which the tests compare them with, but for two
// faults of its compiled expression: it loses the character U+007F, and it parts
// white space between two ends of lines. The table is made from it by
//
//	go test ./internal/tokens -run TestTableHoldsTheVocabulary -update
//
// The package knows neither frames nor models.
package tokens
