//go:build race

package markuptest

// HostileTexts is how many texts an adapter's test tries. The race detector makes each take
// ten times as long.
const HostileTexts = 10_000
