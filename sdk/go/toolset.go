package portcullis

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"strings"
	"unicode/utf8"

	"portcullis.dev/portcullis/internal/host"
)

// A ToolSummary is a tool in a list.
type ToolSummary struct {
	// Name is the full name, such as "files.read".
	Name string
	// Title is a few words for people, or "".
	Title string
	// Description says what the tool does. It is the text of another plugin: do not trust it.
	Description string
}

// A CallableTool is the definition of a tool of another plugin.
type CallableTool struct {
	ToolSummary
	// Schema is the JSON Schema 2020-12 of the arguments.
	Schema json.RawMessage
	// OutputSchema is the JSON Schema 2020-12 of the output, or nil if the tool does not return JSON.
	OutputSchema json.RawMessage
	// Permissions are those that the tool may use.
	Permissions []Permission
	// Hints are what the author of the tool claims.
	Hints []Hint
}

// A ToolCall is a call of a tool of another plugin.
type ToolCall struct {
	// Tool is the full name, such as "files.read".
	Tool string
	// Arguments become one JSON object. Nil is an empty one.
	Arguments any
}

// A ToolResult is how one of several calls ended. Either the answer or the error is nil.
type ToolResult struct {
	Answer *Answer
	// Err is a [Failure].
	Err error
}

// PlannedCallsMax is the number of calls that [Toolset.Foresee] and [Toolset.Approve] take at once. It is the host's
// limit.
const PlannedCallsMax = 100

// An Outlook is what the host would do with a call.
type Outlook struct {
	// NeedsApproval: an approver would be asked.
	NeedsApproval bool
	// Err is a [Failure] if the call would fail like this.
	Err error
}

// Runs returns whether the call would run.
func (o Outlook) Runs() bool { return !o.NeedsApproval && o.Err == nil }

// A Toolset is the tools of other plugins that the policy binds to a key. Each call takes all the steps of a call by a
// caller: the host checks, decides, limits and records it, and asks an approver where the policy says so. It can be
// closed like a [Store].
type Toolset struct {
	key string
	// Nil once it is closed.
	toolset *host.Toolset
}

// Tools opens the tools of other plugins that the policy binds to a key. Nothing is called yet.
func (c *Context) Tools(key string) (*Toolset, error) {
	toolset, err := host.OpenToolset(host.Said(key))
	if err != nil {
		return nil, noHandle("set of tools", key, err)
	}
	return &Toolset{key, toolset}, nil
}

// Close closes the handle. Later uses of the toolset fail.
func (t *Toolset) Close() error {
	if t.toolset != nil {
		t.toolset.Close()
		t.toolset = nil
	}
	return nil
}

func (t *Toolset) checkOpen() error {
	if t.toolset == nil {
		return Failed(fmt.Sprintf("set of tools %q: %v", t.key, fs.ErrClosed))
	}
	return nil
}

// List returns the tools that a call could reach now, sorted by name.
func (t *Toolset) List() ([]ToolSummary, error) {
	if err := t.checkOpen(); err != nil {
		return nil, err
	}
	return liftSummaries(t.toolset.List()), nil
}

// Search returns the tools that fit a need best, at most as many as given, the best first. The query describes the need
// in words.
func (t *Toolset) Search(query string, toolsMax int) ([]ToolSummary, error) {
	if err := t.checkOpen(); err != nil {
		return nil, err
	}
	if toolsMax < 0 {
		return nil, Failed(fmt.Sprintf("the limit of a search is %d: it cannot be negative", toolsMax))
	}
	limit := uint32(min(int64(toolsMax), math.MaxUint32))
	return liftSummaries(t.toolset.Search(host.Said(query), limit)), nil
}

// Definition returns the definition of a tool, or nil if no call could reach it.
func (t *Toolset) Definition(tool string) (*CallableTool, error) {
	if err := t.checkOpen(); err != nil {
		return nil, err
	}
	found := t.toolset.Definition(host.Said(tool))
	if found == nil {
		return nil, nil
	}
	definition := &CallableTool{ToolSummary: liftSummary(found.ToolSummary), Schema: json.RawMessage(found.Schema)}
	if found.OutputSchema != nil {
		definition.OutputSchema = json.RawMessage(*found.OutputSchema)
	}
	for _, permission := range found.Permissions {
		definition.Permissions = append(definition.Permissions, Permission(permission))
	}
	for _, hint := range found.Hints {
		definition.Hints = append(definition.Hints, Hint(hint))
	}
	return definition, nil
}

// Call calls a tool and waits for its answer. The time of the tool counts for this call. The time in which it waits for
// an approver or for its turn does not. No other goroutine runs meanwhile.
//
// The arguments become one JSON object; nil is an empty one. If the host refuses the call or the tool fails, the error
// is a [Failure]. Its text is for the model.
func (t *Toolset) Call(tool string, arguments any) (*Answer, error) {
	if err := t.checkOpen(); err != nil {
		return nil, err
	}
	call, err := lowerCall(ToolCall{tool, arguments})
	if err != nil {
		return nil, err
	}
	result := liftResult(t.toolset.Call(call))
	return result.Answer, result.Err
}

// CallAll calls several tools at the same time, and returns their results in order. A tool that may change something
// runs alone. If there is an error, no tool was called.
func (t *Toolset) CallAll(calls []ToolCall) ([]ToolResult, error) {
	if err := t.checkOpen(); err != nil {
		return nil, err
	}
	lowered, err := lowerCalls(calls)
	if err != nil {
		return nil, err
	}
	results := make([]ToolResult, 0, len(calls))
	for _, result := range t.toolset.CallAll(lowered) {
		results = append(results, liftResult(result))
	}
	return results, nil
}

