//go:build !wasip1

package host

import (
	"io"
	"net/http"
)

// A Client sends requests.
type Client struct{}

// OpenClient opens a client. Tests provide the server, with net/http/httptest.
func OpenClient(key string) (*Client, error) {
	if err := script().reach("HTTP client", key, "network"); err != nil {
		return nil, err
	}
	return &Client{}, nil
}

// Close drops the client.
func (*Client) Close() {}

// HasSecret returns false, because there is no host to keep a secret.
func (*Client) HasSecret() bool { return false }

// A Response is a response whose body has not been read yet.
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
