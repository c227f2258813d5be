package portcullis

import (
	"encoding/json"
	"fmt"
	"reflect"
	"runtime/debug"
)

// A Tool is a function that a model may call. [NewTool] creates one.
type Tool struct {
	Name        string
	Title       string
	Description string
	// Required are the permissions that the tool needs; Optional those that it can use but does not need.
	Required, Optional []Permission
	Hints              []Hint

	arguments reflect.Type
	output    reflect.Type
	run       func(*Context, []byte) (*Success[any], error)
}

// NewTool turns a function into a tool. The type of its arguments is a struct. Its fields and their tags become the
// JSON Schema, see [Tool.Schema]. The return value becomes the answer:
//
//   - a string is text,
//   - [Parts] are text, images and files,
//   - any other type is JSON with the schema of the type; any has no schema,
//   - [Success] of one of these has a title for people and metadata for programs,
//   - an [Answer] of another tool is passed on unchanged.
//
// A panic in the function is a failure with the panic's message; its stack goes to the log of the call.
func NewTool[A, R any](
	name, description string, run func(ctx *Context, arguments A) (R, error), options ...Option,
) *Tool {
	tool := &Tool{
		Name:        name,
		Description: description,
		arguments:   reflect.TypeFor[A](),
		output:      outputType(reflect.TypeFor[R]()),
	}
	for _, option := range options {
		option.apply(tool)
	}
	tool.run = func(ctx *Context, raw []byte) (*Success[any], error) {
		var arguments A
		if err := decode(raw, &arguments); err != nil {
			return nil, InvalidArguments(err.Error())
		}
		answer, err := run(ctx, arguments)
		if err != nil {
			return nil, err
		}
		return asSuccess(answer), nil
	}
	return tool
}

// An Option sets a property of a tool: a [Hint], [Requires], [MayUse] or [Title].
type Option interface {
	apply(*Tool)
}

// A Permission is a permission that a tool may use.
type Permission string

// The permissions. Without Write every directory is read-only; without Read and Write there is none.
const (
	Read    Permission = "read"
	Write   Permission = "write"
	Execute Permission = "execute"
	Network Permission = "network"
)

// A Hint is a claim of a tool's author about its behaviour.
type Hint uint8

// The hints that a host knows.
const (
	// ReadOnly: changes nothing outside the sandbox.
	ReadOnly Hint = iota
	// Destructive: may destroy or overwrite something.
	Destructive
	// Idempotent: the same call twice has the effect of one.
	Idempotent
	// OpenWorld: reaches things outside the host's control, such as the network.
	OpenWorld
	// Sequential: must not run at the same time as another call of the same session.
	Sequential
)

func (h Hint) apply(tool *Tool) { tool.Hints = append(tool.Hints, h) }

type option func(*Tool)

func (o option) apply(tool *Tool) { o(tool) }

// Requires sets the permissions that a tool needs.
func Requires(permissions ...Permission) Option {
	return option(func(tool *Tool) { tool.Required = append(tool.Required, permissions...) })
}

// MayUse sets the permissions that a tool can use but does not need.
func MayUse(permissions ...Permission) Option {
	return option(func(tool *Tool) { tool.Optional = append(tool.Optional, permissions...) })
}

// Title sets the title: a few words for people.
func Title(words string) Option {
	return option(func(tool *Tool) { tool.Title = words })
}

// Schema returns the JSON Schema of the arguments.
//
// The `json` tag of a field gives its name, the `description` tag its description. A pointer, and a field with
// `omitempty`, `omitzero` or a `default`, is optional; every other field is required. Further tags set bounds:
// `enum:"a,b"`, `minimum`, `maximum`, `minLength`, `maxLength`, `pattern`, `format`, `minItems` and `maxItems`. On a
// slice, the tags for strings and numbers, and `enum`, apply to its elements. Objects refuse unknown fields. A type with
// UnmarshalText is a string, and a type with UnmarshalJSON is anything.
func (t *Tool) Schema() (json.RawMessage, error) {
	if t.arguments.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%v is no struct", t.arguments)
	}
	return schemaOf(t.arguments, ofArguments)
}

// OutputSchema returns the JSON Schema of a JSON answer, or nil if the tool has none.
func (t *Tool) OutputSchema() (json.RawMessage, error) {
	if t.output == nil {
		return nil, nil
	}
	return schemaOf(t.output, ofOutput)
}

// execute runs a tool, from JSON to the result for the host.
func (p *Plugin) execute(ctx *Context, name string, arguments []byte) (answer *Answer, err error) {
	defer close(ctx.ended)
	defer failOnPanic(ctx, &err)
	success, err := p.runTool(ctx, name, arguments)
	if err != nil {
		return nil, err
	}
	return encode(success)
}

// failOnPanic turns a panic into an error, with the stack in the log. Defer it.
func failOnPanic(ctx *Context, err *error) {
	if cause := recover(); cause != nil {
		ctx.Log(LevelError, fmt.Sprintf("panic: %v\n%s", cause, debug.Stack()))
		*err = Failed(fmt.Sprintf("panic: %v", cause))
	}
}
