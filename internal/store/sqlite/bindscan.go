package sqlite

import (
	"database/sql"
	"database/sql/driver"
	"fmt"
	"reflect"

	"github.com/ncruces/go-sqlite3"
)

// put gives a place, from 0, an argument, unless it holds the same from the last time:
// half of what a row says the row before it said.
func (st *statement) put(n int, v any) error {
	short := false // and so it can be compared, and is kept
	switch x := v.(type) {
	case string:
		short = len(x) <= maxHeld
	case int, int64:
		short = true
	}
	if short && st.holds[n] == v {
		return nil
	}
	st.holds[n] = nil
	if err := st.bind(n+1, v); err != nil {
		return err
	}
	if short {
		st.holds[n] = v
	}
	return nil
}

// maxHeld is the longest text in bytes that a place is known to hold.
const maxHeld = 64

// bind puts an argument into a place, from 1.
func (st *statement) bind(place int, v any) error {
	switch x := v.(type) {
	case nil:
		return st.BindNull(place)
	case string:
		return st.BindText(place, x)
	case []byte:
		return st.BindBlob(place, x)
	case int64:
		return st.BindInt64(place, x)
	case int:
		return st.BindInt64(place, int64(x))
	case bool:
		return st.BindBool(place, x)
	case float64:
		return st.BindFloat(place, x)
	}
	known, err := driver.DefaultParameterConverter.ConvertValue(v)
	if err != nil {
		return err
	}
	return st.bind(place, known)
}

// scan puts what is in a column, from 0, where dest points. Texts and bytes
// become each other, and a number that is 0 or 1 a flag; nothing else is converted.
func (st *statement) scan(n int, dest any) error {
	holds := st.ColumnType(n)
	words := holds == sqlite3.TEXT || holds == sqlite3.BLOB
	switch d := dest.(type) {
	case sql.Scanner:
		return d.Scan(st.value(n))
	case *any:
		*d = st.value(n)
		return nil
	case *[]byte:
		if words {
			*d = st.bytes(n)
			return nil
		}
		if holds == sqlite3.NULL {
			*d = nil
			return nil
		}
	case *string:
		if words {
			*d = string(st.ColumnRawBlob(n))
			return nil
		}
	case *int64:
		if holds == sqlite3.INTEGER {
			*d = st.ColumnInt64(n)
			return nil
		}
	case *int:
		if holds == sqlite3.INTEGER {
			*d = int(st.ColumnInt64(n))
			return nil
		}
	case *bool:
		if x := st.ColumnInt64(n); holds == sqlite3.INTEGER && x>>1 == 0 {
			*d = x == 1
			return nil
		}
	}
	return st.scanKind(n, holds, reflect.ValueOf(dest).Elem())
}

// scanKind serves the types that are strings or numbers by another name, and pointers,
// which are nil for NULL.
func (st *statement) scanKind(n int, holds sqlite3.Datatype, d reflect.Value) error {
	switch {
	case d.Kind() == reflect.Pointer && holds == sqlite3.NULL:
		d.SetZero()
		return nil
	case d.Kind() == reflect.Pointer:
		d.Set(reflect.New(d.Type().Elem()))
		return st.scan(n, d.Interface())
	case d.Kind() == reflect.String && (holds == sqlite3.TEXT || holds == sqlite3.BLOB):
		d.SetString(string(st.ColumnRawBlob(n)))
		return nil
	case d.CanInt() && holds == sqlite3.INTEGER && !d.OverflowInt(st.ColumnInt64(n)):
		d.SetInt(st.ColumnInt64(n))
		return nil
	case d.CanFloat() && (holds == sqlite3.INTEGER || holds == sqlite3.FLOAT):
		d.SetFloat(st.ColumnFloat(n))
		return nil
	}
	return fmt.Errorf("%s does not fit %s", holds, d.Type())
}

// value returns what is in a column, as its own type.
func (st *statement) value(n int) any {
	switch st.ColumnType(n) {
	case sqlite3.INTEGER:
		return st.ColumnInt64(n)
	case sqlite3.FLOAT:
		return st.ColumnFloat(n)
	case sqlite3.TEXT:
		return st.ColumnText(n)
	case sqlite3.BLOB:
		return st.bytes(n)
	case sqlite3.NULL:
	}
	return nil
}

// bytes returns the bytes of a text or a blob, empty rather than nil.
func (st *statement) bytes(n int) []byte { return st.ColumnBlob(n, []byte{}) }
