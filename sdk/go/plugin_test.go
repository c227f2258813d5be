//go:build !wasip1

package portcullis_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"portcullis.dev/portcullis"
	"portcullis.dev/portcullis/portcullistest"
)

type word struct {
	Word string `json:"word" description:"A word."`
}

// Has the methods of a part, and is none.
type strange struct{ portcullis.Part }

func init() {
	portcullis.Register(portcullis.Plugin{
		Name:        "probe",
		Version:     "0.1.0",
		Description: "Probes the SDK.",
		Tools: []*portcullis.Tool{
			portcullis.NewTool("shout", "Says it louder.", shout, portcullis.ReadOnly, portcullis.Title("Shout")),
			portcullis.NewTool("end", "Ends as it is told.", end),
			portcullis.NewTool("get", "Gets a page.", get, portcullis.Requires(portcullis.Network)),
			portcullis.NewTool("latin", "Passes what is not UTF-8.", latin, portcullis.Requires(portcullis.Network)),
			portcullis.NewTool(
				"close", "Uses what it has closed.", closes, portcullis.Requires(portcullis.Read, portcullis.Network),
			),
			portcullis.NewTool("use", "Uses every handle.", use, portcullis.Requires(portcullis.Read, portcullis.Write)),
			portcullis.NewTool("stray", "Opens what only other permissions reach.", stray),
			portcullis.NewTool("peek", "Changes the store.", peek, portcullis.MayUse(portcullis.Read)),
			portcullis.NewTool("lines", "Counts lines.", lines, portcullis.Requires(portcullis.Execute)),
			portcullis.NewTool("run", "Does what a test sets.", run, portcullis.MayUse(portcullis.Execute)),
			portcullis.NewTool("delegate", "Calls other tools.", delegate),
			portcullis.NewTool("keeps", "Keeps files.", keeps),
		},
		Generator: greetings,
		Preparer:  prepare,
	})
}

func shout(_ *portcullis.Context, arguments word) (portcullis.Success[string], error) {
	return portcullis.Success[string]{Title: "Said", Output: strings.ToUpper(arguments.Word), Metadata: arguments}, nil
}

func end(ctx *portcullis.Context, arguments word) (any, error) {
	switch arguments.Word {
	case "panic":
		panic("at the disco")
	case "index":
		return []int{}[len(arguments.Word)], nil
	case "pointers":
		return portcullis.Parts{&portcullis.Image{MediaType: "image/png"}, portcullis.Text("a")}, nil
	case "no part":
		return portcullis.Parts{strange{portcullis.Text("a")}}, nil
	case "watched":
		ctx.Done()
		return nil, errors.New("watched")
	case "denied":
		return nil, fmt.Errorf("sorry: %w", portcullis.Denied("no right"))
	case "cancelled":
		<-ctx.Done()
		return nil, context.Cause(ctx)
	default:
		return nil, errors.New(arguments.Word)
	}
}

func get(ctx *portcullis.Context, arguments word) (string, error) {
	client, err := ctx.Client("web")
	if err != nil {
		return "", err
	}
	response, err := client.Do(ctx, portcullis.Request{
		Method: "POST",
		URL:    arguments.Word,
		Header: map[string][]string{"X-Test": {"probe"}},
		Body:   strings.NewReader("body"),
	})
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	return fmt.Sprint(response.Status, " ", response.Header["x-answer"], " ", string(content)), err
}

func use(ctx *portcullis.Context, _ struct{}) (string, error) {
	folder, err := ctx.Directory("files")
	if err != nil {
		return "", err
	}
	content, err := os.ReadFile(filepath.Join(folder, "a.txt"))
	if err != nil {
		return "", err
	}
	store, err := ctx.Store("counts")
	if err != nil {
		return "", err
	}
	var count int
	if _, err := store.GetJSON("count", &count); err != nil {
		return "", err
	}
	if err := store.SetJSON("count", count+1); err != nil {
		return "", err
	}
	service, err := ctx.Service("index")
	if err != nil {
		return "", err
	}
	var answer struct{ Name string }
	if err := service.Call("find", map[string]int{"count": count}, &answer); err != nil {
		return "", err
	}
	ctx.Report(portcullis.Progress{Title: "half-way", Fraction: 0.5})
	ctx.Log(portcullis.LevelInfo, "found "+answer.Name)
	return string(content) + answer.Name, ctx.Ask(portcullis.Write, "a.txt", "to test")
}

