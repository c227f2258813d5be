package portcullis

import (
	"context"
	"errors"

	"portcullis.dev/portcullis/internal/host"
)

// Kind is the kind of a failure.
type Kind uint8

// The kinds of failure that a host knows.
const (
	// KindInvalidArguments: the arguments match the schema, but are still wrong.
	KindInvalidArguments Kind = iota
	// KindDenied: a permission was missing.
	KindDenied
	// KindUnavailable: something outside the tool did not work. Trying again later may help.
	KindUnavailable
	// KindCancelled: the tool stopped because the call was cancelled.
	KindCancelled
	// KindFailed: anything else.
	KindFailed
)

// A Failure says why a tool failed. The text is for the model, and should say what would help.
//
// An error that wraps a Failure has its kind, with the text of the outermost error. Every other error that a tool
// returns has KindFailed, except [context.Canceled].
type Failure struct {
	Kind Kind
	Text string
}

func (f *Failure) Error() string { return f.Text }

// InvalidArguments returns a failure for wrong arguments. The text should say which, and how to correct them.
func InvalidArguments(text string) error { return &Failure{KindInvalidArguments, text} }

// Denied returns a failure for a missing permission.
func Denied(text string) error { return &Failure{KindDenied, text} }

// Unavailable returns a failure of something outside the tool that may work later.
func Unavailable(text string) error { return &Failure{KindUnavailable, text} }

// Cancelled returns the failure of a tool that stopped because the call was cancelled.
func Cancelled() error { return &Failure{KindCancelled, "the call was cancelled"} }

// Failed returns a failure of any other kind.
func Failed(text string) error { return &Failure{KindFailed, text} }

// FailureOf returns the failure that the host gets for an error.
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
