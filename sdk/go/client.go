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

// A Client sends HTTP requests to the destinations that the policy binds to its key, and to no others. It is much
// smaller than net/http, which the package nethttp supports. It does not follow redirects, and keeps no cookies. It can
// be closed like a [Store].
type Client struct {
	// Nil once it is closed.
	client *host.Client
}

// A Request is what a [Client] sends.
type Request struct {
	// Method is GET if empty.
	Method string
	URL    string
	// Header has the values of each name. The host refuses reserved headers.
	Header map[string][]string
	// Body is sent with its length if it has a method Len, like bytes.Reader and strings.Reader.
	Body io.Reader
}

// A Response is the answer of a server, whatever its status. The caller must close its body.
type Response struct {
	Status int
	// Header has the values of each name. Names are in lower case.
	Header map[string][]string
	Body   io.ReadCloser
}

// Client opens the client that the policy binds to a key.
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

// HasSecret returns whether the host adds a secret to requests to the destination that the policy binds it to.
func (c *Client) HasSecret() bool { return c.client != nil && c.client.HasSecret() }

// Close closes the handle. Bodies of responses can still be read, but Do fails from now on.
func (c *Client) Close() error {
	if c.client != nil {
		c.client.Close()
		c.client = nil
	}
	return nil
}

// Do sends a request, and waits for the head of the response. Other goroutines run in the meantime. If the policy does
// not cover the request, the error is [Denied] with the host's reason, and nothing is sent. If the server does not
// answer, it is [Unavailable].
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
		return nil, InvalidArguments(strconv.Quote(r.URL) + " is not an http or https URL")
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

// length returns the length of the body, if it is known. An empty body has the length 0, because the request would be
// chunked otherwise. Methods that never have a body have no length.
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

// A responseBody converts the errors of a body to failures.
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
