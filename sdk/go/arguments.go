package portcullis

import (
	"cmp"
	"encoding/json"
	jsonv2 "encoding/json/v2"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// A field is a field of a struct, as encoding/json sees it.
type field struct {
	reflect.StructField
	name          string
	named         bool
	omits, quoted bool
}

// fields returns the fields of a struct that appear in JSON, including those of embedded structs. Of several fields
// with the same name, the least nested one counts. At equal depth, the one with the name in its tag counts, or none.
func fields(of reflect.Type) []field {
	all := allFields(of, nil)
	return slices.DeleteFunc(slices.Clone(all), func(one field) bool {
		return slices.ContainsFunc(all, func(other field) bool {
			return other.name == one.name && !slices.Equal(other.Index, one.Index) && !one.dominates(other)
		})
	})
}

// dominates reports whether a field hides another one of the same name.
func (f field) dominates(other field) bool {
	if len(f.Index) != len(other.Index) {
		return len(f.Index) < len(other.Index)
	}
	return f.named && !other.named
}

// allFields returns all fields, including hidden ones. Their indices start at the outermost struct.
func allFields(of reflect.Type, around []int) (all []field) {
	for index := range of.NumField() {
		one := of.Field(index)
		one.Index = append(slices.Clone(around), index)
		name, options, _ := strings.Cut(one.Tag.Get("json"), ",")
		embedded := one.Anonymous && one.Type.Kind() == reflect.Struct
		switch {
		case name == "-" && options == "":
		case embedded && name == "":
			all = append(all, allFields(one.Type, one.Index)...)
		case embedded, one.IsExported():
			field := field{StructField: one, name: cmp.Or(name, one.Name), named: name != ""}
			for option := range strings.SplitSeq(options, ",") {
				field.omits = field.omits || option == "omitempty" || option == "omitzero"
				field.quoted = field.quoted || option == "string"
			}
			all = append(all, field)
		}
	}
	return all
}

// noEmbeddedPointer refuses embedded pointers to structs. encoding/json treats their fields as fields of the outer
// struct, but they are present only together, which a schema cannot express.
func noEmbeddedPointer(of reflect.Type) error {
	for index := range of.NumField() {
		field := of.Field(index)
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); !field.Anonymous || name != "" {
			continue
		}
		switch {
		case field.Type.Kind() == reflect.Pointer && field.Type.Elem().Kind() == reflect.Struct:
			return fmt.Errorf("%v.%s: embed the struct, not a pointer to it", of, field.Name)
		case field.Type.Kind() == reflect.Struct:
			if err := noEmbeddedPointer(field.Type); err != nil {
				return err
			}
		}
	}
	return nil
}

// Arguments are decoded as by encoding/json, except that names must match the schema exactly and unknown names are
// refused.
var argumentOptions = jsonv2.JoinOptions(
	json.DefaultOptionsV1(), jsonv2.MatchCaseInsensitiveNames(false), jsonv2.RejectUnknownMembers(true),
)

// decode reads the arguments of a call. The host has validated them against the schema. Unknown names are refused here
// too, for tests and for types that derive no closed schema.
func decode(raw []byte, into any) error {
	if err := jsonv2.Unmarshal(raw, into, argumentOptions); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return setDefaults(reflect.ValueOf(into).Elem(), raw)
}

// setDefaults sets each field that the object omits to its `default`, in nested structs too. If a struct itself is
// omitted, it has no object and raw is nil.
func setDefaults(of reflect.Value, raw json.RawMessage) error {
	if !hasDefaults(of.Type()) {
		return nil
	}
	var members map[string]json.RawMessage
	if raw != nil {
		if err := json.Unmarshal(raw, &members); err != nil {
			return err
		}
	}
	for _, field := range fields(of.Type()) {
		place, member := of.FieldByIndex(field.Index), members[field.name]
		text, has := field.Tag.Lookup("default")
		if !has {
			if err := setDefaults(place, member); err != nil {
				return err
			}
			continue
		}
		if member != nil {
			continue
		}
		value, err := literal(field.Type, text)
		if err == nil {
			err = json.Unmarshal(value, place.Addr().Interface())
		}
		if err != nil {
			return fmt.Errorf("the default of %s: %w", field.name, err)
		}
	}
	return nil
}

// hasDefaults reports whether a type is a struct that contains a default. A type that reads itself sets its own.
func hasDefaults(of reflect.Type) bool {
	if of.Kind() != reflect.Struct || formOf(of, ofArguments) != byKind {
		return false
	}
	return slices.ContainsFunc(fields(of), func(field field) bool {
		_, has := field.Tag.Lookup("default")
		return has || hasDefaults(field.Type)
	})
}

// literal returns the text of a tag as JSON: as a string if the field is one, and unchanged otherwise.
func literal(of reflect.Type, text string) (json.RawMessage, error) {
	form := formOf(of, ofArguments)
	if form == asText || form == byKind && of.Kind() == reflect.String && of != typeNumber {
		return marshal(text)
	}
	value := reflect.New(of)
	if err := json.Unmarshal([]byte(text), value.Interface()); err != nil {
		return nil, err
	}
	return json.RawMessage(text), nil
}
