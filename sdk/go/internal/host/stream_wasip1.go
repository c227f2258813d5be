package host

import (
	"io"
	"time"
	"unsafe"
)

//go:wasmimport portcullis:tool/output@0.2.0 open-text
func outputOpenText(result *area)

//go:wasmimport wasi:io/streams@0.2.12 [method]output-stream.check-write
func streamCheckWrite(stream uint32, result *area)

//go:wasmimport wasi:io/streams@0.2.12 [method]output-stream.write
func streamWrite(stream uint32, bytes unsafe.Pointer, size uint32, result *area)

//go:wasmimport wasi:io/streams@0.2.12 [method]output-stream.flush
func streamFlush(stream uint32, result *area)

//go:wasmimport wasi:io/streams@0.2.12 [method]output-stream.subscribe
func outputSubscribe(stream uint32) uint32

//go:wasmimport wasi:io/streams@0.2.12 [resource-drop]output-stream
func dropOutputStream(stream uint32)

//go:wasmimport wasi:io/streams@0.2.12 [method]input-stream.read
func streamRead(stream uint32, size uint64, result *area)

//go:wasmimport wasi:io/streams@0.2.12 [method]input-stream.subscribe
func inputSubscribe(stream uint32) uint32

//go:wasmimport wasi:io/streams@0.2.12 [resource-drop]input-stream
func dropInputStream(stream uint32)

//go:wasmimport wasi:io/error@0.2.12 [method]error.to-debug-string
func errorToDebugString(handle uint32, result *area)

//go:wasmimport wasi:io/error@0.2.12 [resource-drop]error
func dropError(handle uint32)

//go:wasmimport wasi:io/poll@0.2.12 [method]pollable.ready
func pollableReady(pollable uint32) bool

//go:wasmimport wasi:io/poll@0.2.12 [resource-drop]pollable
func dropPollable(pollable uint32)

const (
	// The time a wait sleeps at first: about what an answer from this machine takes.
	waitMin = 100 * time.Microsecond
	// The maximum time it sleeps. An answer is noticed at most this much later.
	waitMax = 5 * time.Millisecond
)

// wait sleeps until a pollable is ready, and drops it. Other goroutines run meanwhile. If stop returns an error, wait
// stops and returns it.
func wait(pollable uint32, stop func() error) error {
	defer dropPollable(pollable)
	for pause := waitMin; !pollableReady(pollable); pause = min(2*pause, waitMax) {
		if err := stop(); err != nil {
			return err
		}
		time.Sleep(pause)
	}
	return nil
}

// A StreamError is the reason why a stream cannot be read or written any more.
type StreamError struct {
	text string
}

func (e *StreamError) Error() string { return e.text }

var errClosed = &StreamError{"the stream is closed"}

// streamFailure reads a stream-error. A closed stream is the end of the stream.
func streamFailure(result *area, offset uintptr, explain func(handle uint32) error) error {
	if result.tag(offset) != 0 {
		return io.EOF
	}
	handle := result.word(offset + 4)
	defer dropError(handle)
	if err := explain(handle); err != nil {
		return err
	}
	words := new(area)
	errorToDebugString(handle, words)
	return &StreamError{words.string(0)}
}

func unexplained(uint32) error { return nil }

// Output is a stream that the host reads.
type Output struct {
	handle uint32
	// Returns an error when waiting must stop.
	stop   func() error
	closed bool
}

// OpenText opens a stream for the beginning of the call's text answer.
func OpenText() (*Output, bool) {
	result := new(area)
	outputOpenText(result)
	return &Output{handle: result.word(4), stop: func() error { return nil }}, result.tag(0) != 0
}

// Write writes all bytes, as fast as the host accepts them.
func (o *Output) Write(bytes []byte) (written int, err error) {
	if o.closed {
		return 0, errClosed
	}
	for written < len(bytes) {
		result := new(area)
		streamCheckWrite(o.handle, result)
		if result.tag(0) != 0 {
			return written, outputFailure(result, 8)
		}
		room := result.long(8)
		if room == 0 {
			if err := wait(outputSubscribe(o.handle), o.stop); err != nil {
				return written, err
			}
			continue
		}
		piece := bytes[written:]
		piece = piece[:min(uint64(len(piece)), room)]
		result = new(area)
		streamWrite(o.handle, unsafe.Pointer(unsafe.SliceData(piece)), uint32(len(piece)), result)
		if result.tag(0) != 0 {
			return written, outputFailure(result, 4)
		}
		written += len(piece)
	}
	return written, nil
}

// Flush waits until the host has received all written bytes.
func (o *Output) Flush() error {
	if o.closed {
		return errClosed
	}
	result := new(area)
	streamFlush(o.handle, result)
	if result.tag(0) != 0 {
		return outputFailure(result, 4)
	}
	return wait(outputSubscribe(o.handle), o.stop)
}

// Close drops the stream.
func (o *Output) Close() error {
	if !o.closed {
		o.closed = true
		dropOutputStream(o.handle)
	}
	return nil
}

func outputFailure(result *area, offset uintptr) error {
	err := streamFailure(result, offset, unexplained)
	if err == io.EOF {
		return errClosed
	}
	return err
}
