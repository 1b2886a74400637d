package shell

import (
	"reflect"
	"testing"
)

// DESIGN 9: every size of a view is what the settings say, but for one that no
// setting has.
func TestEverySizeOfAViewIsASetting(t *testing.T) {
	s := DefaultSettings()
	s.SpanBeside = true
	limits := reflect.ValueOf(s.limits())
	for i := range limits.NumField() {
		name := limits.Type().Field(i).Name
		if limits.Field(i).IsZero() != (name == "NewestShare") {
			t.Errorf("%s is %v", name, limits.Field(i))
		}
	}
}
