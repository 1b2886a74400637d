// Package web serves the HTML pages of the console. They show what the JSON API
// answers, in the templates of this folder.
package web
