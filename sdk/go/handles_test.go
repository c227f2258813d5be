//go:build !wasip1

package portcullis_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"portcullis.dev/portcullis"
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
