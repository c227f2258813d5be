//go:build !wasip1

package portcullis_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"portcullis.dev/portcullis"
	"portcullis.dev/portcullis/portcullistest"
)

// A generator that makes a tool of each word of a file.
var greetings = &portcullis.Generator{
	Generate: func(ctx *portcullis.Context) ([]portcullis.GeneratedTool, error) {
		if mode, _ := ctx.Setting("mode"); mode == "panic" {
			panic("at the disco")
		}
		folder, err := ctx.Directory("workspace")
		if err != nil {
			return nil, err
		}
		text, err := os.ReadFile(filepath.Join(folder, "words.txt"))
		if err != nil {
			return nil, err
		}
		var tools []portcullis.GeneratedTool
		for word := range strings.FieldsSeq(string(text)) {
			tools = append(tools, portcullis.GeneratedTool{
				Name:        word,
				Description: "Says " + word + ".",
				Schema:      json.RawMessage(`{"type":"object"}`),
			})
		}
		return tools, nil
	},
	Run: func(_ *portcullis.Context, tool string, arguments json.RawMessage) (any, error) {
		switch tool {
		case "none":
			return nil, portcullis.Denied("not today")
		case "list":
			return []string{"a", "b"}, nil
		default:
			return fmt.Sprintf("%s %s", tool, arguments), nil
		}
	},
}

func TestAGeneratorReadsItsDirectory(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "words.txt"), []byte("hello bye"), 0o600); err != nil {
		t.Fatal(err)
	}
	tools, err := portcullistest.Generate(t, &portcullistest.Host{Directories: map[string]string{"workspace": folder}})
	var names []string
	for _, tool := range tools {
		names = append(names, tool.Name)
	}
	if err != nil || !reflect.DeepEqual(names, []string{"hello", "bye"}) {
		t.Errorf("got %v, %v", names, err)
	}
}

func TestAGeneratorThatFailsSaysWhy(t *testing.T) {
	if _, err := portcullistest.Generate(t, nil); err == nil || !strings.Contains(err.Error(), "workspace") {
		t.Errorf("got %v", err)
	}
	host := &portcullistest.Host{Settings: map[string]string{"mode": "panic"}}
	if _, err := portcullistest.Generate(t, host); err == nil || !strings.Contains(err.Error(), "at the disco") {
		t.Errorf("got %v", err)
	}
}

func TestAGeneratedToolRuns(t *testing.T) {
	answer, err := portcullistest.Call(t, nil, "moin", `{"name":"Ada"}`)
	if err != nil || answer.Text() != `moin {"name":"Ada"}` {
		t.Errorf("got %v, %v", answer, err)
	}
	if answer, err = portcullistest.Call(t, nil, "list", `{}`); err != nil || answer.Text() != `["a","b"]` {
		t.Errorf("got %v, %v", answer, err)
	}
	var failure *portcullis.Failure
	if _, err := portcullistest.Call(t, nil, "none", `{}`); !errors.As(err, &failure) || failure.Kind != portcullis.KindDenied {
		t.Errorf("got %v", err)
	}
}
