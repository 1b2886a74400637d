// Package tokens counts the tokens of a text exactly, as the o200k vocabulary has
// them. It is a leaf that needs hardly any memory: the vocabulary is read where it
// lies in the program's file, and counting allocates nothing for most texts.
//
// It promises the counts of tiktoken, which its tests compare it with. It knows no
// other vocabulary, and nothing of what is counted.
package tokens

// Count returns how many tokens text has. Names of special tokens are text like
// any other. It may be called concurrently.
func Count(text string) int {
	n := 0
	var m merger
	for text != "" {
		size := piece(text)
		if _, whole := rank(text[:size]); whole {
			n++
		} else {
			n += m.count(text[:size])
		}
		text = text[size:]
	}
	return n
}
