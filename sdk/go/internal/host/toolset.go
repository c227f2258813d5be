package host

// ToolSummary is a tool in a list.
type ToolSummary struct {
	Name        string
	Title       *string
	Description string
}

// Callable is the definition of a tool.
type Callable struct {
	ToolSummary
	Schema       string
	OutputSchema *string
	Permissions  []string
	// Hints are numbers of the contract.
	Hints []uint8
}

// ToolCall is a call of a tool.
type ToolCall struct {
	Tool string
	// Arguments is a JSON object.
	Arguments string
}

// OutputKind is a case of the output of a tool, with the number that it has in the contract.
type OutputKind uint8

const (
	OutputText OutputKind = iota
	OutputJSON
	OutputParts
)

// PartKind is a case of a part, with the number that it has in the contract.
type PartKind uint8

const (
	PartText PartKind = iota
	PartImage
	PartFile
)

// ToolPart is a piece of a composite output.
type ToolPart struct {
	Kind PartKind
	// Text is the text of a part of text. The other fields are those of the other parts.
	Text      string
	Name      *string
	MediaType string
	Data      []byte
}

// ToolSuccess is the answer of a tool.
type ToolSuccess struct {
	Title *string
	Kind  OutputKind
	// Text is the text or the JSON document.
	Text     string
	Parts    []ToolPart
	Metadata *string
}

// FailureKind is a case of a failure, with the number that it has in the contract.
type FailureKind uint8

const (
	FailureInvalidArguments FailureKind = iota
	FailureDenied
	FailureUnavailable
	FailureCancelled
	FailureFailed
)

// ToolFailure says why a tool failed.
type ToolFailure struct {
	Kind FailureKind
	// Text is empty if the call was cancelled.
	Text string
	// RetryAfterSeconds is nil if the tool does not know it.
	RetryAfterSeconds *uint32
}

// OutlookKind is a case of an outlook, with the number that it has in the contract.
type OutlookKind uint8

const (
	OutlookRuns OutlookKind = iota
	OutlookNeedsApproval
	OutlookFails
)

// Outlook is what the host would do with a call.
type Outlook struct {
	Kind OutlookKind
	// Failure is set if the call would fail.
	Failure *ToolFailure
}

// ToolResult is how a call of a tool ended: one of its fields is set.
type ToolResult struct {
	Success *ToolSuccess
	Failure *ToolFailure
}
