// Package host is the contract with the host, version 0.1: its imports inside a component, a script elsewhere. Nothing
// outside this package and the exports of the SDK knows the canonical ABI.
package host

import "strings"

// Said is a text in UTF-8: a host ends the call of a component that passes anything else. What is none becomes U+FFFD,
// so this is for what is only said, and for keys, of which a host knows none that is not UTF-8.
func Said(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// Call says who asked.
type Call struct {
	ID, Session    string
	Message, Agent *string
}

// Progress is how far a call has come; what is nil stays as it was.
type Progress struct {
	Title    *string
	Metadata *string
	Fraction *float32
}

// NoHandle says why a key gives no handle.
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

// Undeclared says that the tool does not declare the permission that reaches a handle. A host tells it of a call that
// failed; a script says it at once.
type Undeclared string

func (why Undeclared) Error() string { return string(why) }

// StoreError is what a store says instead of an answer.
type StoreError struct {
	Kind StoreErrorKind
	// The host's words, where the kind is Other.
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
