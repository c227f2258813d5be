package review

import (
	"unsafe"

	"portcullis.dev/portcullis/internal/host"
)

// The form that the canonical ABI gives to a verdict.
type verdictForm struct {
	kind uint32
	text host.Place
}

//go:wasmexport portcullis:tool/reviewer@0.1.0#review
func exportReview(tool *byte, toolBytes uint32, arguments *byte, argumentsBytes uint32) unsafe.Pointer {
	call := &Call{Tool: unsafe.String(tool, toolBytes), Arguments: unsafe.Slice(arguments, argumentsBytes)}
	verdict := decide(call)
	return host.Keep(&verdictForm{uint32(verdict.kind), host.LowerString(verdict.text)})
}
