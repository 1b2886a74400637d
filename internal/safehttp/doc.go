// Package safehttp opens what somebody else's address points at.
//
// An address that came from a platform, a person or a model may point anywhere:
// at this machine, at the network around it, at a cloud's metadata service. A
// [Client] promises that no connection is ever opened to such a place, whatever
// the address looks like, whatever its name resolves to and however often that
// changes, and wherever it redirects; that a credential travels to the hosts it
// belongs to and to no other; and that neither size nor time nor a decompressed
// body is without bound (SECURITY S10). Servers that the operator has named are
// the one exception: they may stand anywhere.
//
// The package knows nothing of platforms, messages or agents and imports
// nothing of ours.
package safehttp
