package portcullis

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"strings"
	"unicode/utf8"

	"portcullis.dev/portcullis/internal/host"
)

// Prefix of the host's error for a store over its quota. The contract has no code for it.
const storeFull = "the store is full"

// Prefix of the host's error if a tool that declares Read but not Write changes a store.
const storeReadOnly = "the store is read-only"

// A Store keeps values between calls. The number of handles of a call is limited, so close a store that you open
// repeatedly. The end of the call closes the rest.
type Store struct {
	key string
	// Nil once it is closed.
	bucket *host.Bucket
}

// Store opens the store that the policy binds to a key.
func (c *Context) Store(key string) (*Store, error) {
	bucket, err := host.OpenBucket(host.Said(key))
	if err != nil {
		return nil, storeFailure(key, err)
	}
	return &Store{key, bucket}, nil
}

// Close closes the handle. Later uses of the store fail.
func (s *Store) Close() error {
	if s.bucket != nil {
		s.bucket.Close()
		s.bucket = nil
	}
	return nil
}

// check returns an error for an invalid key.
func (s *Store) check(key string) error {
	if !utf8.ValidString(key) {
		return Failed(fmt.Sprintf("store %q: the key %q is not UTF-8", s.key, key))
	}
	return s.checkOpen()
}

func (s *Store) checkOpen() error {
	if s.bucket == nil {
		return Failed(fmt.Sprintf("store %q: %v", s.key, fs.ErrClosed))
	}
	return nil
}

// Get returns the value of a key, or nil.
func (s *Store) Get(key string) ([]byte, error) {
	if err := s.check(key); err != nil {
		return nil, err
	}
	value, err := s.bucket.Get(key)
	return value, storeFailure(s.key, err)
}

// GetJSON decodes the value of a key, and returns whether it has one.
func (s *Store) GetJSON(key string, value any) (found bool, err error) {
	bytes, err := s.Get(key)
	if err != nil || bytes == nil {
		return false, err
	}
	if err := json.Unmarshal(bytes, value); err != nil {
		return false, fmt.Errorf("the value of %q in the store %q: %w", key, s.key, err)
	}
	return true, nil
}

// Set sets a value. A full store fails, and stays unchanged.
func (s *Store) Set(key string, value []byte) error {
	if err := s.check(key); err != nil {
		return err
	}
	return storeFailure(s.key, s.bucket.Set(key, value))
}

// SetJSON sets a value as JSON.
func (s *Store) SetJSON(key string, value any) error {
	document, err := marshal(value)
	if err != nil {
		return err
	}
	return s.Set(key, document)
}

// Delete deletes a key. A missing key is not an error.
func (s *Store) Delete(key string) error {
	if err := s.check(key); err != nil {
		return err
	}
	return storeFailure(s.key, s.bucket.Delete(key))
}

// Exists returns whether a key has a value.
func (s *Store) Exists(key string) (bool, error) {
	if err := s.check(key); err != nil {
		return false, err
	}
	exists, err := s.bucket.Exists(key)
	return exists, storeFailure(s.key, err)
}

// Keys iterates over the keys, in no particular order. An error is the last pair.
func (s *Store) Keys() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for cursor, more := (*uint64)(nil), true; more; more = cursor != nil {
			keys, next, err := s.page(cursor)
			if err != nil {
				yield("", err)
				return
			}
			for _, key := range keys {
				if !yield(key, nil) {
					return
				}
			}
			cursor = next
		}
	}
}

// page returns the keys from a cursor on, and the next cursor.
func (s *Store) page(cursor *uint64) (keys []string, next *uint64, err error) {
	if err := s.checkOpen(); err != nil {
		return nil, nil, err
	}
	keys, next, err = s.bucket.Keys(cursor)
	return keys, next, storeFailure(s.key, err)
}

func storeFailure(key string, err error) error {
	var why *host.StoreError
	if !errors.As(err, &why) {
		return err
	}
	switch {
	case why.Kind == host.AccessDenied:
		return Denied(fmt.Sprintf("there is no store %q: %v", key, why))
	case why.Kind == host.Other && strings.HasPrefix(why.Text, storeReadOnly):
		return Denied(why.Text)
	case why.Kind == host.Other && !strings.HasPrefix(why.Text, storeFull):
		return Unavailable(why.Text)
	default:
		return Failed(fmt.Sprintf("store %q: %v", key, why))
	}
}

// A Service is a service of the application that embeds the host. It can be closed like a [Store].
type Service struct {
	// Nil once it is closed.
	service *host.Service
}

// Service opens the service that the policy binds to a key.
func (c *Context) Service(key string) (*Service, error) {
	service, err := host.OpenService(host.Said(key))
	if err != nil {
		return nil, noHandle("service", key, err)
	}
	return &Service{service}, nil
}

// Close closes the handle. Later uses of the service fail.
func (s *Service) Close() error {
	if s.service != nil {
		s.service.Close()
		s.service = nil
	}
	return nil
}

// Call calls a method with a value as one JSON document, and decodes the answer into a value unless that is nil.
func (s *Service) Call(method string, input, answer any) error {
	switch {
	case s.service == nil:
		return Failed(fmt.Sprintf("the service: %v", fs.ErrClosed))
	case !utf8.ValidString(method):
		return Failed(fmt.Sprintf("the method %q is not UTF-8", method))
	}
	document, err := marshal(input)
	if err != nil {
		return err
	}
	text, ok := s.service.Call(method, string(document))
	if !ok {
		return Failed(text)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal([]byte(text), answer)
}

// A Writer writes the beginning of the call's text answer while the tool runs. It can be larger than a returned answer.
// The host replaces invalid UTF-8 by U+FFFD. The tool then returns the rest of the text, or "".
type Writer struct {
	*host.Output
}

// Writer opens the answer for writing. If opened again, it appends to the text.
func (c *Context) Writer() (*Writer, error) {
	output, ok := host.OpenText()
	if !ok {
		return nil, Failed("there is no answer to write")
	}
	return &Writer{output}, nil
}
