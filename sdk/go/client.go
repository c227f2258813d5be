package portcullis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"portcullis.dev/portcullis/internal/host"
)

// A Client sends HTTP requests to what the policy bound to its key, and to nothing else. It is small beside net/http,
// which the package nethttp makes work: it follows no redirect, and keeps no cookies. It can be closed as a [Store]
// can.
type Client struct {
	// Nil once it is closed.
	client *host.Client
}

// A Request is what a [Client] sends.
type Request struct {
	// Method is GET where it is empty.
	Method string
	URL    string
	// Header has the values of each name. The host refuses those that are its own.
	Header map[string][]string
	// Body is sent with its length where it has a method Len, as bytes.Reader and strings.Reader do.
	Body io.Reader
}

// A Response is what a server answered, of whatever status. Its body is closed by whoever has it.
type Response struct {
	Status int
	// Header has the values of each name, which is in small letters.
	Header map[string][]string
	Body   io.ReadCloser
}

// Client opens the client that the policy bound to a key.
func (c *Context) Client(key string) (*Client, error) {
	client, err := host.OpenClient(host.Said(key))
	if err != nil {
		return nil, noHandle("HTTP client", key, err)
	}
	return &Client{client}, nil
}

// FirstClient opens the first client that the manifest names and the policy grants.
func FirstClient() (*Client, error) {
	err := Failed("the manifest asks for no HTTP client")
	for _, dependency := range component().Dependencies {
		if dependency.Kind != KindHTTP {
			continue
		}
		client, why := host.OpenClient(host.Said(dependency.Key))
		if why == nil {
			return &Client{client}, nil
		}
		err = noHandle("HTTP client", dependency.Key, why)
	}
	return nil, err
}

// HasSecret says whether the host adds a secret to requests to the destination that the policy bound it to.
func (c *Client) HasSecret() bool { return c.client != nil && c.client.HasSecret() }

// Close gives the handle back. Bodies of responses may still be read; Do is an error from now on.
func (c *Client) Close() error {
	if c.client != nil {
		c.client.Close()
		c.client = nil
	}
	return nil
}

// Do sends a request, and waits for the head of the response. Other goroutines run meanwhile. What the policy does not
// cover is [Denied], in the host's words, and was not sent; a server that does not answer is [Unavailable].
func (c *Client) Do(ctx context.Context, request Request) (*Response, error) {
	if c.client == nil {
		return nil, Failed(fmt.Sprintf("the HTTP client: %v", fs.ErrClosed))
	}
	head, err := request.head()
	if err != nil {
		return nil, err
	}
	body := request.Body
	if body == nil {
		body = strings.NewReader("")
	}
	answer, err := c.client.Send(head, body, ctx.Err)
	if err != nil {
		return nil, httpFailure(err)
	}
	response := &Response{Status: answer.Status, Header: map[string][]string{}, Body: responseBody{answer.Body}}
	for _, header := range answer.Headers {
		name := strings.ToLower(header.Name)
		response.Header[name] = append(response.Header[name], header.Value)
	}
	return response, nil
}

func (r *Request) head() (*host.Request, error) {
	where, err := url.Parse(r.URL)
	if err != nil || where.Scheme != "http" && where.Scheme != "https" || where.Host == "" {
		return nil, InvalidArguments(strconv.Quote(r.URL) + " is no URL of http or https")
	}
	head := &host.Request{
		Method:        cmp.Or(r.Method, "GET"),
		Scheme:        where.Scheme,
		Authority:     where.Host,
		PathWithQuery: where.RequestURI(),
	}
	hasLength := false
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		lower := strings.ToLower(name)
		hasLength = hasLength || lower == "content-length"
		for _, value := range r.Header[name] {
			head.Headers = append(head.Headers, host.Header{Name: lower, Value: value})
		}
	}
	if length, known := r.length(); known && !hasLength {
		head.Headers = append(head.Headers, host.Header{Name: "content-length", Value: strconv.Itoa(length)})
	}
	// Not the values of headers, which are bytes.
	for _, text := range slices.AppendSeq([]string{head.Method, head.Authority, head.PathWithQuery}, maps.Keys(r.Header)) {
		if !utf8.ValidString(text) {
			return nil, InvalidArguments(fmt.Sprintf("%q in the request is not UTF-8", text))
		}
	}
	return head, nil
}

// length is that of the body, where it is known. A request without a body says so too, for it would be sent in chunks
// otherwise; but for those that never have one.
func (r *Request) length() (length int, known bool) {
	switch body := r.Body.(type) {
	case nil:
		return 0, r.Method != "" && r.Method != "GET" && r.Method != "HEAD"
	case interface{ Len() int }:
		return body.Len(), true
	default:
		return 0, false
	}
}

// A responseBody gives the errors of a body the kind of failure that fits.
type responseBody struct {
	io.ReadCloser
}

func (r responseBody) Read(into []byte) (int, error) {
	read, err := r.ReadCloser.Read(into)
	return read, httpFailure(err)
}

func httpFailure(err error) error {
	var why *host.HTTPError
	switch {
	case !errors.As(err, &why):
		return err
	case why.Denied:
		return Denied(why.Text)
	case why.BrokenOff:
		return Failed(why.Text)
	default:
		return Unavailable(why.Text)
	}
}
