package host

import (
	"io"
	"io/fs"
)

//go:wasmimport portcullis:tool/dependencies@0.2.0 open-client
func openClient(key string, result *area)

//go:wasmimport portcullis:tool/dependencies@0.2.0 [method]client.send
func clientSend(client, request uint32, hasOptions bool, options uint32, result *area)

//go:wasmimport portcullis:tool/dependencies@0.2.0 [method]client.refusal
func clientRefusal(client uint32, result *area)

//go:wasmimport portcullis:tool/dependencies@0.2.0 [method]client.has-secret
func clientHasSecret(client uint32) bool

//go:wasmimport portcullis:tool/dependencies@0.2.0 [resource-drop]client
func dropClient(client uint32)

//go:wasmimport wasi:http/types@0.2.12 [constructor]fields
func newFields() uint32

//go:wasmimport wasi:http/types@0.2.12 [method]fields.append
func fieldsAppend(fields uint32, name, value string, result *area)

//go:wasmimport wasi:http/types@0.2.12 [method]fields.entries
func fieldsEntries(fields uint32, result *area)

//go:wasmimport wasi:http/types@0.2.12 [resource-drop]fields
func dropFields(fields uint32)

//go:wasmimport wasi:http/types@0.2.12 [constructor]outgoing-request
func newOutgoingRequest(fields uint32) uint32

//go:wasmimport wasi:http/types@0.2.12 [method]outgoing-request.set-method
func setMethod(request, method uint32, other string) uint32

//go:wasmimport wasi:http/types@0.2.12 [method]outgoing-request.set-scheme
func setScheme(request uint32, has bool, scheme uint32, other string) uint32

//go:wasmimport wasi:http/types@0.2.12 [method]outgoing-request.set-authority
func setAuthority(request uint32, has bool, authority string) uint32

//go:wasmimport wasi:http/types@0.2.12 [method]outgoing-request.set-path-with-query
func setPathWithQuery(request uint32, has bool, path string) uint32

//go:wasmimport wasi:http/types@0.2.12 [method]outgoing-request.body
func outgoingRequestBody(request uint32, result *area)

//go:wasmimport wasi:http/types@0.2.12 [resource-drop]outgoing-request
func dropOutgoingRequest(request uint32)

//go:wasmimport wasi:http/types@0.2.12 [method]outgoing-body.write
func outgoingBodyWrite(body uint32, result *area)

//go:wasmimport wasi:http/types@0.2.12 [static]outgoing-body.finish
func outgoingBodyFinish(body uint32, hasTrailers bool, trailers uint32, result *area)

//go:wasmimport wasi:http/types@0.2.12 [resource-drop]outgoing-body
func dropOutgoingBody(body uint32)

//go:wasmimport wasi:http/types@0.2.12 [method]future-incoming-response.subscribe
func futureSubscribe(future uint32) uint32

//go:wasmimport wasi:http/types@0.2.12 [method]future-incoming-response.get
func futureGet(future uint32, result *area)

//go:wasmimport wasi:http/types@0.2.12 [resource-drop]future-incoming-response
func dropFuture(future uint32)

//go:wasmimport wasi:http/types@0.2.12 [method]incoming-response.status
func responseStatus(response uint32) uint32

//go:wasmimport wasi:http/types@0.2.12 [method]incoming-response.headers
func responseHeaders(response uint32) uint32

//go:wasmimport wasi:http/types@0.2.12 [method]incoming-response.consume
func responseConsume(response uint32, result *area)

//go:wasmimport wasi:http/types@0.2.12 [resource-drop]incoming-response
func dropResponse(response uint32)

//go:wasmimport wasi:http/types@0.2.12 [method]incoming-body.stream
func incomingBodyStream(body uint32, result *area)

//go:wasmimport wasi:http/types@0.2.12 [resource-drop]incoming-body
func dropIncomingBody(body uint32)

//go:wasmimport wasi:http/types@0.2.12 http-error-code
func httpErrorCode(handle uint32, result *area)

const (
	// Maximum bytes of a response's body per read.
	readBytes = 64 << 10
	// The case of a method that has no case of its own.
	methodOther = 9
	schemeHTTP  = 0
	schemeHTTPS = 1
)

var methods = [...]string{"GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"}

// A Client sends requests.
type Client struct {
	handle uint32
	closed bool
}

// OpenClient opens a client by its key.
func OpenClient(key string) (*Client, error) {
	result := new(area)
	openClient(key, result)
	client, err := handle(result)
	if err != nil {
		return nil, err
	}
	return &Client{handle: client}, nil
}

// Close drops the client. It cannot send another request, but the bodies of its responses can still be read.
func (c *Client) Close() {
	c.closed = true
	dropClient(c.handle)
}

// HasSecret reports whether the host adds a secret to the requests of a client.
func (c *Client) HasSecret() bool { return clientHasSecret(c.handle) }

// Send sends a request and waits for the head of the response. It stops waiting when stop returns an error.
func (c *Client) Send(head *Request, body io.Reader, stop func() error) (*Response, error) {
	request, err := outgoingRequest(head)
	if err != nil {
		return nil, err
	}
	result := new(area)
	outgoingRequestBody(request, result)
	outgoing := result.word(4)
	result = new(area)
	clientSend(c.handle, request, false, 0, result)
	if result.tag(0) != 0 {
		dropOutgoingBody(outgoing)
		return nil, c.failure(result, 8)
	}
	future := result.word(8)
	defer dropFuture(future)
	if err := sendBody(outgoing, body, stop); err != nil {
		return nil, err
	}
	if err := wait(futureSubscribe(future), stop); err != nil {
		return nil, err
	}
	result = new(area)
	futureGet(future, result)
	if result.tag(16) != 0 {
		return nil, c.failure(result, 24)
	}
	return c.response(result.word(24), stop)
}

