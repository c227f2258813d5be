package nethttp

import (
	"context"
	"maps"
	"net/http"
	"strconv"
	"sync"

	"portcullis.dev/portcullis"
)

func init() {
	http.DefaultTransport = &transport{open: sync.OnceValues(portcullis.FirstClient)}
}

// A transport is an [http.RoundTripper] over a client of the host.
type transport struct {
	open func() (*portcullis.Client, error)
	// The call, where it is known: it may be cancelled.
	call *portcullis.Context
}

func open(ctx *portcullis.Context, key string) (http.RoundTripper, error) {
	client, err := ctx.Client(key)
	if err != nil {
		return nil, err
	}
	return &transport{func() (*portcullis.Client, error) { return client, nil }, ctx}, nil
}

// RoundTrip sends one request. What the host refuses is [portcullis.Denied] with its words.
func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Body != nil {
		defer request.Body.Close()
	}
	client, err := t.open()
	if err != nil {
		return nil, err
	}
	outgoing := portcullis.Request{Method: request.Method, URL: request.URL.String(), Header: header(request)}
	if request.Body != nil && request.Body != http.NoBody {
		outgoing.Body = request.Body
	}
	response, err := client.Do(until{request.Context(), t.call}, outgoing)
	if err != nil {
		return nil, err
	}
	return answer(request, response), nil
}

// header is what is sent of a request's header, with the length of the body where it is known.
func header(request *http.Request) http.Header {
	header := maps.Clone(request.Header)
	if header == nil {
		header = http.Header{}
	}
	// http.Client adds it to a redirect, and the host refuses it: it tells where a plugin was before.
	header.Del("Referer")
	if length := request.ContentLength; length > 0 {
		header.Set("Content-Length", strconv.FormatInt(length, 10))
	}
	return header
}

// An until ends with the request's context, and with the call.
type until struct {
	context.Context
	call *portcullis.Context
}

func (u until) Err() error {
	if err := u.Context.Err(); err != nil || u.call == nil {
		return err
	}
	return u.call.Err()
}

func answer(request *http.Request, response *portcullis.Response) *http.Response {
	answer := &http.Response{
		Status:        strconv.Itoa(response.Status) + " " + http.StatusText(response.Status),
		StatusCode:    response.Status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        http.Header{},
		Body:          response.Body,
		ContentLength: -1,
		Request:       request,
	}
	for name, values := range response.Header {
		answer.Header[http.CanonicalHeaderKey(name)] = values
	}
	if length, err := strconv.ParseInt(answer.Header.Get("Content-Length"), 10, 64); err == nil {
		answer.ContentLength = length
	}
	return answer
}
