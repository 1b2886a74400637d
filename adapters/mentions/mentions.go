// Package mentions finds the people that words name after @.
//
// It promises that a name is taken whole: not for the beginning of a longer one, and
// not inside another word or an address. It knows no platform: how a name is in the words, and
// what calls a person, is its caller's to say.
package mentions

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trestle-bridge/trestle/adapters"
)

// NameSet are the names by which people can be called.
type NameSet []name

type name struct {
	text string
	who  adapters.Person
}

// Of returns the names of people, what they are called and their handle, each in the
// forms that it may have in words. A person without any cannot be called.
func Of(people []adapters.Person, forms func(who adapters.Person, name string) []string) NameSet {
	var all NameSet
	for _, p := range people {
		for _, called := range []string{p.Name, p.Handle} {
			if called == "" {
				continue
			}
			for _, text := range forms(p, called) {
				all = append(all, name{text, p})
			}
		}
	}
	// The longest first: "Ann Lee" is not to be taken for "Ann".
	slices.SortStableFunc(all, func(a, b name) int { return len(b.text) - len(a.text) })
	return all
}

// A PersonMention is a person named in words.
type PersonMention struct {
	Before, After string // the words around it
	Written       string // the name as written, without the @
	Who           adapters.Person
}

// Cut splits words at the first mention. Where there is none, all of them are Before.
func (n NameSet) Cut(words string) (m PersonMention, found bool) {
	for at := 0; len(n) > 0; at++ {
		next := strings.IndexByte(words[at:], '@')
		if next < 0 {
			break
		}
		at += next
		if last, _ := utf8.DecodeLastRuneInString(words[:at]); at > 0 && inName(last) {
			continue
		}
		if called, ok := n.first(words[at+1:]); ok && !inAddress(words[:at]) {
			end := at + 1 + len(called.text)
			return PersonMention{Before: words[:at], Written: words[at+1 : end], After: words[end:], Who: called.who}, true
		}
	}
	return PersonMention{Before: words}, false
}

// address is how a web address begins, with its scheme or without.
var address = regexp.MustCompile(`[A-Za-z]://|\w\.\w{2,}(?:/.*)?/$`)

// inAddress reports whether words end inside an address, of which an @ is a sign like
// any other: https://example.com/@ann, example.com/@ann.
func inAddress(words string) bool {
	ended := strings.LastIndexFunc(words, func(r rune) bool { return r <= ' ' || r >= utf8.RuneSelf || strings.ContainsRune(`<>"()[]{}`, r) })
	return address.MatchString(words[ended+1:])
}

// first returns the first of the names that words begin with.
func (n NameSet) first(words string) (name, bool) {
	for _, one := range n {
		if len(words) < len(one.text) || !strings.EqualFold(words[:len(one.text)], one.text) {
			continue
		}
		rest := words[len(one.text):]
		if next, _ := utf8.DecodeRuneInString(rest); rest == "" || !inName(next) {
			return one, true
		}
	}
	return name{}, false
}

// inName reports whether r may be part of a name. In many scripts marks and joiners are.
func inName(r rune) bool {
	switch {
	case unicode.Is(unicode.Variation_Selector, r):
		return false // it ends an emoji
	case unicode.In(r, unicode.L, unicode.Nd, unicode.Mn, unicode.Mc):
		return true
	}
	return r == '_' || r == '\u200c' || r == '\u200d'
}
