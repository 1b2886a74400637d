package markup

import (
	"cmp"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// Addresses returns what a platform may link in plain words, in order: everything with a
// scheme, what begins with www., mail addresses, IP addresses, and hosts under a public
// suffix (publicsuffix.org), with their paths. Hidden characters count as not there.
func Addresses(words string) []string {
	f := fold(words)
	var found []string
	for _, r := range linkable(f.words) {
		found = append(found, f.words[r.from:r.to])
	}
	return found
}

// linkable returns the places of addresses in words without hidden characters.
func linkable(words string) []byteRange {
	all := slices.DeleteFunc(findURLs(words), func(r byteRange) bool { return strings.HasSuffix(words[r.from:r.to], "://") })
	if strings.ContainsAny(words, ".。．｡") {
		for _, at := range bareHosts.FindAllStringIndex(words, -1) {
			r := byteRange{at[0], at[1]}
			if r.to < len(words) && strings.IndexByte("/?#", words[r.to]) >= 0 {
				r.to = urlEnd(words, r.to)
			}
			if public(words[r.from:r.to]) {
				all = append(all, r)
			}
		}
	}
	slices.SortFunc(all, func(a, b byteRange) int { return cmp.Or(a.from-b.from, b.to-a.to) })
	var out []byteRange // those that touch are one
	for _, r := range all {
		if n := len(out); n > 0 && r.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, r.to)
			continue
		}
		out = append(out, r)
	}
	return out
}

// bareHosts match what may be an address although it has no scheme: labels with dots,
// perhaps behind a mailbox, and a port.
var bareHosts = regexp.MustCompile(`[\p{L}\p{N}_%+-]+(?:[.@。．｡][\p{L}\p{N}\p{M}_-]+)*[.。．｡][\p{L}\p{N}\p{M}-]+(?::\d+)?`)

// public reports whether an address without scheme leads somewhere: its host is an IP
// address, or has a top-level domain of the public suffix list behind a dot. What
// follows that may be a word: platforms differ in where they end an address.
func public(address string) bool {
	host := strings.ToLower(dotted.Replace(bareHost(address)))
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	labels := strings.Split(host, ".")[1:]
	return slices.ContainsFunc(labels, func(label string) bool {
		return topLevel(label) || topLevel(oneScript(label))
	})
}

// oneScript returns what label begins with until an underscore or a change of its script, as
// where no space is written between words.
func oneScript(label string) string {
	script := func(r rune) int {
		switch {
		case r < utf8.RuneSelf:
			return 0
		case unicode.In(r, unicode.Hangul, cjkWide):
			return 1
		}
		return 2
	}
	first, _ := utf8.DecodeRuneInString(label)
	end := strings.IndexFunc(label, func(r rune) bool { return script(r) != script(first) || r == '_' })
	if end < 0 {
		return label
	}
	return label[:end]
}

// topLevel reports whether the label is a top-level domain.
func topLevel(label string) bool {
	if ascii, err := idna.Punycode.ToASCII(label); err == nil {
		label = ascii
	}
	_, listed := publicsuffix.PublicSuffix("host." + label)
	return listed && label != ""
}

// dotted makes dots of the full stops that stand for one in a host.
var dotted = strings.NewReplacer("。", ".", "．", ".", "｡", ".")

// bareHost returns the host of an address without scheme.
func bareHost(address string) string {
	if i := strings.IndexAny(address, "/?#"); i >= 0 {
		address = address[:i]
	}
	address = address[strings.LastIndexByte(address, '@')+1:]
	host, _, _ := strings.Cut(address, ":")
	return host
}

// A ParsedAddress is an address taken apart, to be compared with others.
type ParsedAddress struct {
	Scheme string // in small letters; "web" for http, https and none
	Host   string // in small letters; empty where the scheme has none
	User   string
	Path   string // without a slash at its end
	Query  string // with the fragment
}

// ParseAddress takes an address apart, as [Addresses] returns it or a link has it.
func ParseAddress(address string) ParsedAddress {
	text := strings.TrimSpace(fold(address).words)
	scheme, rest, found := strings.Cut(text, "://")
	if !found {
		if mail, _, opaque := strings.Cut(text, ":"); opaque && activeScheme(mail) {
			return ParsedAddress{Scheme: strings.ToLower(mail), Path: text[len(mail)+1:]}
		}
		scheme, rest = "web", strings.TrimPrefix(text, "//")
	}
	a := ParsedAddress{Scheme: strings.ToLower(scheme)}
	if a.Scheme == "http" || a.Scheme == "https" {
		a.Scheme = "web"
	}
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		rest, a.Query = rest[:i], rest[i:]
	}
	a.Host, a.Path, _ = strings.Cut(strings.ReplaceAll(rest, `\`, "/"), "/")
	if i := strings.LastIndexByte(a.Host, '@'); i >= 0 {
		a.User, a.Host = a.Host[:i], a.Host[i+1:]
	}
	a.Host = strings.TrimSuffix(strings.ToLower(dotted.Replace(a.Host)), ".")
	if a.Scheme == "web" {
		a.Host = strings.TrimSuffix(strings.TrimSuffix(a.Host, ":443"), ":80")
	}
	a.Path = strings.TrimRight(a.Path, "/")
	return a
}

// Within reports whether a says nothing that b does not: it is b, or leads to a folder
// above it on the same host, without a query.
func (a ParsedAddress) Within(b ParsedAddress) bool {
	if a.Scheme != b.Scheme || a.Host != b.Host || a.User != b.User {
		return false
	}
	if a.Path == b.Path && (a.Query == b.Query || a.Query == "") {
		return true
	}
	return a.Query == "" && a.Host != "" && (a.Path == "" || strings.HasPrefix(b.Path, a.Path+"/"))
}

// OnHost reports whether a leads to a web page of the host or of one below it.
func (a ParsedAddress) OnHost(host string) bool {
	host = strings.ToLower(strings.Trim(host, ". "))
	name, _, _ := strings.Cut(a.Host, ":")
	return a.Scheme == "web" && a.User == "" && host != "" && (name == host || strings.HasSuffix(name, "."+host))
}

// sameHost reports whether words that are an address seem to lead where a link leads.
func sameHost(words, address string) bool {
	a, b := ParseAddress(words), ParseAddress(address)
	return strings.TrimPrefix(a.Host, "www.") == strings.TrimPrefix(b.Host, "www.") && a.User == "" && b.User == ""
}

// leads reports whether the destination of a link leads anywhere outside a chat.
func leads(address string) bool {
	u, err := url.Parse(address)
	return err != nil || u.Scheme != "" || u.Host != "" || len(Addresses(address)) > 0
}
