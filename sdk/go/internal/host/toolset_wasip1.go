package host

import "unsafe"

//go:wasmimport portcullis:tool/tools@0.2.0 open-tools
func openTools(key string, result *area)

//go:wasmimport portcullis:tool/tools@0.2.0 [method]toolset.list
func toolsetList(toolset uint32, result *area)

//go:wasmimport portcullis:tool/tools@0.2.0 [method]toolset.search
func toolsetSearch(toolset uint32, query string, limit uint32, result *area)

//go:wasmimport portcullis:tool/tools@0.2.0 [method]toolset.definition
func toolsetDefinition(toolset uint32, tool string, result *area)

//go:wasmimport portcullis:tool/tools@0.2.0 [method]toolset.call
func toolsetCall(toolset uint32, tool, arguments string, result *area)

//go:wasmimport portcullis:tool/tools@0.2.0 [method]toolset.call-all
func toolsetCallAll(toolset uint32, calls unsafe.Pointer, count uint32, result *area)

//go:wasmimport portcullis:tool/tools@0.2.0 [method]toolset.foresee
func toolsetForesee(toolset uint32, calls unsafe.Pointer, count uint32, result *area)

//go:wasmimport portcullis:tool/tools@0.2.0 [method]toolset.approve
func toolsetApprove(toolset uint32, calls unsafe.Pointer, count uint32, result *area)

//go:wasmimport portcullis:tool/tools@0.2.0 [resource-drop]toolset
func dropToolset(toolset uint32)

// taken reads the memory of this component.
var taken = lifter{
	bytes: func(place Place) []byte { return takeBytes(place.address, place.count) },
	parts: takeElements[partForm],
}

// Toolset is the tools that the policy binds to a key.
type Toolset struct {
	handle uint32
}

// OpenToolset opens the tools of a key.
func OpenToolset(key string) (*Toolset, error) {
	result := new(area)
	openTools(key, result)
	toolset, err := handle(result)
	if err != nil {
		return nil, err
	}
	return &Toolset{toolset}, nil
}

// Close drops the toolset. It must not be used again.
func (t *Toolset) Close() { dropToolset(t.handle) }

// List returns the tools that a call could reach now.
func (t *Toolset) List() []ToolSummary {
	result := new(area)
	toolsetList(t.handle, result)
	return summaries(result)
}

// Search returns the tools that fit a need best. The query is UTF-8.
func (t *Toolset) Search(query string, limit uint32) []ToolSummary {
	result := new(area)
	toolsetSearch(t.handle, query, limit, result)
	return summaries(result)
}

func summaries(result *area) (tools []ToolSummary) {
	for _, form := range elements[summaryForm](result, 0) {
		tools = append(tools, taken.summary(form))
	}
	return tools
}

// Definition returns the definition of a tool, or nil. The name is UTF-8.
func (t *Toolset) Definition(tool string) *Callable {
	result := new(area)
	toolsetDefinition(t.handle, tool, result)
	return taken.callable(*(*optionalCallableForm)(unsafe.Pointer(result)))
}

// Call calls a tool. All texts are UTF-8.
func (t *Toolset) Call(call ToolCall) ToolResult {
	result := new(area)
	toolsetCall(t.handle, call.Tool, call.Arguments, result)
	return taken.result(*(*resultForm)(unsafe.Pointer(result)))
}

// CallAll calls several tools at the same time. All texts are UTF-8.
func (t *Toolset) CallAll(calls []ToolCall) []ToolResult {
	results := make([]ToolResult, 0, len(calls))
	for _, form := range elements[resultForm](t.ofCalls(calls, toolsetCallAll), 0) {
		results = append(results, taken.result(form))
	}
	return results
}

// Foresee returns what the host would do with each call. All texts are UTF-8.
func (t *Toolset) Foresee(calls []ToolCall) []Outlook {
	outlooks := make([]Outlook, 0, len(calls))
	for _, form := range elements[outlookForm](t.ofCalls(calls, toolsetForesee), 0) {
		outlooks = append(outlooks, taken.outlook(form))
	}
	return outlooks
}

// Approve asks an approver about calls together. All texts are UTF-8.
func (t *Toolset) Approve(calls []ToolCall) []bool {
	approved := make([]bool, 0, len(calls))
	for _, yes := range elements[uint8](t.ofCalls(calls, toolsetApprove), 0) {
		approved = append(approved, yes != 0)
	}
	return approved
}

// ofCalls gives calls to a function of the host.
func (t *Toolset) ofCalls(
	calls []ToolCall, function func(toolset uint32, calls unsafe.Pointer, count uint32, result *area),
) *area {
	size := 0
	for _, call := range calls {
		size += len(call.Tool) + len(call.Arguments)
	}
	texts := newTextBlock(size)
	defer texts.release()
	list := make([]struct{ tool, arguments Place }, 0, len(calls))
	for _, call := range calls {
		list = append(list, struct{ tool, arguments Place }{texts.place(call.Tool), texts.place(call.Arguments)})
	}
	result := new(area)
	function(t.handle, unsafe.Pointer(unsafe.SliceData(list)), uint32(len(list)), result)
	return result
}
