package host

import "unsafe"

// The forms that the canonical ABI gives to the results of the interface of tools. A case is one byte, because the host
// does not write the bytes between it and the payload. A payload whose form depends on the case is words: a copy of
// another form would lose the bytes between its fields.
type (
	optionForm struct {
		some  uint8
		value Place
	}
	summaryForm struct {
		name        Place
		title       optionForm
		description Place
	}
	callableForm struct {
		name                Place
		title               optionForm
		description, schema Place
		outputSchema        optionForm
		permissions, hints  uint8
	}
	optionalCallableForm struct {
		some     uint8
		callable callableForm
	}
	blobForm struct {
		name            optionForm
		mediaType, data Place
	}
	// A part takes the space of its largest case, which is a blob.
	partForm struct {
		kind    uint8
		payload [7]uint32
	}
	successForm struct {
		title    optionForm
		kind     uint8
		output   Place
		metadata optionForm
	}
	// The case `unavailable` has a number of seconds after its text.
	failureForm struct {
		kind         uint8
		text         Place
		hasRetry     uint8
		retrySeconds uint32
	}
	outlookForm struct {
		kind    uint8
		payload [5]uint32
	}
	// A result takes the space of its larger case, which is a success.
	resultForm struct {
		failed  uint8
		payload [9]uint32
	}
)

// A lifter reads what the host wrote to memory, and frees it. Every place must be read exactly once.
type lifter struct {
	bytes func(Place) []byte
	parts func(Place) []partForm
}

func (l lifter) text(place Place) string {
	bytes := l.bytes(place)
	return unsafe.String(unsafe.SliceData(bytes), len(bytes))
}

func (l lifter) option(form optionForm) *string {
	if form.some == 0 {
		return nil
	}
	text := l.text(form.value)
	return &text
}

func (l lifter) summary(form summaryForm) ToolSummary {
	return ToolSummary{Name: l.text(form.name), Title: l.option(form.title), Description: l.text(form.description)}
}

// callable reads a definition, or returns nil if there is none.
func (l lifter) callable(optional optionalCallableForm) *Callable {
	if optional.some == 0 {
		return nil
	}
	form := optional.callable
	return &Callable{
		ToolSummary:  l.summary(summaryForm{form.name, form.title, form.description}),
		Schema:       l.text(form.schema),
		OutputSchema: l.option(form.outputSchema),
		Permissions:  permissionNames(form.permissions),
		Hints:        hintNumbers(form.hints),
	}
}

func (l lifter) result(form resultForm) ToolResult {
	if form.failed != 0 {
		return ToolResult{Failure: l.failure(*(*failureForm)(unsafe.Pointer(&form.payload)))}
	}
	return ToolResult{Success: l.success(*(*successForm)(unsafe.Pointer(&form.payload)))}
}

func (l lifter) success(form successForm) *ToolSuccess {
	success := &ToolSuccess{Title: l.option(form.title), Kind: OutputKind(form.kind), Metadata: l.option(form.metadata)}
	if success.Kind != OutputParts {
		success.Text = l.text(form.output)
		return success
	}
	for _, part := range l.parts(form.output) {
		success.Parts = append(success.Parts, l.part(part))
	}
	return success
}

func (l lifter) part(form partForm) ToolPart {
	if PartKind(form.kind) == PartText {
		return ToolPart{Kind: PartText, Text: l.text(*(*Place)(unsafe.Pointer(&form.payload)))}
	}
	blob := *(*blobForm)(unsafe.Pointer(&form.payload))
	return ToolPart{
		Kind:      PartKind(form.kind),
		Name:      l.option(blob.name),
		MediaType: l.text(blob.mediaType),
		Data:      l.bytes(blob.data),
	}
}

func (l lifter) failure(form failureForm) *ToolFailure {
	failure := &ToolFailure{Kind: FailureKind(form.kind)}
	if failure.Kind == FailureCancelled {
		return failure
	}
	failure.Text = l.text(form.text)
	if failure.Kind == FailureUnavailable && form.hasRetry != 0 {
		failure.RetryAfterSeconds = &form.retrySeconds
	}
	return failure
}

func (l lifter) outlook(form outlookForm) Outlook {
	outlook := Outlook{Kind: OutlookKind(form.kind)}
	if outlook.Kind == OutlookFails {
		outlook.Failure = l.failure(*(*failureForm)(unsafe.Pointer(&form.payload)))
	}
	return outlook
}

func permissionNames(flags uint8) (names []string) {
	for bit, name := range []string{"read", "write", "execute", "network"} {
		if flags&(1<<bit) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// The number of hints in the contract.
const hintCount = 5

func hintNumbers(flags uint8) (numbers []uint8) {
	for number := range uint8(hintCount) {
		if flags&(1<<number) != 0 {
			numbers = append(numbers, number)
		}
	}
	return numbers
}
