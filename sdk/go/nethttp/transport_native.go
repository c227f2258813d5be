//go:build !wasip1

package nethttp

import (
	"net/http"

	"portcullis.dev/portcullis"
)

// open is for tests, which play a server with net/http/httptest.
func open(ctx *portcullis.Context, key string) (http.RoundTripper, error) {
	client, err := ctx.Client(key)
	if err != nil {
		return nil, err
	}
	return http.DefaultTransport, client.Close()
}
