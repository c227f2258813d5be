//go:build !wasip1

package portcullis_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"portcullis.dev/portcullis"
	"portcullis.dev/portcullis/portcullistest"
)

const (
	// Latin-1, and so not UTF-8.
	coffee = "caf\xe9"
	said   = "caf\uFFFD"
)

// latin passes what is not UTF-8, in the place that it is told.
func latin(ctx *portcullis.Context, arguments word) (any, error) {
	switch arguments.Word {
	case "text":
		return coffee, nil
	case "part":
		return portcullis.Parts{portcullis.Text("a"), portcullis.Text(coffee)}, nil
	case "media type":
		return portcullis.Parts{portcullis.File{MediaType: coffee}}, nil
	case "json":
		return map[string][]string{"a": {coffee}}, nil
	case "raw json":
		return json.RawMessage(`"` + coffee + `"`), nil
	case "bytes":
		return portcullis.Parts{portcullis.File{MediaType: "text/plain", Data: []byte(coffee)}}, nil
	case "title":
		return portcullis.Success[string]{Title: coffee, Metadata: map[string]string{"drink": coffee}}, nil
	case "error":
		return nil, errors.New(coffee)
	case "panic":
		panic(coffee)
	case "key":
		store, err := ctx.Store("notes")
		if err != nil {
			return nil, err
		}
		return "", store.Set(coffee, nil)
	case "request":
		client, err := ctx.Client("web")
		if err != nil {
			return nil, err
		}
		_, err = client.Do(ctx, portcullis.Request{URL: "http://caf%E9.example/"})
		return nil, err
	default:
		ctx.Log(portcullis.LevelInfo, coffee)
		ctx.Report(portcullis.Progress{Title: coffee, Metadata: map[string]string{"drink": coffee}})
		return "said", ctx.Ask(portcullis.Read, coffee, coffee)
	}
}

func TestAnAnswerThatIsNotUTF8IsAFailure(t *testing.T) {
	for _, place := range []string{"text", "part", "media type", "json", "raw json"} {
		_, err := portcullistest.Call(t, nil, "latin", fmt.Sprintf(`{"word":%q}`, place))
		if err == nil {
			t.Errorf("%s: there is no failure", place)
			continue
		}
		failure := portcullis.FailureOf(err)
		if failure.Kind != portcullis.KindFailed || !strings.Contains(failure.Text, "the answer is not UTF-8") {
			t.Errorf("%s: got %+v", place, failure)
		}
	}
	answer, err := portcullistest.Call(t, nil, "latin", `{"word":"bytes"}`)
	if err != nil || string(answer.Output.(portcullis.Parts)[0].(portcullis.File).Data) != coffee {
		t.Errorf("got %+v, %v", answer, err)
	}
}

func TestWhatIsSaidIsMadeUTF8(t *testing.T) {
	answer, err := portcullistest.Call(t, nil, "latin", `{"word":"title"}`)
	if err != nil || answer.Title != said || string(answer.Metadata) != `{"drink":"`+said+`"}` {
		t.Errorf("got %+v, %v", answer, err)
	}
	for word, want := range map[string]string{"error": said, "panic": "panic: " + said} {
		_, err := portcullistest.Call(t, nil, "latin", fmt.Sprintf(`{"word":%q}`, word))
		if got := portcullis.FailureOf(err); got.Text != want {
			t.Errorf("%s: got %+v", word, got)
		}
	}
	var asked []string
	host := &portcullistest.Host{Ask: func(_ portcullis.Permission, resource, reason string) error {
		asked = append(asked, resource, reason)
		return nil
	}}
	if _, err := portcullistest.Call(t, host, "latin", `{"word":"all"}`); err != nil {
		t.Fatal(err)
	}
	reported := []portcullis.Progress{{Title: said, Metadata: `{"drink":"` + said + `"}`}}
	if !reflect.DeepEqual(host.Reported, reported) {
		t.Errorf("got %+v", host.Reported)
	}
	if got := append(asked, host.Logged...); !reflect.DeepEqual(got, []string{said, said, said}) {
		t.Errorf("got %q", got)
	}
}

func TestAKeyThatIsNotUTF8IsRefused(t *testing.T) {
	host := &portcullistest.Host{Stores: map[string]map[string][]byte{"notes": {}}}
	for word, want := range map[string]string{
		"key":     `store "notes": the key "caf\xe9" is not UTF-8`,
		"request": `"caf\xe9.example" in the request is not UTF-8`,
	} {
		_, err := portcullistest.Call(t, host, "latin", fmt.Sprintf(`{"word":%q}`, word))
		if err == nil || err.Error() != want {
			t.Errorf("%s: got %v", word, err)
		}
	}
}
