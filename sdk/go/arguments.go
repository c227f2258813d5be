package portcullis

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"
	"strings"
)

// A field is one of a struct, as encoding/json sees it.
type field struct {
	reflect.StructField
	name          string
	omits, quoted bool
}

// fields goes through the fields of a struct that JSON has, those of embedded structs among them.
func fields(of reflect.Type) iter.Seq[field] {
	return func(yield func(field) bool) {
		for _, structField := range reflect.VisibleFields(of) {
			name, options, _ := strings.Cut(structField.Tag.Get("json"), ",")
			embedded := structField.Anonymous && structField.Type.Kind() == reflect.Struct && name == ""
			if !structField.IsExported() || name == "-" && options == "" || embedded || hidden(of, structField) {
				continue
			}
			if name == "" {
				name = structField.Name
			}
			field := field{StructField: structField, name: name}
			for option := range strings.SplitSeq(options, ",") {
				field.omits = field.omits || option == "omitempty" || option == "omitzero"
				field.quoted = field.quoted || option == "string"
			}
			if !yield(field) {
				return
			}
		}
	}
}

// hidden says whether a field is promoted from an embedded struct that has a name in JSON, and so lies within it.
func hidden(of reflect.Type, inner reflect.StructField) bool {
	for depth := 1; depth < len(inner.Index); depth++ {
		outer := of.FieldByIndex(inner.Index[:depth])
		if name, _, _ := strings.Cut(outer.Tag.Get("json"), ","); name != "" || outer.Type.Kind() != reflect.Struct {
			return true
		}
	}
	return false
}

// noEmbeddedPointer refuses what encoding/json takes for fields of the struct, and a schema cannot: they are there
// together, or not at all.
func noEmbeddedPointer(of reflect.Type) error {
	for _, field := range reflect.VisibleFields(of) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		pointer := field.Type.Kind() == reflect.Pointer && field.Type.Elem().Kind() == reflect.Struct
		if field.Anonymous && pointer && name == "" && !hidden(of, field) {
			return fmt.Errorf("%v.%s: embed the struct, not a pointer to it", of, field.Name)
		}
	}
	return nil
}

// decode reads the arguments of a call. The host has checked them against the schema; what the schema does not name is
// refused here too, for tests and for types that derive no closed schema.
func decode(raw []byte, into any) error {
	if err := setDefaults(reflect.ValueOf(into).Elem()); err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := decoder.Token(); err != io.EOF {
		return errors.New("there is more after the arguments")
	}
	return nil
}

// setDefaults writes the `default` of each field, in structs within structs too.
func setDefaults(of reflect.Value) error {
	if of.Kind() != reflect.Struct || of.Type() == typeTime {
		return nil
	}
	for field := range fields(of.Type()) {
		place := of.FieldByIndex(field.Index)
		text, has := field.Tag.Lookup("default")
		if !has {
			if err := setDefaults(place); err != nil {
				return err
			}
			continue
		}
		value, err := literal(field.Type, text)
		if err != nil {
			return fmt.Errorf("the default of %s: %w", field.name, err)
		}
		if err := json.Unmarshal(value, place.Addr().Interface()); err != nil {
			return fmt.Errorf("the default of %s: %w", field.name, err)
		}
	}
	return nil
}

// literal is the text of a tag as JSON: itself, or a string where the field is one.
func literal(of reflect.Type, text string) (json.RawMessage, error) {
	if of.Kind() == reflect.String && of != typeNumber {
		return marshal(text)
	}
	value := reflect.New(of)
	if err := json.Unmarshal([]byte(text), value.Interface()); err != nil {
		return nil, err
	}
	return json.RawMessage(text), nil
}
