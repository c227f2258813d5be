// Package host implements version 0.2 of the contract with the host: with imports inside a component, and with a script
// elsewhere. Only this package and the exports of the SDK depend on the canonical ABI.
package host

import "strings"

// Said returns a text as valid UTF-8, because the host traps a component that passes anything else. Invalid bytes
// become U+FFFD. So use it only for messages, and for keys, because no key of the host is invalid UTF-8.
func Said(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// A Place is the address and length of a string or a list in memory, as in the ABI. A pointer takes 8 bytes in the
// memory of GOARCH=wasm, but 4 bytes in the ABI.
type Place struct {
	address, count uint32
}

// Call holds the identifiers of a call and its caller.
type Call struct {
	ID, Session    string
	Message, Agent *string
}

// Progress is the progress of a call. A nil field keeps its last value.
type Progress struct {
	Title    *string
	Metadata *string
	Fraction *float32
}

// NoHandle is the reason why a key has no handle.
type NoHandle uint8

const (
	UnknownKey NoHandle = iota
	NotGranted
	WrongKind
	NotMade
)

func (why NoHandle) Error() string {
	switch why {
	case UnknownKey:
		return "the manifest does not ask for it"
	case NotGranted:
		return "the policy does not grant it to this tool"
	case WrongKind:
		return "it is a handle of another kind"
	default:
		return "it could not be opened"
	}
}

// Undeclared is the error for a tool that does not declare the permission for a handle. The host reports it with the
// failed call. A script reports it immediately.
type Undeclared string

func (why Undeclared) Error() string { return string(why) }

// StoreError is an error of a store.
type StoreError struct {
	Kind StoreErrorKind
	// The host's message, if the kind is Other.
	Text string
}

// StoreErrorKind is the case of a StoreError.
type StoreErrorKind uint8

const (
	NoSuchStore StoreErrorKind = iota
	AccessDenied
	Other
)

func (e *StoreError) Error() string {
	switch e.Kind {
	case NoSuchStore:
		return "the manifest does not ask for this store"
	case AccessDenied:
		return "the policy does not grant this store to this tool"
	default:
		return e.Text
	}
}
