package portcullis

import (
	"encoding/json"
	"errors"
	"fmt"
)

// A Preparer hides or narrows tools of the plugin for a caller. It returns the tools that the caller is not offered whole.
// A plugin that has one must import the package prepare, which makes the component export it:
//
//	import _ "portcullis.dev/portcullis/prepare"
//
// The context has the plugin's settings, and no handle. The same caller must always get the same answer. The answer can
// only take away, and hiding a tool is no protection: the policy decides what a call may do. If the preparer panics, or
// its answer is invalid, the host offers none of the plugin's tools, and shows the operator why.
type Preparer func(ctx *Context, caller Caller) []Preparation

// A Caller is the caller that tools are offered to.
type Caller struct {
	Session string
	// Principal is the name of the caller in the policy, such as "local". A tool that calls has the name of its own
	// caller before its own, such as "local/script".
	Principal string
	// Client is the program that calls, as it names itself, or "". Nothing proves it.
	Client string
	// Model is the model that calls, or "" if the host does not know it.
	Model string
	// Automated says whether a schedule or a program started the session, and not a person.
	Automated bool
}

// A Preparation is a tool that a caller is not offered, or of which it is offered less. [Hide] and [Narrow] make one.
type Preparation struct {
	// Tool is the name of the tool, without the name of the plugin.
	Tool         string
	Availability Availability
}

// An Availability says what a caller is offered of a tool: [Hidden] or [Narrowed].
type Availability interface {
	availability()
}

// Hidden: the tool does not exist for the caller. The reason is for the operator.
type Hidden struct{ Reason string }

// Narrowed: the caller is offered another definition of the tool.
type Narrowed struct {
	// Schema is a JSON Schema 2020-12 that arguments must match besides the tool's own schema. Its root must have
	// "type": "object". Nil keeps the tool's own schema.
	Schema json.RawMessage
	// Description is the new description for a model. "" keeps the tool's own description.
	Description string
}

func (Hidden) availability()   {}
func (Narrowed) availability() {}

// Hide hides a tool. The reason is for the operator.
func Hide(tool, reason string) Preparation { return Preparation{tool, Hidden{reason}} }

// Narrow narrows the arguments of a tool by a JSON Schema 2020-12. Arguments must match it besides the tool's own schema,
// and the caller sees it instead of that schema. Its root must have "type": "object".
func Narrow(tool string, schema json.RawMessage) Preparation {
	return Preparation{tool, Narrowed{Schema: schema}}
}

// Described returns the preparation with a new description for a model. It does nothing if the tool is hidden.
func (p Preparation) Described(text string) Preparation {
	if narrowed, is := p.Availability.(Narrowed); is {
		narrowed.Description = text
		p.Availability = narrowed
	}
	return p
}

// Prepare hides and narrows tools for a caller as a host does. The error is a panic of the preparer, or the reason for
// which a host would refuse its answer. It is also in the log. It is for tests, with the package portcullistest.
func (p *Plugin) Prepare(caller Caller) (prepared []Preparation, err error) {
	if p.Preparer == nil {
		return nil, errors.New("the plugin has no preparer")
	}
	ctx := newContext("")
	defer close(ctx.ended)
	defer failOnPanic(ctx, &err)
	prepared = p.Preparer(ctx, caller)
	if err = p.checkPrepared(prepared); err != nil {
		ctx.Log(LevelError, err.Error())
		return nil, err
	}
	return prepared, nil
}

// checkPrepared returns the reason for which a host would refuse an answer, as far as the SDK knows.
func (p *Plugin) checkPrepared(prepared []Preparation) error {
	named := map[string]bool{}
	for _, preparation := range prepared {
		name := preparation.Tool
		if p.tool(name) == nil {
			return fmt.Errorf("the plugin has no tool %q to hide or narrow", name)
		}
		if named[name] {
			return fmt.Errorf("the tool %q is hidden or narrowed twice", name)
		}
		named[name] = true
		switch availability := preparation.Availability.(type) {
		case Hidden:
		case Narrowed:
			if availability.Schema != nil && !json.Valid(availability.Schema) {
				return fmt.Errorf("the narrower schema of the tool %q is not JSON", name)
			}
		default:
			return fmt.Errorf("the tool %q is neither Hidden nor Narrowed, but %T", name, availability)
		}
	}
	return nil
}
