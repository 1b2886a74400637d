// Command trestle lets LLM agents live in chats.
//
// This package reads the configuration, answers the command line, and wires the
// parts of the tree together: the record, one line for each adapter, the shell
// and the model. It starts them in the order of [startupReporter], runs them in one
// group, and stops them together.
//
// It promises that stdout holds answers and nothing else, that the exit code
// tells what became of the command, and that no output holds a credential.
// Nothing imports it.
package main
