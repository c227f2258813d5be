package portcullis

import (
	"encoding/json"
	"errors"
	"fmt"
)

// A Generator makes tools from the plugin's settings and its directories, such as one tool for each operation of an API.
// A plugin that has one must import the package generate, which makes the component export it:
//
//	import _ "portcullis.dev/portcullis/generate"
type Generator struct {
	// Generate makes the tools when the plugin loads. The context has the plugin's settings, and the directories that the
	// policy binds, read-only. It has no other handle. The result must be the same each time. The error is for the
	// operator.
	Generate func(ctx *Context) ([]GeneratedTool, error)
	// Run runs a call of a generated tool. The arguments are one JSON object that is valid for its schema. The result
	// becomes the answer as that of a tool of [NewTool] with the type any.
	Run func(ctx *Context, tool string, arguments json.RawMessage) (any, error)
}

// A GeneratedTool is a tool that a generator makes.
type GeneratedTool struct {
	// Name is unique within the plugin, also among its other tools.
	Name string
	// Title is a few words for people, or "".
	Title string
	// Description says what the tool does, for a model.
	Description string
	// Schema is the JSON Schema 2020-12 of the arguments. Its root must have "type": "object".
	Schema json.RawMessage
	// OutputSchema is the JSON Schema 2020-12 of a JSON output, or nil.
	OutputSchema json.RawMessage
	// Required are the permissions that the tool needs; Optional those that it can use but does not need.
	Required, Optional []Permission
	// Hints are what the author claims.
	Hints []Hint
}

// Generate makes the tools of the plugin's generator as a host does. It is for tests, with the package portcullistest.
func (p *Plugin) Generate() (tools []GeneratedTool, err error) {
	if p.Generator == nil {
		return nil, errors.New("the plugin has no generator")
	}
	ctx := newContext("")
	defer close(ctx.ended)
	defer failOnPanic(ctx, &err)
	return p.Generator.Generate(ctx)
}

// runTool runs a tool of the plugin, or one that its generator made.
func (p *Plugin) runTool(ctx *Context, name string, arguments []byte) (*Success[any], error) {
	if tool := p.tool(name); tool != nil {
		return tool.run(ctx, arguments)
	}
	if p.Generator == nil {
		return nil, InvalidArguments(fmt.Sprintf("there is no tool %q", name))
	}
	answer, err := p.Generator.Run(ctx, name, arguments)
	if err != nil {
		return nil, err
	}
	return asSuccess(answer), nil
}
