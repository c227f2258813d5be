// Package review gives a plugin a say in whether its calls run. Importing it makes the component export the contract's
// reviewer, so a plugin that imports it also calls [Register].
package review

import (
	"encoding/json"
	"fmt"

	"portcullis.dev/portcullis/internal/host"
)

// A Call is one that may run.
type Call struct {
	Tool string
	// Arguments are one JSON object that matches the tool's schema.
	Arguments json.RawMessage
}

// NamesHost says whether the policy names the host of a URL in what it binds to an HTTP key.
func (c *Call) NamesHost(key, url string) (bool, error) {
	return host.NamesHost(host.Said(key), host.Said(url))
}

// A Verdict is a plugin's own opinion of a call. It can only tighten what the policy decided.
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

// Clear has nothing against the call.
func Clear() Verdict { return Verdict{} }

// Ask is for a person, who should look at what the text says.
func Ask(text string) Verdict { return Verdict{ask, host.Said(text)} }

// Refuse is for a call that must not run; the text says why.
func Refuse(text string) Verdict { return Verdict{refuse, host.Said(text)} }

// The reviewer of this component.
var registered func(*Call) Verdict

// Register makes a function the reviewer. It has no handle, little time and little memory, and a panic in it refuses
// the call. Register is called once, from an init function.
func Register(reviewer func(*Call) Verdict) {
	if registered != nil {
		panic("portcullis: a component has one reviewer, and Register was called twice")
	}
	registered = reviewer
}

// decide asks the reviewer. A panic refuses the call, in words.
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
