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

// A field is one of a struct, as encoding/json sees it.
type field struct {
	reflect.StructField
	name          string
	named         bool
	omits, quoted bool
}

// fields returns the fields of a struct that JSON has, those of embedded structs among them. Of several with one name,
// the least deep one counts; of those that are equally deep, the one whose tag names it, or else none.
func fields(of reflect.Type) []field {
	all := allFields(of, nil)
	return slices.DeleteFunc(slices.Clone(all), func(one field) bool {
		return slices.ContainsFunc(all, func(other field) bool {
			return other.name == one.name && !slices.Equal(other.Index, one.Index) && !one.dominates(other)
		})
	})
}

// dominates says whether a field hides another one of the same name.
func (f field) dominates(other field) bool {
	if len(f.Index) != len(other.Index) {
		return len(f.Index) < len(other.Index)
	}
	return f.named && !other.named
}

// allFields returns those that are hidden too. Their indices begin at the struct that is around all of them.
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

// noEmbeddedPointer refuses what encoding/json takes for fields of the struct, and a schema cannot: they are there
// together, or not at all.
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

// Arguments are read as encoding/json reads them, but for names: those of the schema are exact, and there are no
// others.
var argumentOptions = jsonv2.JoinOptions(
	json.DefaultOptionsV1(), jsonv2.MatchCaseInsensitiveNames(false), jsonv2.RejectUnknownMembers(true),
)

// decode reads the arguments of a call. The host has checked them against the schema; what the schema does not name is
// refused here too, for tests and for types that derive no closed schema.
func decode(raw []byte, into any) error {
	if err := jsonv2.Unmarshal(raw, into, argumentOptions); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return setDefaults(reflect.ValueOf(into).Elem(), raw)
}

// setDefaults writes the `default` of each field that an object leaves away, in structs within structs too. A struct
// that is left away itself has no object, and raw is nil.
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

// hasDefaults says whether a type is a struct with a default somewhere. A type that reads itself sets its own.
func hasDefaults(of reflect.Type) bool {
	if of.Kind() != reflect.Struct || formOf(of, ofArguments) != byKind {
		return false
	}
	return slices.ContainsFunc(fields(of), func(field field) bool {
		_, has := field.Tag.Lookup("default")
		return has || hasDefaults(field.Type)
	})
}

// literal is the text of a tag as JSON: itself, or a string where the field is one.
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
