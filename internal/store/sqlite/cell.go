package sqlite

import (
	"database/sql"
	"database/sql/driver"
	"fmt"
	"reflect"
)

// cell returns a value as the engine takes it.
func cell(v any) (driver.Value, error) {
	switch x := v.(type) {
	case nil, string, []byte, int64, bool, float64:
		return x, nil
	case int:
		return int64(x), nil
	}
	return driver.DefaultParameterConverter.ConvertValue(v)
}

// Scan implements [record.Rows].
func (r *rows) Scan(dest ...any) error {
	if len(dest) != len(r.values) {
		return fmt.Errorf("%d columns for %d destinations", len(r.values), len(dest))
	}
	for n, d := range dest {
		if err := assign(d, r.values[n]); err != nil {
			return fmt.Errorf("column %d: %w", n, err)
		}
	}
	return nil
}

// assign puts what stands in a cell where dest points. Texts and bytes become
// each other, and a number that is 0 or 1 a flag; nothing else is converted.
func assign(dest any, v driver.Value) error {
	switch d := dest.(type) {
	case sql.Scanner:
		return d.Scan(v)
	case *any:
		*d = v
		return nil
	case *[]byte:
		return assignBytes(d, v)
	case *string:
		if s, ok := v.(string); ok {
			*d = s
			return nil
		}
	case *int64:
		if n, ok := v.(int64); ok {
			*d = n
			return nil
		}
	case *int:
		if n, ok := v.(int64); ok {
			*d = int(n)
			return nil
		}
	case *bool:
		if n, ok := v.(int64); ok && n>>1 == 0 {
			*d = n == 1
			return nil
		}
	}
	return assignKind(reflect.ValueOf(dest).Elem(), v)
}

func assignBytes(d *[]byte, v driver.Value) error {
	switch x := v.(type) {
	case nil:
		*d = nil
	case []byte:
		*d = x
	case string:
		*d = []byte(x)
	default:
		return fmt.Errorf("%T is not bytes", v)
	}
	return nil
}

// assignKind serves the types that are strings or numbers by another name, and
// pointers, which are nil where nothing stands.
func assignKind(d reflect.Value, v driver.Value) error {
	if d.Kind() == reflect.Pointer {
		if v == nil {
			d.SetZero()
			return nil
		}
		d.Set(reflect.New(d.Type().Elem()))
		return assign(d.Interface(), v)
	}
	switch x := v.(type) {
	case string:
		if d.Kind() == reflect.String {
			d.SetString(x)
			return nil
		}
	case []byte:
		if d.Kind() == reflect.String {
			d.SetString(string(x))
			return nil
		}
	case int64:
		if d.CanInt() && !d.OverflowInt(x) {
			d.SetInt(x)
			return nil
		}
		if d.CanFloat() {
			d.SetFloat(float64(x))
			return nil
		}
	case float64:
		if d.CanFloat() {
			d.SetFloat(x)
			return nil
		}
	}
	return fmt.Errorf("%T does not fit %s", v, d.Type())
}