func outgoingRequest(head *Request) (uint32, error) {
	fields := newFields()
	for _, header := range head.Headers {
		result := new(area)
		fieldsAppend(fields, header.Name, header.Value, result)
		if result.tag(0) != 0 {
			dropFields(fields)
			if result.tag(1) == headerForbidden {
				return 0, &HTTPError{Denied: true, Text: "the header " + header.Name + " is set by the host; leave it out"}
			}
			return 0, &HTTPError{Text: "the header " + header.Name + " cannot be sent"}
		}
	}
	request := newOutgoingRequest(fields)
	method, other := uint32(methodOther), head.Method
	for index, name := range methods {
		if name == head.Method {
			method, other = uint32(index), ""
		}
	}
	scheme := uint32(schemeHTTP)
	if head.Scheme == "https" {
		scheme = schemeHTTPS
	}
	wrong := setMethod(request, method, other)
	wrong |= setScheme(request, true, scheme, "")
	wrong |= setAuthority(request, true, head.Authority)
	wrong |= setPathWithQuery(request, true, head.PathWithQuery)
	if wrong != 0 {
		dropOutgoingRequest(request)
		return 0, &HTTPError{Text: "the method or the URL of the request cannot be sent"}
	}
	return request, nil
}

// sendBody writes the body. A server may answer before it has read all of it, and the host may refuse the request
// meanwhile. The outcome is reported when the response is read, so errors of the stream are ignored here.
func sendBody(body uint32, from io.Reader, stop func() error) error {
	result := new(area)
	outgoingBodyWrite(body, result)
	stream := &Output{handle: result.word(4), stop: stop}
	_, err := io.Copy(stream, from)
	dropOutputStream(stream.handle)
	if err != nil {
		dropOutgoingBody(body)
		if _, refused := err.(*StreamError); refused {
			return nil
		}
		return err
	}
	outgoingBodyFinish(body, false, 0, new(area))
	return nil
}

// failure reads an error code. If the host itself refused the request, the error has the host's message.
func (c *Client) failure(result *area, offset uintptr) error {
	err := codeError(result, offset)
	if err.Denied {
		if words := c.refusal(); words != nil {
			err.Text = *words
		}
	}
	return err
}

func (c *Client) refusal() *string {
	if c.closed {
		return nil
	}
	result := new(area)
	clientRefusal(c.handle, result)
	return result.optionalString(0)
}

func codeError(result *area, offset uintptr) *HTTPError {
	code := int(result.tag(offset))
	if code < codeInternal {
		denied := code == codeRequestDenied || code == codeAddressProhibited
		return &HTTPError{Denied: denied, Text: codes[code]}
	}
	if words := result.optionalString(offset + 8); words != nil {
		return &HTTPError{Text: *words}
	}
	return &HTTPError{Text: "the request failed"}
}

// A Response is a response whose body has not been read yet.
type Response struct {
	Status  int
	Headers []Header
	Body    io.ReadCloser
}

func (c *Client) response(handle uint32, stop func() error) (*Response, error) {
	response := &Response{Status: int(responseStatus(handle)), Headers: headers(responseHeaders(handle))}
	result := new(area)
	responseConsume(handle, result)
	body := result.word(4)
	result = new(area)
	incomingBodyStream(body, result)
	response.Body = &input{client: c, stop: stop, stream: result.word(4), body: body, response: handle}
	return response, nil
}

func headers(fields uint32) (headers []Header) {
	defer dropFields(fields)
	result := new(area)
	fieldsEntries(fields, result)
	for _, entry := range elements[struct{ name, value Place }](result, 0) {
		headers = append(headers, Header{entry.name.take(), entry.value.take()})
	}
	return headers
}

// An input is the body of a response.
type input struct {
	client                 *Client
	stop                   func() error
	stream, body, response uint32
	rest                   []byte
	end                    error
}

func (i *input) Read(into []byte) (int, error) {
	for len(i.rest) == 0 && i.end == nil && len(into) > 0 {
		i.rest, i.end = i.next()
	}
	if len(i.rest) == 0 && i.end != nil {
		return 0, i.end
	}
	read := copy(into, i.rest)
	i.rest = i.rest[read:]
	return read, nil
}

// next waits for the next chunk.
func (i *input) next() ([]byte, error) {
	result := new(area)
	streamRead(i.stream, readBytes, result)
	if result.tag(0) != 0 {
		return nil, streamFailure(result, 4, i.explain)
	}
	bytes := result.bytes(4)
	if len(bytes) == 0 {
		return nil, wait(inputSubscribe(i.stream), i.stop)
	}
	return bytes, nil
}

// explain returns the reason why a body ended early. If the host ended it, there is a message instead of an error code.
func (i *input) explain(handle uint32) error {
	result := new(area)
	httpErrorCode(handle, result)
	if result.tag(0) != 0 {
		return i.client.failure(result, 8)
	}
	if words := i.client.refusal(); words != nil {
		return &HTTPError{BrokenOff: true, Text: *words}
	}
	return nil
}

// Close drops all handles of the response. The order matters: a child must be dropped before its parent.
func (i *input) Close() error {
	if i.end != fs.ErrClosed {
		i.rest, i.end = nil, fs.ErrClosed
		dropInputStream(i.stream)
		dropIncomingBody(i.body)
		dropResponse(i.response)
	}
	return nil
}