func TestThePluginIsInOrder(t *testing.T) {
	if err := portcullis.Registered().Check(); err != nil {
		t.Fatal(err)
	}
}

func TestAnAnswerHasATitleAndMetadata(t *testing.T) {
	answer, err := portcullistest.Call(t, nil, "shout", `{"word":"hello"}`)
	if err != nil {
		t.Fatal(err)
	}
	if answer.Output != "HELLO" || answer.Title != "Said" || string(answer.Metadata) != `{"word":"hello"}` {
		t.Errorf("got %+v", answer)
	}
}

func TestEveryEndIsAFailureOfItsKind(t *testing.T) {
	for word, want := range map[string]portcullis.Failure{
		"panic":     {Kind: portcullis.KindFailed, Text: "panic: at the disco"},
		"index":     {Kind: portcullis.KindFailed, Text: "panic: runtime error: index out of range [5] with length 0"},
		"denied":    {Kind: portcullis.KindDenied, Text: "sorry: no right"},
		"cancelled": {Kind: portcullis.KindCancelled, Text: "context canceled"},
		"anything":  {Kind: portcullis.KindFailed, Text: "anything"},
	} {
		host := &portcullistest.Host{Cancelled: word == "cancelled"}
		_, err := portcullistest.Call(t, host, "end", fmt.Sprintf(`{"word":%q}`, word))
		if got := portcullis.FailureOf(err); *got != want {
			t.Errorf("%s: got %+v, want %+v", word, *got, want)
		}
	}
}

func TestPartsMayBePointers(t *testing.T) {
	answer, err := portcullistest.Call(t, nil, "end", `{"word":"pointers"}`)
	if err != nil {
		t.Fatal(err)
	}
	want := portcullis.Parts{portcullis.Image{MediaType: "image/png"}, portcullis.Text("a")}
	if !reflect.DeepEqual(answer.Output, want) {
		t.Errorf("got %#v, want %#v", answer.Output, want)
	}
	_, err = portcullistest.Call(t, nil, "end", `{"word":"no part"}`)
	if failure := portcullis.FailureOf(err); !strings.Contains(failure.Text, "strange is not a part of an answer") {
		t.Errorf("got %+v", failure)
	}
}

func TestHandlesAreThoseOfTheHost(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "a.txt"), []byte("content of "), 0o600); err != nil {
		t.Fatal(err)
	}
	host := &portcullistest.Host{
		Directories: map[string]string{"files": folder},
		Stores:      map[string]map[string][]byte{"counts": {"count": []byte("41")}},
		Services: map[string]func(string, string) (string, error){
			"index": func(method, input string) (string, error) {
				return fmt.Sprintf(`{"Name":%q}`, method+input), nil
			},
		},
		Ask: func(portcullis.Permission, string, string) error { return nil },
	}
	answer, err := portcullistest.Call(t, host, "use", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	if want := `content of find{"count":41}`; answer.Output != want {
		t.Errorf("got %v, want %s", answer.Output, want)
	}
	if string(host.Stores["counts"]["count"]) != "42" || len(host.Reported) != 1 || len(host.Logged) != 1 {
		t.Errorf("got %+v", host)
	}
}

func TestAClientSendsARequestAndReadsItsAnswer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		writer.Header().Set("X-Answer", request.Header.Get("X-Test"))
		writer.WriteHeader(http.StatusTeapot)
		_, _ = io.Copy(writer, request.Body)
	}))
	defer server.Close()
	answer, err := portcullistest.Call(t, nil, "get", fmt.Sprintf(`{"word":%q}`, server.URL+"/a?b=c"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "418 [probe] body"; answer.Output != want {
		t.Errorf("got %v, want %s", answer.Output, want)
	}
	_, err = portcullistest.Call(t, nil, "get", `{"word":"ftp://example.com"}`)
	if failure := portcullis.FailureOf(err); failure.Kind != portcullis.KindInvalidArguments {
		t.Errorf("got %+v", failure)
	}
}

func TestWhatIsNotGrantedIsDenied(t *testing.T) {
	_, err := portcullistest.Call(t, nil, "use", `{}`)
	if failure := portcullis.FailureOf(err); failure.Kind != portcullis.KindDenied {
		t.Errorf("got %+v", failure)
	}
}