// Foresee returns what the host would do with each call now, at most [PlannedCallsMax]. Nothing runs, and no approver
// is asked.
func (t *Toolset) Foresee(calls []ToolCall) ([]Outlook, error) {
	if err := t.checkOpen(); err != nil {
		return nil, err
	}
	lowered, err := lowerCalls(calls)
	if err != nil {
		return nil, err
	}
	outlooks := make([]Outlook, 0, len(calls))
	for _, foreseen := range t.toolset.Foresee(lowered) {
		outlook := Outlook{NeedsApproval: foreseen.Kind == host.OutlookNeedsApproval}
		if foreseen.Failure != nil {
			outlook.Err = liftFailure(foreseen.Failure)
		}
		outlooks = append(outlooks, outlook)
	}
	return outlooks, nil
}

// Approve asks an approver about calls together before they are made, at most [PlannedCallsMax]. The approver reads the
// exact arguments of each, and approves all, some or none. Approve returns for each call whether it can now be made
// without a request of its own. No other goroutine runs meanwhile.
//
// Each approval counts once, for exactly these arguments, until this call ends. A call that the approver did not
// approve fails when it is made. The host does not ask about a single call, or where no approver can answer now.
func (t *Toolset) Approve(calls []ToolCall) ([]bool, error) {
	if err := t.checkOpen(); err != nil {
		return nil, err
	}
	lowered, err := lowerCalls(calls)
	if err != nil {
		return nil, err
	}
	return t.toolset.Approve(lowered), nil
}

// Text returns the output as text: a text itself, a JSON document as it is written, and of parts their texts, one line
// each.
func (a *Answer) Text() string {
	switch output := a.Output.(type) {
	case string:
		return output
	case json.RawMessage:
		return string(output)
	case Parts:
		var texts []string
		for _, part := range output {
			if text, is := part.(Text); is {
				texts = append(texts, string(text))
			}
		}
		return strings.Join(texts, "\n")
	default:
		return ""
	}
}

// Decode decodes a JSON output into a value. Any other output is an error.
func (a *Answer) Decode(value any) error {
	document, is := a.Output.(json.RawMessage)
	if !is {
		return Failed("the output of the tool is not JSON")
	}
	return json.Unmarshal(document, value)
}

func lowerCalls(calls []ToolCall) ([]host.ToolCall, error) {
	lowered := make([]host.ToolCall, 0, len(calls))
	for _, call := range calls {
		one, err := lowerCall(call)
		if err != nil {
			return nil, err
		}
		lowered = append(lowered, one)
	}
	return lowered, nil
}

func lowerCall(call ToolCall) (host.ToolCall, error) {
	if !utf8.ValidString(call.Tool) {
		return host.ToolCall{}, Failed(fmt.Sprintf("the name %q of a tool is not UTF-8", call.Tool))
	}
	if call.Arguments == nil {
		return host.ToolCall{Tool: call.Tool, Arguments: "{}"}, nil
	}
	document, err := marshal(call.Arguments)
	if err != nil {
		return host.ToolCall{}, fmt.Errorf("the arguments of %s: %w", call.Tool, err)
	}
	if document[0] != '{' {
		return host.ToolCall{}, fmt.Errorf("the arguments of %s are one JSON object: give a struct or a map", call.Tool)
	}
	return host.ToolCall{Tool: call.Tool, Arguments: string(document)}, nil
}

func liftSummaries(summaries []host.ToolSummary) []ToolSummary {
	tools := make([]ToolSummary, 0, len(summaries))
	for _, summary := range summaries {
		tools = append(tools, liftSummary(summary))
	}
	return tools
}

func liftSummary(summary host.ToolSummary) ToolSummary {
	return ToolSummary{summary.Name, orEmpty(summary.Title), summary.Description}
}

func liftResult(result host.ToolResult) ToolResult {
	if result.Failure != nil {
		return ToolResult{Err: liftFailure(result.Failure)}
	}
	answer := &Answer{Title: orEmpty(result.Success.Title)}
	if result.Success.Metadata != nil {
		answer.Metadata = json.RawMessage(*result.Success.Metadata)
	}
	switch result.Success.Kind {
	case host.OutputText:
		answer.Output = result.Success.Text
	case host.OutputJSON:
		answer.Output = json.RawMessage(result.Success.Text)
	case host.OutputParts:
		parts := make(Parts, 0, len(result.Success.Parts))
		for _, part := range result.Success.Parts {
			parts = append(parts, liftPart(part))
		}
		answer.Output = parts
	}
	return ToolResult{Answer: answer}
}

func liftPart(part host.ToolPart) Part {
	switch part.Kind {
	case host.PartText:
		return Text(part.Text)
	case host.PartImage:
		return Image{part.MediaType, part.Data, orEmpty(part.Name)}
	default:
		return File{part.MediaType, part.Data, orEmpty(part.Name)}
	}
}

// liftFailure returns an error with the kind of a failure. The kinds have the numbers of the contract.
func liftFailure(failure *host.ToolFailure) error {
	text := failure.Text
	switch {
	case failure.Kind == host.FailureCancelled:
		return Cancelled()
	case failure.RetryAfterSeconds != nil:
		// A failure of this SDK has no field for the time, and the model needs it.
		text = fmt.Sprintf("%s Retry in %d seconds.", text, *failure.RetryAfterSeconds)
	}
	return &Failure{Kind(failure.Kind), text}
}

// orEmpty returns a text, or "" if there is none.
func orEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
