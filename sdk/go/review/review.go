// Package review lets a plugin review its calls before they run. Importing it makes the component export the contract's
// reviewer, so a plugin that imports it must also call [Register].
package review

import (
	"encoding/json"
	"fmt"

	"portcullis.dev/portcullis/internal/host"
)

// A Call is a call to review.
type Call struct {
	Tool string
	// Arguments are one JSON object that is valid for the tool's schema.
	Arguments json.RawMessage
}

// NamesHost returns whether the policy's binding of an HTTP key names the host of a URL.
func (c *Call) NamesHost(key, url string) (bool, error) {
	return host.NamesHost(host.Said(key), host.Said(url))
}

// A Verdict is the result of a review. It can only tighten what the policy decided.
type Verdict struct {
	kind verdictKind
	text string
}

type verdictKind uint32

const (
	clear verdictKind = iota
	ask
	refuse
)

// Clear returns a verdict without objection.
func Clear() Verdict { return Verdict{} }

// Ask requests approval; the text tells the approver why.
func Ask(text string) Verdict { return Verdict{ask, host.Said(text)} }

// Refuse refuses the call; the text says why.
func Refuse(text string) Verdict { return Verdict{refuse, host.Said(text)} }

// The reviewer of this component.
var registered func(*Call) Verdict

// Register sets the reviewer. It has no handles, and low limits for time and memory. A panic in it refuses the call.
// Call Register once, from an init function.
func Register(reviewer func(*Call) Verdict) {
	if registered != nil {
		panic("portcullis: a component has one reviewer, and Register was called twice")
	}
	registered = reviewer
}

// decide runs the reviewer. A panic refuses the call, with its message.
func decide(call *Call) (verdict Verdict) {
	defer func() {
		if cause := recover(); cause != nil {
			verdict = Refuse(fmt.Sprintf("the review failed: %v", cause))
		}
	}()
	if registered == nil {
		panic("portcullis: no reviewer; call review.Register in an init function")
	}
	return registered(call)
}
