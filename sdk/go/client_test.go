package portcullis

import (
	"io"
	"reflect"
	"strings"
	"testing"

	"portcullis.dev/portcullis/internal/host"
)

func TestTheLengthOfARequestIsSaidWhereItIsKnown(t *testing.T) {
	length := func(value string) []host.Header { return []host.Header{{Name: "content-length", Value: value}} }
	for name, one := range map[string]struct {
		request Request
		want    []host.Header
	}{
		"GET":       {Request{}, nil},
		"HEAD":      {Request{Method: "HEAD"}, nil},
		"POST":      {Request{Method: "POST"}, length("0")},
		"DELETE":    {Request{Method: "DELETE"}, length("0")},
		"of a text": {Request{Method: "POST", Body: strings.NewReader("body")}, length("4")},
		"unknown":   {Request{Method: "POST", Body: io.MultiReader()}, nil},
		"given": {
			Request{Method: "POST", Header: map[string][]string{"Content-Length": {"3"}}, Body: strings.NewReader("abc")},
			length("3"),
		},
	} {
		one.request.URL = "http://example.com/"
		head, err := one.request.head()
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(head.Headers, one.want) {
			t.Errorf("%s: got %v, want %v", name, head.Headers, one.want)
		}
	}
}
