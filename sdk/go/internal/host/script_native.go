//go:build !wasip1

package host

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// A Script plays the host where there is none: for tests. Its zero value grants nothing.
type Script struct {
	Call        Call
	Cancelled   bool
	Answer      func(permission, resource, reason string) (no string, ok bool)
	Settings    map[string]string
	Directories map[string]string
	Stores      map[string]map[string][]byte
	Services    map[string]func(method, input string) (answer string, ok bool)
	Report      func(Progress)
	Log         func(level uint8, message string)
	Written     bytes.Buffer
	// Declares says whether the running tool declares a permission. Nil: it declares them all.
	Declares func(permission string) bool
}

// declares says whether the running tool declares a permission.
func (s *Script) declares(permission string) bool { return s.Declares == nil || s.Declares(permission) }

// reach refuses a handle unless the running tool declares one of the permissions that reach it, as a host does.
func (s *Script) reach(kind, key string, anyOf ...string) error {
	if slices.ContainsFunc(anyOf, s.declares) {
		return nil
	}
	names := "`" + strings.Join(anyOf, "` or `") + "`"
	return Undeclared("the tool does not declare " + names + ", so it has no " + kind + " `" + key + "`")
}

var (
	playing sync.Mutex
	// Goroutines of a call that has ended may still ask.
	played atomic.Pointer[Script]
)

// Play makes a script the host until the returned function is called. One is played at a time.
func Play(next *Script) (end func()) {
	playing.Lock()
	played.Store(next)
	return func() {
		played.Store(nil)
		playing.Unlock()
	}
}

// script is what is played now.
func script() *Script {
	if script := played.Load(); script != nil {
		return script
	}
	return &Script{}
}

// Current says who asked.
func Current() Call { return script().Call }

// Report reports progress.
func Report(progress Progress) {
	if report := script().Report; report != nil {
		report(progress)
	}
}

// IsCancelled says whether the caller no longer wants the answer.
func IsCancelled() bool { return script().Cancelled }

// Ask asks whether something may be done.
func Ask(permission, resource, reason string) (no string, ok bool) {
	answer := script().Answer
	if answer == nil {
		return "nobody answers", false
	}
	return answer(permission, resource, reason)
}

// Setting is what the policy sets under config.
func Setting(key string) (value string, ok bool) {
	value, ok = script().Settings[key]
	return value, ok
}

// Log writes a line into the record of the call.
func Log(level uint8, _, message string) {
	if log := script().Log; log != nil {
		log(level, message)
	}
}

// OpenDirectory returns the path where the standard library finds a directory.
func OpenDirectory(key string) (string, error) {
	script := script()
	if err := script.reach("directory", key, "read", "write"); err != nil {
		return "", err
	}
	if path, granted := script.Directories[key]; granted {
		return path, nil
	}
	return "", NotGranted
}

// Service is something of the application that embeds the host.
type Service struct {
	call func(method, input string) (answer string, ok bool)
}

// OpenService opens a service by its key.
func OpenService(key string) (*Service, error) {
	if call, granted := script().Services[key]; granted {
		return &Service{call}, nil
	}
	return nil, NotGranted
}

// Call calls a method with a JSON document.
func (s *Service) Call(method, input string) (answer string, ok bool) { return s.call(method, input) }

// Close gives the service back.
func (*Service) Close() {}

// Bucket is a store.
type Bucket struct {
	values   map[string][]byte
	readOnly bool
}

// OpenBucket opens a store by its key.
func OpenBucket(key string) (*Bucket, error) {
	script := script()
	if values, granted := script.Stores[key]; granted {
		return &Bucket{values, script.declares("read") && !script.declares("write")}, nil
	}
	return nil, &StoreError{Kind: AccessDenied}
}

// Close gives the store back.
func (*Bucket) Close() {}

// Get returns a value, or nil where the key has none.
func (b *Bucket) Get(key string) ([]byte, error) { return slices.Clone(b.values[key]), nil }

// checkWritable refuses a change by a tool that declares no more than reading.
func (b *Bucket) checkWritable() error {
	if b.readOnly {
		return &StoreError{Other, "the store is read-only for this tool: it declares `read` and not `write`"}
	}
	return nil
}

// Set keeps a value.
func (b *Bucket) Set(key string, value []byte) error {
	if err := b.checkWritable(); err != nil {
		return err
	}
	b.values[key] = append([]byte{}, value...)
	return nil
}

// Delete forgets a value.
func (b *Bucket) Delete(key string) error {
	if err := b.checkWritable(); err != nil {
		return err
	}
	delete(b.values, key)
	return nil
}

// Exists says whether a key has a value.
func (b *Bucket) Exists(key string) (bool, error) {
	_, exists := b.values[key]
	return exists, nil
}

// Keys returns the keys.
func (b *Bucket) Keys(*uint64) (keys []string, next *uint64, err error) {
	return slices.Collect(maps.Keys(b.values)), nil, nil
}

// Output is a stream that the host reads.
type Output struct {
	*bytes.Buffer
}

// OpenText opens the beginning of the call's text answer.
func OpenText() (*Output, bool) { return &Output{&script().Written}, true }

// Flush does nothing: the script has what was written.
func (*Output) Flush() error { return nil }

// Close does nothing: the stream can be opened again.
func (*Output) Close() error { return nil }

// NamesHost says whether the policy names the host of a URL under a key. A script names none.
func NamesHost(string, string) (bool, error) { return false, nil }
