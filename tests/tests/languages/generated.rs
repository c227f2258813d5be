//! Tools that a plugin makes from a file of its directory, in each language whose SDK has generators besides Rust. The
//! same plugin is built and called in the real host.

use crate::python::written;
use crate::row::repository;
use crate::templates::shell;
use std::fs;
use std::path::{Path, PathBuf};

const PYTHON: &str = r#"
from portcullis import Context, GeneratedCall, GeneratedTool, Plugin

plugin = Plugin("greetings", version="1.0.0", description="Greets in the words of a file.")
plugin.directory("words", "the file words.txt")
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": False,
}

@plugin.generator
def greetings(context: Context) -> list[GeneratedTool]:
    words = (context.directory("words") / "words.txt").read_text().split()
    return [GeneratedTool(word, f"Says {word}.", SCHEMA, hints=["read_only"]) for word in words]

@plugin.generated
def greet(call: GeneratedCall) -> str:
    return f"{call.tool}, {call.arguments['name']}{call.context.setting('mark')}"
"#;

const GO: &str = r#"package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"portcullis.dev/portcullis"
	_ "portcullis.dev/portcullis/generate"
)

const schema = `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"],"additionalProperties":false}`

func generate(ctx *portcullis.Context) (tools []portcullis.GeneratedTool, err error) {
	folder, err := ctx.Directory("words")
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(folder, "words.txt"))
	if err != nil {
		return nil, err
	}
	for word := range strings.FieldsSeq(string(text)) {
		tools = append(tools, portcullis.GeneratedTool{
			Name: word, Description: "Says " + word + ".", Schema: json.RawMessage(schema),
			Hints: []portcullis.Hint{portcullis.ReadOnly},
		})
	}
	return tools, nil
}

func run(ctx *portcullis.Context, tool string, arguments json.RawMessage) (any, error) {
	var named struct{ Name string `json:"name"` }
	if err := json.Unmarshal(arguments, &named); err != nil {
		return nil, err
	}
	mark, _ := ctx.Setting("mark")
	return fmt.Sprintf("%s, %s%s", tool, named.Name, mark), nil
}

func init() {
	portcullis.Register(portcullis.Plugin{
		Name:         "greetings",
		Version:      "1.0.0",
		Description:  "Greets in the words of a file.",
		Dependencies: []portcullis.Dependency{{Key: "words", Kind: portcullis.KindDirectory, Reason: "the file words.txt"}},
		Generator:    &portcullis.Generator{Generate: generate, Run: run},
	})
}

func main() {}
"#;

const POLICY: &str = "[plugin.greetings]\nconfig = { mark = \"!\" }\n\
    directory.words = { path = \"words\", access = \"read-only\" }\n\
    [[rule]]\ntool = \"greetings.*\"\ndecision = \"allow\"\n";

/// Writes a project in Go.
pub(crate) fn in_go(place: &Path, name: &str, source: &str) -> PathBuf {
    let (project, sdk) = (place.join(name), repository().join("sdk/go"));
    fs::create_dir(&project).unwrap();
    let about = format!("name = \"{name}\"\nlanguage = \"go\"\nsdk = \"{}\"\n", sdk.display());
    fs::write(project.join("plugin.toml"), about).unwrap();
    let module = format!(
        "module {name}\n\ngo 1.27\n\nrequire portcullis.dev/portcullis v0.1.0\n\n\
         replace portcullis.dev/portcullis => {}\n",
        sdk.display()
    );
    fs::write(project.join("go.mod"), module).unwrap();
    fs::write(project.join("plugin.go"), source).unwrap();
    project
}

/// Builds the plugin, and calls the tools that it makes of a file. `missing` is a part of the error without the file.
fn makes_tools_of_a_file(project: &Path, missing: &str) {
    let state = project.with_extension("state");
    fs::write(project.join("policy.toml"), POLICY).unwrap();
    fs::create_dir(project.join("words")).unwrap();
    fs::write(project.join("words/words.txt"), "hello bye").unwrap();
    shell(project, &state, "portcullis build").ends(0);
    let call = |tool: &str, arguments: &str| {
        let line = format!("portcullis call greetings.{tool} '{arguments}' --json --policy policy.toml");
        shell(project, &state, &line).document()
    };
    for tool in ["hello", "bye"] {
        let reply = call(tool, r#"{"name":"Ada"}"#);
        assert_eq!(reply["output"]["text"], format!("{tool}, Ada!"), "{reply}");
    }
    // The schema of a generated tool is checked, and a word that is not in the file is no tool.
    assert_eq!(call("hello", "{}")["code"], "invalid-arguments");
    assert_eq!(call("moin", r#"{"name":"Ada"}"#)["code"], "unknown-tool");
    // Without the file the plugin is refused, with the reason.
    fs::remove_file(project.join("words/words.txt")).unwrap();
    let refused = shell(project, &state, "portcullis list --policy policy.toml");
    let told = format!("{}{}", refused.out, refused.err);
    assert!(told.contains("it could not generate its tools") && told.contains(missing), "{told}");
}

#[test]
fn python_makes_tools_of_a_file() {
    let place = tempfile::tempdir().unwrap();
    makes_tools_of_a_file(&written(place.path(), "greetings", PYTHON, ""), "FileNotFoundError");
}

#[test]
fn go_makes_tools_of_a_file() {
    let place = tempfile::tempdir().unwrap();
    makes_tools_of_a_file(&in_go(place.path(), "greetings", GO), "No such file");
}

#[test]
fn a_generator_in_python_needs_the_function_that_runs_its_tools() {
    let place = tempfile::tempdir().unwrap();
    let without = PYTHON.split("@plugin.generated").next().unwrap();
    let project = written(place.path(), "greetings", without, "");
    let ran = shell(&project, &place.path().join("state"), "portcullis build");
    assert!(ran.code != Some(0) && ran.err.contains("write both"), "{}", ran.err);
}

#[test]
fn a_generator_in_go_needs_the_package_that_exports_it() {
    let place = tempfile::tempdir().unwrap();
    let without = GO.replace("\t_ \"portcullis.dev/portcullis/generate\"\n", "");
    let project = in_go(place.path(), "greetings", &without);
    let ran =
        shell(&project, &place.path().join("state"), "portcullis build && portcullis check plugins/greetings.wasm");
    let told = format!("{}{}", ran.out, ran.err);
    assert!(ran.code != Some(0) && told.contains("portcullis.dev/portcullis/generate"), "{told}");
}
