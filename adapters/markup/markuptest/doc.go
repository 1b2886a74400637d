// Package markuptest makes up texts that try to carry something out of the program, for the
// tests of those that write Markdown in a platform's form.
package markuptest
