//go:build !wasip1

package portcullis_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"portcullis.dev/portcullis"
	"portcullis.dev/portcullis/nethttp"
	"portcullis.dev/portcullis/portcullistest"
)

// closes answers with what the handles say once they are closed.
func closes(ctx *portcullis.Context, _ struct{}) ([]string, error) {
	store, err := ctx.Store("notes")
	if err != nil {
		return nil, err
	}
	service, err := ctx.Service("index")
	if err != nil {
		return nil, err
	}
	client, err := ctx.Client("web")
	if err != nil {
		return nil, err
	}
	for range 2 {
		_, _, _ = store.Close(), service.Close(), client.Close()
	}
	_, getting := store.Get("a")
	var listing error
	for _, listing = range store.Keys() {
	}
	calling := service.Call("find", nil, nil)
	_, sending := client.Do(ctx, portcullis.Request{URL: "http://127.0.0.1/"})
	return []string{fmt.Sprint(getting), fmt.Sprint(listing), fmt.Sprint(calling), fmt.Sprint(sending)}, nil
}

// stray answers with why there is no handle.
func stray(ctx *portcullis.Context, _ struct{}) ([]string, error) {
	_, directory := ctx.Directory("files")
	_, client := ctx.Client("web")
	_, transport := nethttp.Client(ctx, "web")
	_, program := ctx.Program("wc")
	return []string{fmt.Sprint(directory), fmt.Sprint(client), fmt.Sprint(transport), fmt.Sprint(program)}, nil
}

// peek changes a store that it may only read.
func peek(ctx *portcullis.Context, _ struct{}) ([]string, error) {
	store, err := ctx.Store("counts")
	if err != nil {
		return nil, err
	}
	if _, err := store.Get("count"); err != nil {
		return nil, err
	}
	return []string{fmt.Sprint(store.Delete("count")), fmt.Sprint(store.Set("count", []byte("7")))}, nil
}

func TestAToolGetsNoMoreThanItDeclares(t *testing.T) {
	host := &portcullistest.Host{
		Directories: map[string]string{"files": t.TempDir()},
		Stores:      map[string]map[string][]byte{"counts": {"count": []byte("1")}},
	}
	answer, err := portcullistest.Call(t, host, "stray", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	told := fmt.Sprintf("%s", answer.Output)
	for _, wanted := range []string{
		"the tool does not declare `read` or `write`, so it has no directory `files`",
		"the tool does not declare `network`, so it has no HTTP client `web`",
		"the tool does not declare `execute`, so it has no program `wc`",
	} {
		if !strings.Contains(told, wanted) {
			t.Errorf("got %s, want %s", told, wanted)
		}
	}
	if strings.Count(told, "`network`") != 2 {
		t.Errorf("net/http gets a client: %s", told)
	}
	answer, err = portcullistest.Call(t, host, "peek", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	told = fmt.Sprintf("%s", answer.Output)
	refusal := "the store is read-only for this tool: it declares `read` and not `write`"
	if strings.Count(told, refusal) != 2 || string(host.Stores["counts"]["count"]) != "1" {
		t.Errorf("got %s and %v", told, host.Stores)
	}
}

func TestAClosedHandleSaysSo(t *testing.T) {
	host := &portcullistest.Host{
		Stores:   map[string]map[string][]byte{"notes": {}},
		Services: map[string]func(string, string) (string, error){"index": nil},
	}
	answer, err := portcullistest.Call(t, host, "close", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%s", answer.Output); strings.Count(got, "file already closed") != 4 {
		t.Errorf("got %s", got)
	}
}

// The race detector sees too what a goroutine reads that outlives the call.
func TestNothingAsksTheHostAfterACall(t *testing.T) {
	before := runtime.NumGoroutine()
	if _, err := portcullistest.Call(t, nil, "end", `{"word":"watched"}`); err == nil {
		t.Fatal("there is no failure")
	}
	for end := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a goroutine of the call is still there")
		}
	}
}
