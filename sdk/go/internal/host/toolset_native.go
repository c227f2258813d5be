//go:build !wasip1

package host

import (
	"cmp"
	"slices"
	"strings"
)

// PlayedTools are the tools that a script plays for a key.
type PlayedTools struct {
	Definitions []Callable
	Call        func(ToolCall) ToolResult
	// Outlook says what the host would do with a call. If nil, every call runs.
	Outlook func(ToolCall) Outlook
}

// Called is a call of a played tool.
type Called struct {
	Key  string
	Call ToolCall
}

// Toolset is a played set of tools.
type Toolset struct {
	key    string
	script *Script
	tools  PlayedTools
}

// OpenToolset opens the tools of a key.
func OpenToolset(key string) (*Toolset, error) {
	script := script()
	if tools, granted := script.Tools[key]; granted {
		return &Toolset{key, script, tools}, nil
	}
	return nil, NotGranted
}

// Close drops the toolset.
func (*Toolset) Close() {}

// List returns the played definitions, sorted by name.
func (t *Toolset) List() []ToolSummary {
	sorted := slices.SortedFunc(slices.Values(t.tools.Definitions), func(a, b Callable) int {
		return cmp.Compare(a.Name, b.Name)
	})
	var tools []ToolSummary
	for _, tool := range sorted {
		tools = append(tools, tool.ToolSummary)
	}
	return tools
}

// Search returns the definitions whose name or description contains a word of the query.
func (t *Toolset) Search(query string, limit uint32) (tools []ToolSummary) {
	for _, tool := range t.tools.Definitions {
		fits := func(word string) bool { return strings.Contains(tool.Name+tool.Description, word) }
		if uint32(len(tools)) < limit && slices.ContainsFunc(strings.Fields(query), fits) {
			tools = append(tools, tool.ToolSummary)
		}
	}
	return tools
}

// Definition returns the definition of a tool, or nil.
func (t *Toolset) Definition(tool string) *Callable {
	for _, definition := range t.tools.Definitions {
		if definition.Name == tool {
			return &definition
		}
	}
	return nil
}

// Call calls a played tool.
func (t *Toolset) Call(call ToolCall) ToolResult {
	t.script.Called = append(t.script.Called, Called{t.key, call})
	return t.tools.Call(call)
}

// Foresee returns the played outlooks.
func (t *Toolset) Foresee(calls []ToolCall) (outlooks []Outlook) {
	for _, call := range calls {
		var outlook Outlook
		if t.tools.Outlook != nil {
			outlook = t.tools.Outlook(call)
		}
		outlooks = append(outlooks, outlook)
	}
	return outlooks
}

// Approve approves every call that would not fail.
func (t *Toolset) Approve(calls []ToolCall) (approved []bool) {
	var plan []Called
	for index, outlook := range t.Foresee(calls) {
		plan = append(plan, Called{t.key, calls[index]})
		approved = append(approved, outlook.Kind != OutlookFails)
	}
	t.script.Planned = append(t.script.Planned, plan)
	return approved
}

// CallAll calls played tools one after the other.
func (t *Toolset) CallAll(calls []ToolCall) (results []ToolResult) {
	for _, call := range calls {
		results = append(results, t.Call(call))
	}
	return results
}
