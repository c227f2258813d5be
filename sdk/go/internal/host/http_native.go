//go:build !wasip1

package host

import (
	"io"
	"net/http"
)

// A Client sends requests.
type Client struct{}

// OpenClient opens a client: a test plays the server, with net/http/httptest.
func OpenClient(key string) (*Client, error) {
	if err := script().reach("HTTP client", key, "network"); err != nil {
		return nil, err
	}
	return &Client{}, nil
}

// Close gives the client back.
func (*Client) Close() {}

// HasSecret is false: there is no host to keep one.
func (*Client) HasSecret() bool { return false }

// A Response is one whose body is still to come.
type Response struct {
	Status  int
	Headers []Header
	Body    io.ReadCloser
}

// Send sends a request.
func (*Client) Send(head *Request, body io.Reader, stop func() error) (*Response, error) {
	if err := stop(); err != nil {
		return nil, err
	}
	request, err := http.NewRequest(head.Method, head.Scheme+"://"+head.Authority+head.PathWithQuery, body)
	if err != nil {
		return nil, &HTTPError{Text: err.Error()}
	}
	for _, header := range head.Headers {
		request.Header.Add(header.Name, header.Value)
	}
	answer, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return nil, &HTTPError{Text: err.Error()}
	}
	response := &Response{Status: answer.StatusCode, Body: answer.Body}
	for name, values := range answer.Header {
		for _, value := range values {
			response.Headers = append(response.Headers, Header{name, value})
		}
	}
	return response, nil
}
