package storetest

import "testing"

var propertyTests = map[string]func(*testing.T, func(*testing.T) Store){}
