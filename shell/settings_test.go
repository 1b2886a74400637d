package shell

import (
	"reflect"
	"slices"
	"testing"
)

// DESIGN 9: every size of a view is what the settings say, but for those that no
// setting has.
func TestEverySizeOfAViewIsASetting(t *testing.T) {
	unset := []string{"InboxTokens", "NewestShare"}
	s := DefaultSettings()
	s.SpanBeside = true
	limits := reflect.ValueOf(s.limits())
	for i := range limits.NumField() {
		name := limits.Type().Field(i).Name
		if limits.Field(i).IsZero() != slices.Contains(unset, name) {
			t.Errorf("%s is %v", name, limits.Field(i))
		}
	}
}
