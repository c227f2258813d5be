package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"strings"

	"portcullis.dev/portcullis"
)

const (
	workspace = "/workspace"
	notes     = "notes"
)

// The tools that use handles. Files and requests go through the standard library.
func handles() []*portcullis.Tool {
	reads := portcullis.Requires(portcullis.Read)
	writes := portcullis.Requires(portcullis.Read, portcullis.Write)
	return []*portcullis.Tool{
		portcullis.NewTool("read", "Reads a file of the workspace.", read, reads, portcullis.ReadOnly, portcullis.Idempotent),
		portcullis.NewTool("write", "Writes a file of the workspace.", write, writes, portcullis.Destructive, portcullis.Idempotent),
		portcullis.NewTool("list", "Lists a directory of the workspace.", list, reads, portcullis.ReadOnly, portcullis.Idempotent),
		portcullis.NewTool("remove", "Removes a file of the workspace.", remove, writes, portcullis.Destructive),
		portcullis.NewTool("fetch", "Sends a request, and shows the response.", fetch, portcullis.Requires(portcullis.Network), portcullis.OpenWorld),
		portcullis.NewTool("remember", "Keeps a value in the store.", remember, portcullis.Requires(portcullis.Write), portcullis.Idempotent),
		portcullis.NewTool("recall", "Finds a value in the store.", recall, reads, portcullis.ReadOnly, portcullis.Idempotent),
	}
}

// cannot says what did not work. The failure is not of the kind that the cause may have.
func cannot(do, what string, cause error) error {
	return fmt.Errorf("cannot %s %s: %v", do, what, cause)
}

type pathArguments struct {
	Path string `json:"path" description:"The path in the workspace."`
}

func read(_ *portcullis.Context, arguments pathArguments) (string, error) {
	content, err := os.ReadFile(path.Join(workspace, arguments.Path))
	if err != nil {
		return "", cannot("read", arguments.Path, err)
	}
	return string(content), nil
}

type writeArguments struct {
	Path string `json:"path" description:"The path in the workspace."`
	Text string `json:"text" description:"What to write."`
}

func write(_ *portcullis.Context, arguments writeArguments) (string, error) {
	place := path.Join(workspace, arguments.Path)
	err := os.MkdirAll(path.Dir(place), 0o777)
	if err == nil {
		err = os.WriteFile(place, []byte(arguments.Text), 0o666)
	}
	if err != nil {
		return "", cannot("write", arguments.Path, err)
	}
	return fmt.Sprintf("wrote %d bytes", len(arguments.Text)), nil
}

type listing struct {
	Entries []entry `json:"entries"`
}

type entry struct {
	Name string `json:"name"`
	Kind string `json:"kind" enum:"file,directory"`
	Size int64  `json:"size"`
}

func list(_ *portcullis.Context, arguments pathArguments) (listing, error) {
	// Sorted by name.
	found, err := os.ReadDir(path.Join(workspace, arguments.Path))
	if err != nil {
		return listing{}, cannot("list", arguments.Path, err)
	}
	entries := []entry{}
	for _, one := range found {
		if one.IsDir() {
			entries = append(entries, entry{one.Name(), "directory", 0})
			continue
		}
		info, err := one.Info()
		if err != nil {
			return listing{}, cannot("list", arguments.Path, err)
		}
		entries = append(entries, entry{one.Name(), "file", info.Size()})
	}
	return listing{entries}, nil
}

func remove(_ *portcullis.Context, arguments pathArguments) (string, error) {
	if err := os.Remove(path.Join(workspace, arguments.Path)); err != nil {
		return "", cannot("remove", arguments.Path, err)
	}
	return "removed", nil
}

type fetchArguments struct {
	URL    string `json:"url" description:"Where to."`
	Method string `json:"method" default:"GET" description:"The method."`
	Body   string `json:"body,omitempty" description:"What to send."`
}

type fetched struct {
	Status int     `json:"status"`
	Type   *string `json:"type"`
	Body   string  `json:"body"`
}

func fetch(ctx *portcullis.Context, arguments fetchArguments) (fetched, error) {
	answer, err := send(ctx, arguments)
	if err != nil {
		return fetched{}, portcullis.Unavailable(fmt.Sprintf("cannot fetch %s: %v", arguments.URL, err))
	}
	return answer, nil
}

func send(ctx *portcullis.Context, arguments fetchArguments) (fetched, error) {
	body := strings.NewReader(arguments.Body)
	request, err := http.NewRequestWithContext(ctx, arguments.Method, arguments.URL, body)
	if err != nil {
		return fetched{}, err
	}
	request.Header.Set("x-test", "conformance")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fetched{}, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return fetched{}, err
	}
	answer := fetched{Status: response.StatusCode, Body: string(content)}
	if kind := response.Header.Get("Content-Type"); kind != "" {
		answer.Type = &kind
	}
	return answer, nil
}

type rememberArguments struct {
	Key   string          `json:"key" description:"The key."`
	Value json.RawMessage `json:"value" description:"Any JSON."`
}

func remember(ctx *portcullis.Context, arguments rememberArguments) (string, error) {
	store, err := ctx.Store(notes)
	if err != nil {
		return "", err
	}
	return "remembered", store.SetJSON(arguments.Key, arguments.Value)
}

func recall(ctx *portcullis.Context, arguments key) (found, error) {
	store, err := ctx.Store(notes)
	if err != nil {
		return found{}, err
	}
	var value any
	_, err = store.GetJSON(arguments.Key, &value)
	return found{value}, err
}
