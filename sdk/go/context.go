package portcullis

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"portcullis.dev/portcullis/internal/host"
)

// Interval at which a Context whose Done is used checks for cancellation. A host gives a tool some tenths of a second
// to stop.
const cancelledEvery = 10 * time.Millisecond

// A Context is the running call: its caller, its cancellation and its handles.
//
// It is a [context.Context]. Err asks the host each time. Done is closed only while the tool waits, because nothing
// else runs in a component while the tool computes. A long computation must check Err from time to time.
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

// Deadline returns no deadline: a tool cannot know it.
func (c *Context) Deadline() (time.Time, bool) { return time.Time{}, false }

// Done returns a channel that is closed once the caller has cancelled the call.
func (c *Context) Done() <-chan struct{} { return c.done() }

// Err returns [context.Canceled] once the caller has cancelled the call. The host stops the call shortly after.
func (c *Context) Err() error {
	if c.IsCancelled() {
		return context.Canceled
	}
	return nil
}

// Value returns nil.
func (c *Context) Value(any) any { return nil }

// IsCancelled returns whether the caller has cancelled the call.
func (c *Context) IsCancelled() bool { return host.IsCancelled() }

// A Call describes the caller of the call.
type Call struct {
	ID      string `json:"id"`
	Session string `json:"session"`
	// Message is the message of the conversation that asked, if the caller named it.
	Message *string `json:"message"`
	// Agent is the agent that asked, if the caller named it.
	Agent *string `json:"agent"`
}

// Call returns the caller of the call.
func (c *Context) Call() Call { return Call(host.Current()) }

// Progress is the progress of a call. A zero value keeps the last one.
type Progress struct {
	Title string
	// Fraction goes from 0 to 1.
	Fraction float32
	// Metadata becomes one JSON object.
	Metadata any
}

// Report reports progress. The host drops reports over the call's quota.
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

// Ask asks the policy or an approver whether an action is allowed. Approval gives the call no handle that it does not
// have. The error is [Denied] with the reason.
func (c *Context) Ask(permission Permission, resource, reason string) error {
	if no, ok := host.Ask(host.Said(string(permission)), host.Said(resource), host.Said(reason)); !ok {
		return Denied(no)
	}
	return nil
}

// Keep keeps a file for people beside the answer, such as a transcript. The caller gets its name, media type and size,
// and a reference to read it with. Only a call that succeeds keeps its files. A tool cannot keep files beside a text
// that it writes with Writer, or beside JSON with an output schema. The error is [Failed] with the reason.
func (c *Context) Keep(file File) error {
	if no, ok := host.KeepFile(host.Said(file.Name), host.Said(file.MediaType), file.Data); !ok {
		return Failed(no)
	}
	return nil
}

// A Level is the level of a log line.
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

// Log writes a line to the audit log of the call. What a tool prints goes there too.
func (c *Context) Log(level Level, message string) {
	host.Log(uint8(level), c.tool, host.Said(message))
}

// Setting returns a setting of the policy's config for this plugin.
func (c *Context) Setting(key string) (value string, ok bool) { return host.Setting(host.Said(key)) }

// Directory returns the path of the directory that the policy binds to a key, for the standard library. [os.OpenRoot]
// keeps names inside it; the host enforces that in any case.
func (c *Context) Directory(key string) (path string, err error) {
	path, err = host.OpenDirectory(host.Said(key))
	if err != nil {
		return "", noHandle("directory", key, err)
	}
	return path, nil
}

// noHandle returns the failure for a key without a handle.
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
