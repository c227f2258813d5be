package host

// A Header is one header field of a request or a response.
type Header struct {
	Name, Value string
}

// Request is the head of a request.
type Request struct {
	Method, Scheme, Authority, PathWithQuery string
	Headers                                  []Header
}

// An HTTPError is the reason why there is no response.
type HTTPError struct {
	// Denied reports that the policy does not cover the request, and that nothing was sent.
	Denied bool
	// BrokenOff reports that the host ended the body of the response. A retry would end the same way.
	BrokenOff bool
	Text      string
}

func (e *HTTPError) Error() string { return e.Text }

// The case of header-error for headers that only the host may set.
const headerForbidden = 1

// The codes for a refusal by the policy.
const (
	codeAddressProhibited = 4
	codeRequestDenied     = 15
)

// The meanings of the error codes of wasi:http, in the order of the codes.
var codes = [...]string{
	"looking up the name took too long",
	"the name has no address",
	"the name has no address",
	"the server cannot be reached",
	"the policy does not cover the address",
	"the server cannot be reached",
	"the server refused the connection",
	"the connection broke",
	"connecting took too long",
	"the server took too long to answer",
	"the server took too long to accept the request",
	"there are too many connections already",
	"the TLS connection failed",
	"the server's certificate is not trusted",
	"the TLS connection failed",
	"the policy does not cover the request",
	"the request has no length",
	"the body of the request is too large",
	"the method of the request is not allowed",
	"the URL of the request is not allowed",
	"the URL of the request is too long",
	"the head of the request is too large",
	"a header of the request is too large",
	"the trailers of the request are too large",
	"a trailer of the request is too large",
	"the response ended before it was complete",
	"the head of the response is too large",
	"a header of the response is too large",
	"the body of the response is too large",
	"the trailers of the response are too large",
	"a trailer of the response is too large",
	"the response is encoded in a way that cannot be read",
	"the response is encoded in a way that cannot be read",
	"the server took too long to answer",
	"the server violated the HTTP protocol",
	"the server violated the HTTP protocol",
	"the request was forwarded in a loop",
	"the client is misconfigured",
}

// A code above these is an internal error, with a message from the host.
const codeInternal = len(codes)
