package main

import (
	"testing"

	"portcullis.dev/portcullis/portcullistest"
)

func TestGreetsByName(t *testing.T) {
	answer, err := portcullistest.Call(t, nil, "greet", `{"name":"Ada"}`)
	if err != nil {
		t.Fatal(err)
	}
	if answer.Output != "Hello, Ada!" {
		t.Errorf("got %v", answer.Output)
	}
}
