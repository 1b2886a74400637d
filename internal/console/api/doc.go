// Package api serves the JSON routes of the console, which openapi.json describes.
package api
