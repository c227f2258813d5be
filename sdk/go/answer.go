package portcullis

import (
	"bytes"
	"encoding/json"
	"encoding/json/jsontext"
	jsonv2 "encoding/json/v2"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"portcullis.dev/portcullis/internal/host"
)

// Success is an answer with a title for people and metadata for programs.
type Success[T any] struct {
	// Title is a few words for people, such as "Read src/main.go".
	Title  string
	Output T
	// Metadata becomes one JSON object. A model does not see it.
	Metadata any
}

// Parts are an output of several pieces.
type Parts []Part

// A Part is a piece of a composite output: [Text], [Image] or [File].
type Part interface {
	part()
}

// Text is a piece of text for the model.
type Text string

// An Image is a picture for the model.
type Image struct {
	// MediaType is that of RFC 6838, such as "image/png".
	MediaType string
	Data      []byte
	// Name is the file name for people, such as "plot.png". It is never a path.
	Name string
}

// A File is bytes and their media type.
type File struct {
	MediaType string
	Data      []byte
	// Name is the file name for people, such as "report.csv". It is never a path.
	Name string
}

func (Text) part()  {}
func (Image) part() {}
func (File) part()  {}

// titled is any Success.
type titled interface {
	success() *Success[any]
	outputType() reflect.Type
}

func (s Success[T]) success() *Success[any] {
	return &Success[any]{s.Title, s.Output, s.Metadata}
}

func (s Success[T]) outputType() reflect.Type { return reflect.TypeFor[T]() }

func asSuccess(answer any) *Success[any] {
	switch answer := answer.(type) {
	case titled:
		return answer.success()
	case *Answer:
		return answer.success()
	}
	return &Success[any]{Output: answer}
}

// outputType returns the type for a tool's output schema, or nil.
func outputType(answer reflect.Type) reflect.Type {
	if titled, is := reflect.Zero(answer).Interface().(titled); is {
		answer = titled.outputType()
	}
	switch {
	case answer.Kind() == reflect.Interface, answer == reflect.TypeFor[json.RawMessage](), answer == reflect.TypeFor[*Answer]():
		return nil
	case answer.Kind() == reflect.String, answer == reflect.TypeFor[Parts]():
		return nil
	default:
		return answer
	}
}

// An Answer is a success in the form for the host, and what a call of another tool returns.
type Answer struct {
	Title string
	// Output is a string, a json.RawMessage or Parts.
	Output any
	// Metadata is a JSON object, or nil.
	Metadata json.RawMessage
}

// success returns what a tool returned that passes an answer on.
func (a *Answer) success() *Success[any] {
	if a == nil {
		return &Success[any]{Output: ""}
	}
	success := &Success[any]{Title: a.Title, Output: a.Output}
	if a.Metadata != nil {
		success.Metadata = a.Metadata
	}
	return success
}

var errNotUTF8 = Failed("the answer is not UTF-8")

func encode(success *Success[any]) (*Answer, error) {
	answer := &Answer{Title: host.Said(success.Title), Output: success.Output}
	if success.Metadata != nil {
		metadata, err := marshalSaid(success.Metadata)
		if err != nil {
			return nil, err
		}
		if metadata[0] != '{' {
			return nil, errors.New("metadata is one JSON object: give a struct or a map")
		}
		answer.Metadata = metadata
	}
	switch output := success.Output.(type) {
	case string:
		if !utf8.ValidString(output) {
			return nil, errNotUTF8
		}
	case Parts:
		parts := plain(output)
		if slices.ContainsFunc(parts, isNotUTF8) {
			return nil, errNotUTF8
		}
		answer.Output = parts
	default:
		document, err := marshal(output)
		if err != nil && strings.HasSuffix(err.Error(), invalidUTF8) {
			return nil, errNotUTF8
		}
		if err != nil {
			return nil, err
		}
		answer.Output = document
	}
	return answer, nil
}

// plain returns the parts without pointers to them. It panics on any other type, which fails the call.
func plain(parts Parts) Parts {
	plain := make(Parts, 0, len(parts))
	for _, part := range parts {
		switch part := part.(type) {
		case Text, Image, File:
			plain = append(plain, part)
		case *Text:
			plain = append(plain, *part)
		case *Image:
			plain = append(plain, *part)
		case *File:
			plain = append(plain, *part)
		default:
			panic(fmt.Sprintf("%T is not a part of an answer: use a Text, an Image or a File", part))
		}
	}
	return plain
}

func isNotUTF8(part Part) bool {
	switch part := part.(type) {
	case Text:
		return !utf8.ValidString(string(part))
	case Image:
		return !utf8.ValidString(part.MediaType) || !utf8.ValidString(part.Name)
	case File:
		return !utf8.ValidString(part.MediaType) || !utf8.ValidString(part.Name)
	default:
		return false
	}
}

// The error text of encoding/json for a string that is not UTF-8. It has no error value for it.
const invalidUTF8 = "invalid UTF-8"

// Options to write JSON like encoding/json, but without the escapes for HTML.
var jsonOptions = jsonv2.JoinOptions(json.DefaultOptionsV1(), jsontext.EscapeForHTML(false))

// marshal encodes data. A string that is not UTF-8 is an error; encoding/json would change it.
func marshal(value any) (json.RawMessage, error) {
	return jsonv2.Marshal(value, jsonOptions, jsontext.AllowInvalidUTF8(false))
}

// marshalSaid encodes informational values. It replaces invalid UTF-8.
func marshalSaid(value any) (json.RawMessage, error) {
	document, err := jsonv2.Marshal(value, jsonOptions)
	return bytes.ToValidUTF8(document, []byte("\uFFFD")), err
}
