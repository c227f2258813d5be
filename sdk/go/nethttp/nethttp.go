// Package nethttp makes net/http work in a component.
//
// Importing it makes [http.DefaultTransport] send through the first HTTP client that the manifest names and the policy
// grants, so that [http.Get] and whatever else uses the default transport work unchanged:
//
//	import _ "portcullis.dev/portcullis/nethttp"
//
// The host decides on each request, and on each redirect that is followed. It makes the TLS connection of an https URL
// itself, and adds the secrets that the policy binds to a destination. Elsewhere than in a component nothing changes.
//
// It makes a component some 7 MB larger, for it brings all of net/http. [portcullis.Client] is small.
package nethttp

import (
	"net/http"

	"portcullis.dev/portcullis"
)

// Client sends through the client that the policy bound to a key, and gives up when the call is cancelled.
func Client(ctx *portcullis.Context, key string) (*http.Client, error) {
	transport, err := open(ctx, key)
	if err != nil {
		return nil, err
	}
	return &http.Client{Transport: transport}, nil
}
