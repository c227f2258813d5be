//go:build !wasip1

package nethttp

import (
	"net/http"

	"portcullis.dev/portcullis"
)

// open is for tests, which play a server with net/http/httptest.
func open(*portcullis.Context, string) (http.RoundTripper, error) { return http.DefaultTransport, nil }
