//go:build !race

package markuptest

// HostileTexts is how many texts an adapter's test tries.
const HostileTexts = 100_000
