package portcullis

import (
	"bytes"
	"encoding"
	"encoding/json"
	jsonv2 "encoding/json/v2"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A purpose is what a schema describes. An output has null where Go has a nil. Arguments omit the field.
type purpose bool

const (
	ofArguments purpose = false
	ofOutput    purpose = true
)

// schemaOf derives the JSON Schema of a type.
func schemaOf(of reflect.Type, purpose purpose) (json.RawMessage, error) {
	deriver := &deriver{purpose: purpose}
	schema, err := deriver.schema(of, "")
	if err != nil {
		return nil, err
	}
	return marshal(schema)
}

// An object is a JSON object with ordered members, so that a schema has the field order of its struct.
type object []member

type member struct {
	name  string
	value any
}

func (o object) MarshalJSON() ([]byte, error) {
	var text bytes.Buffer
	text.WriteByte('{')
	for index, member := range o {
		if index > 0 {
			text.WriteByte(',')
		}
		name, err := marshal(member.name)
		if err != nil {
			return nil, err
		}
		value, err := marshal(member.value)
		if err != nil {
			return nil, err
		}
		text.Write(name)
		text.WriteByte(':')
		text.Write(value)
	}
	text.WriteByte('}')
	return text.Bytes(), nil
}

// A deriver derives the schema of one type.
type deriver struct {
	purpose purpose
	// The structs that contain the current one. They detect recursive types, which have no schema here.
	around []reflect.Type
	// How many slices, maps and pointers contain the current field. Defaults are not set inside them.
	within int
}

var (
	typeTime   = reflect.TypeFor[time.Time]()
	typeNumber = reflect.TypeFor[json.Number]()
	typeRaw    = reflect.TypeFor[json.RawMessage]()

	// The interfaces of types that read or write themselves, as any JSON or as a string.
	readsJSON  = []reflect.Type{reflect.TypeFor[json.Unmarshaler](), reflect.TypeFor[jsonv2.UnmarshalerFrom]()}
	readsText  = reflect.TypeFor[encoding.TextUnmarshaler]()
	writesJSON = []reflect.Type{reflect.TypeFor[json.Marshaler](), reflect.TypeFor[jsonv2.MarshalerTo]()}
	writesText = reflect.TypeFor[encoding.TextMarshaler]()
)

// A form is the way in which encoding/json treats a type.
type form uint8

const (
	// According to the kind of the type.
	byKind form = iota
	// As a string that a method of the type reads or writes.
	asText
	// As any JSON that a method of the type reads or writes.
	asItself
)

// formOf returns the form of a type that is not a pointer.
func formOf(of reflect.Type, purpose purpose) form {
	pointer := reflect.PointerTo(of)
	switch {
	case of == typeTime:
		return asText
	case of == typeNumber:
		return byKind
	case purpose == ofArguments && slices.ContainsFunc(readsJSON, pointer.Implements):
		return asItself
	case purpose == ofArguments && pointer.Implements(readsText):
		return asText
	case purpose == ofArguments:
		return byKind
	case slices.ContainsFunc(writesJSON, pointer.Implements):
		return asItself
	case of.Implements(writesText):
		return asText
	case pointer.Implements(writesText):
		// A string where the value has an address; else its kind counts.
		return asItself
	default:
		return byKind
	}
}

// schema derives the schema of a type. The tag is that of its field.
func (d *deriver) schema(of reflect.Type, tag reflect.StructTag) (object, error) {
	switch {
	case of.Kind() == reflect.Pointer:
		d.within++
		defer func() { d.within-- }()
		schema, err := d.schema(of.Elem(), tag)
		return d.orNull(schema), err
	case of.Kind() == reflect.Interface, of == typeRaw:
		return object{}, nil
	case of == typeTime:
		return object{{"type", "string"}, {"format", "date-time"}}, nil
	case of == typeNumber:
		return bounded(object{{"type", "number"}}, tag, numberTags)
	}
	switch formOf(of, d.purpose) {
	case asItself:
		return object{}, nil
	case asText:
		return bounded(object{{"type", "string"}}, tag, stringTags)
	default:
		return d.plain(of, tag)
	}
}

// plain derives the schema of a type that encoding/json treats by its kind.
func (d *deriver) plain(of reflect.Type, tag reflect.StructTag) (object, error) {
	switch of.Kind() {
	case reflect.String:
		return bounded(object{{"type", "string"}}, tag, stringTags)
	case reflect.Bool:
		return object{{"type", "boolean"}}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return bounded(object{{"type", "integer"}}, tag, numberTags)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		schema := object{{"type", "integer"}}
		if _, has := tag.Lookup("minimum"); !has {
			schema = append(schema, member{"minimum", 0})
		}
		return bounded(schema, tag, numberTags)
	case reflect.Float32, reflect.Float64:
		return bounded(object{{"type", "number"}}, tag, numberTags)
	case reflect.Slice, reflect.Array:
		if d.isBytes(of) {
			return d.orNull(object{{"type", "string"}, {"contentEncoding", "base64"}}), nil
		}
		return d.list(of, tag)
	case reflect.Map:
		return d.table(of, tag)
	case reflect.Struct:
		return d.record(of)
	default:
		return nil, fmt.Errorf("%v has no form in JSON", of)
	}
}

// isBytes reports whether encoding/json writes a list as a base64 string, not as an array.
func (d *deriver) isBytes(of reflect.Type) bool {
	element := of.Elem()
	return of.Kind() == reflect.Slice && element.Kind() == reflect.Uint8 && formOf(element, d.purpose) == byKind
}

func (d *deriver) list(of reflect.Type, tag reflect.StructTag) (object, error) {
	d.within++
	defer func() { d.within-- }()
	items, err := d.schema(of.Elem(), tag)
	if err != nil {
		return nil, err
	}
	schema := object{{"type", "array"}, {"items", items}}
	if of.Kind() == reflect.Array {
		return append(schema, member{"minItems", of.Len()}, member{"maxItems", of.Len()}), nil
	}
	schema, err = bounded(schema, tag, listTags)
	return d.orNull(schema), err
}

func (d *deriver) table(of reflect.Type, tag reflect.StructTag) (object, error) {
	if of.Key().Kind() != reflect.String {
		return nil, fmt.Errorf("%v: the keys of a JSON object are strings", of)
	}
	d.within++
	defer func() { d.within-- }()
	values, err := d.schema(of.Elem(), tag)
	if err != nil {
		return nil, err
	}
	return d.orNull(object{{"type", "object"}, {"additionalProperties", values}}), nil
}

func (d *deriver) record(of reflect.Type) (object, error) {
	if slices.Contains(d.around, of) {
		return nil, fmt.Errorf("%v holds itself, which a derived schema cannot say; use json.RawMessage there", of)
	}
	d.around = append(d.around, of)
	defer func() { d.around = d.around[:len(d.around)-1] }()
	if err := noEmbeddedPointer(of); err != nil {
		return nil, err
	}
	properties, required := object{}, []string{}
	for _, field := range fields(of) {
		schema, err := d.property(field)
		if err != nil {
			return nil, fmt.Errorf("%v.%s: %w", of, field.Name, err)
		}
		properties = append(properties, member{field.name, schema})
		if d.mustBe(field) {
			required = append(required, field.name)
		}
	}
	schema := object{{"type", "object"}, {"properties", properties}}
	if len(required) > 0 {
		schema = append(schema, member{"required", required})
	}
	return append(schema, member{"additionalProperties", false}), nil
}

// mustBe reports whether a schema requires a field.
func (d *deriver) mustBe(field field) bool {
	_, hasDefault := field.Tag.Lookup("default")
	return !field.omits && (d.purpose == ofOutput || !hasDefault && field.Type.Kind() != reflect.Pointer)
}

func (d *deriver) property(field field) (object, error) {
	if field.quoted {
		return nil, fmt.Errorf("a number as a string is not supported: leave `string` out of the json tag")
	}
	schema, err := d.schema(field.Type, field.Tag)
	if err != nil {
		return nil, err
	}
	if field.omits && d.purpose == ofOutput {
		schema = withoutNull(schema)
	}
	if text, has := field.Tag.Lookup("default"); has && d.purpose == ofArguments {
		if d.within > 0 {
			return nil, fmt.Errorf("a default within a slice, a map or a pointer would not be set")
		}
		value, err := literal(field.Type, text)
		if err != nil {
			return nil, fmt.Errorf("default: %w", err)
		}
		schema = append(schema, member{"default", value})
	}
	if description := field.Tag.Get("description"); description != "" {
		schema = append(schema, member{"description", description})
	}
	return schema, nil
}

// orNull adds null to a schema if a nil value is written as null.
func (d *deriver) orNull(schema object) object {
	if d.purpose == ofArguments {
		return schema
	}
	for index, member := range schema {
		switch value := member.value.(type) {
		case string:
			if member.name == "type" {
				schema[index].value = []string{value, "null"}
			}
		case choices:
			if !slices.Contains(value, nil) {
				schema[index].value = append(value, nil)
			}
		}
	}
	return schema
}

func withoutNull(schema object) object {
	for index, member := range schema {
		switch value := member.value.(type) {
		case []string:
			if member.name == "type" {
				schema[index].value = value[0]
			}
		case choices:
			schema[index].value = slices.DeleteFunc(value, func(choice any) bool { return choice == nil })
		}
	}
	return schema
}

// choices are the values of an enum tag.
type choices []any

// The tags that limit a value, by the kind of value.
var (
	numberTags = []string{"enum", "minimum", "maximum"}
	stringTags = []string{"enum", "minLength", "maxLength", "pattern", "format"}
	listTags   = []string{"minItems", "maxItems"}
)

// bounded adds the limits from the tags of a field to its schema.
func bounded(schema object, tag reflect.StructTag, names []string) (object, error) {
	for _, name := range names {
		text, has := tag.Lookup(name)
		if !has {
			continue
		}
		var value any = text
		switch name {
		case "enum":
			choices, err := enumeration(schema[0].value == "string", text)
			if err != nil {
				return nil, err
			}
			value = choices
		case "pattern", "format":
		default:
			if _, err := strconv.ParseFloat(text, 64); err != nil {
				return nil, fmt.Errorf("%s: %q is no number", name, text)
			}
			value = json.Number(text)
		}
		schema = append(schema, member{name, value})
	}
	return schema, nil
}

func enumeration(ofStrings bool, text string) (choices, error) {
	var all choices
	for choice := range strings.SplitSeq(text, ",") {
		if ofStrings {
			all = append(all, choice)
			continue
		}
		if _, err := strconv.ParseFloat(choice, 64); err != nil {
			return nil, fmt.Errorf("enum: %q is no number", choice)
		}
		all = append(all, json.Number(choice))
	}
	return all, nil
}
