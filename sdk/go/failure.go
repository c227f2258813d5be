package portcullis

import (
	"context"
	"errors"

	"portcullis.dev/portcullis/internal/host"
)

// Kind is why a tool could not answer.
type Kind uint8

// The kinds of failure that a host knows.
const (
	// KindInvalidArguments: the arguments match the schema and are wrong all the same.
	KindInvalidArguments Kind = iota
	// KindDenied: a right was missing.
	KindDenied
	// KindUnavailable: something outside the tool did not work; trying again later may help.
	KindUnavailable
	// KindCancelled: the tool stopped because the call was cancelled.
	KindCancelled
	// KindFailed: anything else.
	KindFailed
)

// A Failure says why a tool could not answer. The text is for the model, and says what would help.
//
// An error that wraps a Failure is of the same kind, with the words of the outermost error. Every other error that a
// tool returns is of KindFailed, but for [context.Canceled].
type Failure struct {
	Kind Kind
	Text string
}

func (f *Failure) Error() string { return f.Text }

// InvalidArguments is for arguments that are wrong; the text says which, and how to correct them.
func InvalidArguments(text string) error { return &Failure{KindInvalidArguments, text} }

// Denied is for a right that was missing.
func Denied(text string) error { return &Failure{KindDenied, text} }

// Unavailable is for what did not work outside the tool, and may later.
func Unavailable(text string) error { return &Failure{KindUnavailable, text} }

// Cancelled is for a tool that stopped because the call was cancelled.
func Cancelled() error { return &Failure{KindCancelled, "the call was cancelled"} }

// Failed is for anything else, as is every error of another type.
func Failed(text string) error { return &Failure{KindFailed, text} }

// FailureOf is what the host is told of an error.
func FailureOf(err error) *Failure {
	var failure *Failure
	text := host.Said(err.Error())
	switch {
	case errors.As(err, &failure):
		return &Failure{failure.Kind, text}
	case errors.Is(err, context.Canceled):
		return &Failure{KindCancelled, text}
	default:
		return &Failure{KindFailed, text}
	}
}
