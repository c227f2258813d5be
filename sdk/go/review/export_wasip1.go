package review

import (
	"unsafe"

	"portcullis.dev/portcullis/internal/host"
)

// The form that the canonical ABI gives to a verdict.
type verdictForm struct {
	kind uint32
	text host.Place
	// The case `request`, which this package does not return, is larger.
	_ [2]uint32
}

//go:wasmexport portcullis:tool/reviewer@0.2.0#review
func exportReview(tool *byte, toolBytes uint32, arguments *byte, argumentsBytes uint32) unsafe.Pointer {
	call := &Call{Tool: unsafe.String(tool, toolBytes), Arguments: unsafe.Slice(arguments, argumentsBytes)}
	verdict := decide(call)
	return host.Keep(&verdictForm{kind: uint32(verdict.kind), text: host.LowerString(verdict.text)})
}
