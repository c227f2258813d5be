package host

import "unsafe"

//go:wasmimport portcullis:tool/context@0.2.0 current
func contextCurrent(result *area)

//go:wasmimport portcullis:tool/context@0.2.0 report
func contextReport(
	hasTitle bool, title string, hasMetadata bool, metadata string, hasFraction bool, fraction float32,
)

//go:wasmimport portcullis:tool/context@0.2.0 is-cancelled
func contextIsCancelled() bool

//go:wasmimport portcullis:tool/context@0.2.0 ask
func contextAsk(permission, resource, reason string, result *area)

//go:wasmimport portcullis:tool/context@0.2.0 keep
func contextKeep(
	hasName bool, name, mediaType string, data unsafe.Pointer, dataBytes uint32, result *area,
)

//go:wasmimport wasi:config/store@0.2.0-rc.1 get
func configGet(key string, result *area)

//go:wasmimport wasi:logging/logging@0.1.0-draft log
func loggingLog(level uint32, context, message string)

// Current returns the identifiers of the call and its caller.
func Current() Call {
	result := new(area)
	contextCurrent(result)
	return Call{
		ID:      result.string(0),
		Session: result.string(8),
		Message: result.optionalString(16),
		Agent:   result.optionalString(28),
	}
}

// Report reports progress.
func Report(progress Progress) {
	title, hasTitle := value(progress.Title)
	metadata, hasMetadata := value(progress.Metadata)
	fraction, hasFraction := value(progress.Fraction)
	contextReport(hasTitle, title, hasMetadata, metadata, hasFraction, fraction)
}

// IsCancelled reports whether the caller no longer waits for the answer.
func IsCancelled() bool {
	return contextIsCancelled()
}

// Ask asks the host to permit an action. A refusal comes with its reason.
func Ask(permission, resource, reason string) (no string, ok bool) {
	result := new(area)
	contextAsk(permission, resource, reason, result)
	if result.tag(0) == 0 {
		return "", true
	}
	return result.string(4), false
}

// KeepFile keeps a file beside the answer of the call. All texts are UTF-8. A refusal comes with its reason.
func KeepFile(name, mediaType string, data []byte) (no string, ok bool) {
	result := new(area)
	contextKeep(name != "", name, mediaType, unsafe.Pointer(unsafe.SliceData(data)), uint32(len(data)), result)
	if result.tag(0) == 0 {
		return "", true
	}
	return result.string(4), false
}

// Setting returns a setting from the policy's config.
func Setting(key string) (string, bool) {
	result := new(area)
	configGet(key, result)
	if result.tag(0) != 0 {
		result.string(8)
		return "", false
	}
	return value(result.optionalString(4))
}

// Log writes a line to the log of the call.
func Log(level uint8, context, message string) {
	loggingLog(uint32(level), context, message)
}

func value[T any](pointer *T) (value T, ok bool) {
	if pointer == nil {
		return value, false
	}
	return *pointer, true
}
