package portcullis

import (
	"errors"
	"fmt"
)

// A Plugin is a list of tools, and the handles they ask for.
type Plugin struct {
	// Name is the plugin's name, and that of its file without ".wasm".
	Name string
	// Version is the author's.
	Version     string
	Description string
	Tools       []*Tool
	// Dependencies are the handles that the plugin asks for. Asking grants nothing: the policy binds them.
	Dependencies []Dependency
	// Generator makes more tools when the plugin loads, or is nil.
	Generator *Generator
	// Preparer hides or narrows tools for some callers, or is nil.
	Preparer Preparer
}

// A Dependency is a handle that a plugin asks for.
type Dependency struct {
	Key  string
	Kind DependencyKind
	// Optional: a call runs even if the policy does not bind the key. Otherwise it is denied.
	Optional bool
	// Reason is for the person who writes the policy.
	Reason string
}

// DependencyKind is the kind of handle behind a key.
type DependencyKind uint8

// The kinds of handles.
const (
	// KindDirectory is a directory, at "/" and the key for the standard library.
	KindDirectory DependencyKind = iota
	// KindHTTP is an HTTP client: a [Client], or the package nethttp.
	KindHTTP
	// KindStore keeps values between calls.
	KindStore
	// KindService is a service of the application that embeds the host.
	KindService
	// KindProcess is a program of the system, confined by the operating system.
	KindProcess
	// KindTools is tools of other plugins.
	KindTools
)

// The plugin of this component.
var registered *Plugin

// Register sets the plugin of this component. Call it once, from an init function: a component has no main.
func Register(plugin Plugin) {
	if registered != nil {
		panic("portcullis: a component is one plugin, and Register was called twice")
	}
	registered = &plugin
}

// component returns the registered plugin.
func component() *Plugin {
	if registered == nil {
		panic("portcullis: no plugin; call portcullis.Register in an init function")
	}
	return registered
}

// Registered returns the plugin of this component. It is for tests, with the package portcullistest.
func Registered() *Plugin { return component() }

// Call runs a tool as a host does: from JSON to the answer. It is for tests, with the package portcullistest.
func (p *Plugin) Call(tool, arguments string) (*Answer, error) {
	return p.execute(newContext(tool), tool, []byte(arguments))
}

// Check returns the reasons for which a host would refuse the plugin, as far as the SDK knows. It is for tests.
func (p *Plugin) Check() error {
	var problems []error
	seen := map[string]bool{}
	for _, tool := range p.Tools {
		if seen[tool.Name] {
			problems = append(problems, fmt.Errorf("two tools are called %q", tool.Name))
		}
		seen[tool.Name] = true
		if tool.Description == "" {
			problems = append(problems, fmt.Errorf("the tool %q has no description", tool.Name))
		}
		if _, err := tool.Schema(); err != nil {
			problems = append(problems, fmt.Errorf("the arguments of %q: %w", tool.Name, err))
		}
		if _, err := tool.OutputSchema(); err != nil {
			problems = append(problems, fmt.Errorf("the output of %q: %w", tool.Name, err))
		}
	}
	return errors.Join(problems...)
}

func (p *Plugin) tool(name string) *Tool {
	for _, tool := range p.Tools {
		if tool.Name == name {
			return tool
		}
	}
	return nil
}
