// Package console serves operators: access control, live events, metrics, tokens and
// sessions, at `listen` and on the control socket. Its package api serves the JSON
// routes, its package web the pages.
//
// It declares the ports through which it reads the store ([Store]), keeps keys
// ([Keys]) and asks the running program ([Process]). It promises that every route
// declares who may call it, that no one else is served, that nothing people wrote runs
// in a browser, that each answer has the form of openapi.json, and that no page counts
// over a log. It knows nothing of platforms, models and SQL.
package console
