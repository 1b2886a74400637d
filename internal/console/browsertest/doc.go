// Package browsertest drives the console with a real browser: nothing that
// people wrote runs in it, and no page of another origin gets
// anything from it or changes anything.
//
// It holds nothing but tests. They need Chromium and its driver, which make
// test installs for root; without them they fail and say so.
package browsertest
