package portcullis

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"portcullis.dev/portcullis/internal/host"
)

// How often a Context that somebody waits on asks whether the call was cancelled: a host gives a tool some tenths of a
// second to stop.
const cancelledEvery = 10 * time.Millisecond

// A Context is the call that is running: who asked, whether they still want the answer, and the handles.
//
// It is a [context.Context]. Err asks the host each time. Done is closed while the tool waits for something: nothing
// else runs in a component while the tool computes, so a long computation asks Err now and then.
type Context struct {
	tool string
	done func() <-chan struct{}
	// Closed when the tool has returned.
	ended chan struct{}
}

var _ context.Context = (*Context)(nil)

func newContext(tool string) *Context {
	ctx := &Context{tool: tool, ended: make(chan struct{})}
	ctx.done = sync.OnceValue(ctx.watch)
	return ctx
}

// watch closes a channel once the call is cancelled. It ends with the call.
func (c *Context) watch() <-chan struct{} {
	done := make(chan struct{})
	go func() {
		for !c.IsCancelled() {
			select {
			case <-c.ended:
				return
			case <-time.After(cancelledEvery):
			}
		}
		close(done)
	}()
	return done
}

// Deadline is none that a tool may know.
func (c *Context) Deadline() (time.Time, bool) { return time.Time{}, false }

// Done is closed once the caller no longer wants the answer.
func (c *Context) Done() <-chan struct{} { return c.done() }

// Err is [context.Canceled] once the caller no longer wants the answer. The call is stopped a short while after.
func (c *Context) Err() error {
	if c.IsCancelled() {
		return context.Canceled
	}
	return nil
}

// Value is nil.
func (c *Context) Value(any) any { return nil }

// IsCancelled says whether the caller no longer wants the answer.
func (c *Context) IsCancelled() bool { return host.IsCancelled() }

// A Call says who asked.
type Call struct {
	ID      string `json:"id"`
	Session string `json:"session"`
	// Message is the message of the conversation that asked, where the caller named it.
	Message *string `json:"message"`
	// Agent is the agent that asked, where the caller named it.
	Agent *string `json:"agent"`
}

// Call says who asked.
func (c *Context) Call() Call { return Call(host.Current()) }

// Progress is how far a call has come. What is zero stays as it was.
type Progress struct {
	Title string
	// Fraction goes from 0 to 1.
	Fraction float32
	// Metadata becomes one JSON object.
	Metadata any
}

// Report reports progress. The host drops what exceeds the call's quota.
func (c *Context) Report(progress Progress) {
	var report host.Progress
	if progress.Title != "" {
		title := host.Said(progress.Title)
		report.Title = &title
	}
	if progress.Fraction != 0 {
		report.Fraction = &progress.Fraction
	}
	if progress.Metadata != nil {
		if metadata, err := marshalSaid(progress.Metadata); err == nil {
			text := string(metadata)
			report.Metadata = &text
		}
	}
	host.Report(report)
}

// Ask asks the policy or a person whether something may be done. A yes gives no handle that the call does not have.
// The error is [Denied], and says why not.
func (c *Context) Ask(permission Permission, resource, reason string) error {
	if no, ok := host.Ask(host.Said(string(permission)), host.Said(resource), host.Said(reason)); !ok {
		return Denied(no)
	}
	return nil
}

// A Level is how much a line of the log matters.
type Level uint8

// The levels of the log.
const (
	LevelTrace Level = iota
	LevelDebug
	LevelInfo
	LevelWarn
	LevelError
	LevelCritical
)

// Log writes a line into the record of the call. What a tool prints goes there too.
func (c *Context) Log(level Level, message string) {
	host.Log(uint8(level), c.tool, host.Said(message))
}

// Setting is what the policy sets under config for this plugin.
func (c *Context) Setting(key string) (value string, ok bool) { return host.Setting(host.Said(key)) }

// Directory is the path where the standard library finds the directory that the policy bound to a key. [os.OpenRoot]
// keeps to it whatever the names are; the host does so in any case.
func (c *Context) Directory(key string) (path string, err error) {
	path, err = host.OpenDirectory(host.Said(key))
	if err != nil {
		return "", noHandle("directory", key, err)
	}
	return path, nil
}

// noHandle says why a key gives no handle, in the kind of failure that fits.
func noHandle(kind, key string, err error) error {
	var undeclared host.Undeclared
	if errors.As(err, &undeclared) {
		return Denied(undeclared.Error())
	}
	text := fmt.Sprintf("there is no %s %q: %v", kind, key, err)
	var why host.NoHandle
	switch errors.As(err, &why); why {
	case host.NotGranted:
		return Denied(text)
	case host.NotMade:
		return Unavailable(text)
	default:
		return Failed(text)
	}
}
