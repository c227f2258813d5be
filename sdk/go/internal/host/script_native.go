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

// A Script takes the place of the host in tests. Its zero value grants nothing.
type Script struct {
	Call        Call
	Cancelled   bool
	Answer      func(permission, resource, reason string) (no string, ok bool)
	Settings    map[string]string
	Directories map[string]string
	Stores      map[string]map[string][]byte
	Services    map[string]func(method, input string) (answer string, ok bool)
	Programs    map[string]func(*Launch) (execution *Execution, reason string)
	Started     []*Started
	Tools       map[string]PlayedTools
	Called      []Called
	Planned     [][]Called
	Kept        []KeptFile
	Report      func(Progress)
	Log         func(level uint8, message string)
	Written     bytes.Buffer
	// Declares reports whether the running tool declares a permission. If nil, the tool declares all of them.
	Declares func(permission string) bool
}

// KeptFile is a file that a tool keeps beside its answer.
type KeptFile struct {
	Name, MediaType string
	Data            []byte
}

// declares reports whether the running tool declares a permission.
func (s *Script) declares(permission string) bool { return s.Declares == nil || s.Declares(permission) }

// reach refuses a handle unless the running tool declares one of the permissions for it, as the host does.
func (s *Script) reach(kind, key string, anyOf ...string) error {
	if slices.ContainsFunc(anyOf, s.declares) {
		return nil
	}
	names := "`" + strings.Join(anyOf, "` or `") + "`"
	return Undeclared("the tool does not declare " + names + ", so it has no " + kind + " `" + key + "`")
}

var (
	playing sync.Mutex
	// Goroutines of a finished call may still use the script.
	played atomic.Pointer[Script]
)

// Play makes a script the host until the returned function is called. Only one script is active at a time.
func Play(next *Script) (end func()) {
	playing.Lock()
	played.Store(next)
	return func() {
		played.Store(nil)
		playing.Unlock()
	}
}

// script returns the active script.
func script() *Script {
	if script := played.Load(); script != nil {
		return script
	}
	return &Script{}
}

// Current returns the identifiers of the call and its caller.
func Current() Call { return script().Call }

// Report reports progress.
func Report(progress Progress) {
	if report := script().Report; report != nil {
		report(progress)
	}
}

// IsCancelled reports whether the caller no longer waits for the answer.
func IsCancelled() bool { return script().Cancelled }

// Ask asks the script to permit an action.
func Ask(permission, resource, reason string) (no string, ok bool) {
	answer := script().Answer
	if answer == nil {
		return "no approver answers", false
	}
	return answer(permission, resource, reason)
}

// KeepFile keeps a file beside the answer of the call.
func KeepFile(name, mediaType string, data []byte) (no string, ok bool) {
	script := script()
	script.Kept = append(script.Kept, KeptFile{name, mediaType, slices.Clone(data)})
	return "", true
}

// Setting returns a setting from the policy's config.
func Setting(key string) (value string, ok bool) {
	value, ok = script().Settings[key]
	return value, ok
}

// Log writes a line to the log of the call.
func Log(level uint8, _, message string) {
	if log := script().Log; log != nil {
		log(level, message)
	}
}

// OpenDirectory returns the path of a granted directory for the standard library.
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

// Service is a service of the application that embeds the host.
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

// Close drops the service.
func (*Service) Close() {}

// Bucket is a key-value store.
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

// Close drops the store.
func (*Bucket) Close() {}

// Get returns a value, or nil if the key has none.
func (b *Bucket) Get(key string) ([]byte, error) { return slices.Clone(b.values[key]), nil }

// checkWritable refuses a change by a tool that declares only read.
func (b *Bucket) checkWritable() error {
	if b.readOnly {
		return &StoreError{Other, "the store is read-only for this tool: it declares `read` and not `write`"}
	}
	return nil
}

// Set stores a value.
func (b *Bucket) Set(key string, value []byte) error {
	if err := b.checkWritable(); err != nil {
		return err
	}
	b.values[key] = append([]byte{}, value...)
	return nil
}

// Delete removes a value.
func (b *Bucket) Delete(key string) error {
	if err := b.checkWritable(); err != nil {
		return err
	}
	delete(b.values, key)
	return nil
}

// Exists reports whether a key has a value.
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

// OpenText opens a stream for the beginning of the call's text answer.
func OpenText() (*Output, bool) { return &Output{&script().Written}, true }

// Flush does nothing, because the script already has all written bytes.
func (*Output) Flush() error { return nil }

// Close does nothing. The stream can be opened again.
func (*Output) Close() error { return nil }

// NamesHost reports whether the policy's binding for a key names the host of a URL. A script names no hosts.
func NamesHost(string, string) (bool, error) { return false, nil }
