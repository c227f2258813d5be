//! Tools that a plugin hides and narrows, in each language whose SDK has preparers besides Rust. The same plugin is
//! built and called in the real host.

use crate::generated::in_go;
use crate::python::written;
use crate::templates::shell;
use serde_json::Value;
use std::fs;
use std::path::Path;

const PYTHON: &str = r#"
from portcullis import Plugin, Preparation, Preparing

plugin = Plugin("lists", version="1.0.0", description="Keeps a list.")

@plugin.tool()
def add(entry: str) -> str:
    """Adds an entry."""
    return f"Added {entry}."

@plugin.tool()
def erase() -> str:
    """Erases the list."""
    return "Erased."

@plugin.preparer
def reduce(offer: Preparing) -> list[Preparation]:
    caller, reduced = offer.caller, []
    if offer.context.setting("fails"):
        raise ValueError("no list today")
    if caller.automated or caller.client == "stranger" or caller.model == "small" or offer.context.setting("keep"):
        reduced.append(Preparation.hide("erase", f"not for {caller.principal} in {caller.session}"))
    if entries := offer.context.setting("entries"):
        schema = {"type": "object", "properties": {"entry": {"enum": entries.split()}}}
        reduced.append(Preparation.narrow("add", schema, "Adds one of the usual entries."))
    return reduced
"#;

const GO: &str = r#"package main

import (
	"encoding/json"
	"strings"

	"portcullis.dev/portcullis"
	_ "portcullis.dev/portcullis/prepare"
)

type entry struct {
	Entry string `json:"entry"`
}

func add(_ *portcullis.Context, arguments entry) (string, error) { return "Added " + arguments.Entry + ".", nil }

func erase(*portcullis.Context, struct{}) (string, error) { return "Erased.", nil }

func prepare(ctx *portcullis.Context, caller portcullis.Caller) (reduced []portcullis.Preparation) {
	if _, fails := ctx.Setting("fails"); fails {
		panic("no list today")
	}
	_, keep := ctx.Setting("keep")
	if caller.Automated || caller.Client == "stranger" || caller.Model == "small" || keep {
		reduced = append(reduced, portcullis.Hide("erase", "not for "+caller.Principal+" in "+caller.Session))
	}
	if entries, has := ctx.Setting("entries"); has {
		names, _ := json.Marshal(strings.Fields(entries))
		schema := json.RawMessage(`{"type":"object","properties":{"entry":{"enum":` + string(names) + `}}}`)
		reduced = append(reduced, portcullis.Narrow("add", schema).Described("Adds one of the usual entries."))
	}
	return reduced
}

func init() {
	portcullis.Register(portcullis.Plugin{
		Name:        "lists",
		Version:     "1.0.0",
		Description: "Keeps a list.",
		Tools: []*portcullis.Tool{
			portcullis.NewTool("add", "Adds an entry.", add),
			portcullis.NewTool("erase", "Erases the list.", erase),
		},
		Preparer: prepare,
	})
}

func main() {}
"#;

/// The line of the plugin in Go that makes its component export the preparer.
const GO_PACKAGE: &str = "\t_ \"portcullis.dev/portcullis/prepare\"\n";

/// The plugin in its project, with settings of the policy.
struct Lists<'a> {
    project: &'a Path,
    settings: &'a str,
}

impl Lists<'_> {
    /// Runs a command of the program, and returns its document.
    fn run(&self, command: &str) -> Value {
        let policy = format!(
            "[plugin.lists]\nconfig = {{ {} }}\n[[rule]]\ntool = \"lists.*\"\ndecision = \"allow\"\n",
            self.settings
        );
        fs::write(self.project.join("policy.toml"), policy).unwrap();
        let line = format!("portcullis {command} --json --policy policy.toml");
        shell(self.project, &self.project.with_extension("state"), &line).document()
    }

    /// Returns what `portcullis list` says about a tool.
    fn listed(&self, tool: &str) -> Value {
        let listed = self.run("list");
        let plugins = listed["plugins"].as_array().unwrap().iter();
        let mut tools = plugins.flat_map(|plugin| plugin["tools"].as_array().unwrap());
        tools.find(|listed| listed["name"] == format!("lists.{tool}")).unwrap_or_else(|| panic!("{listed}")).clone()
    }
}

/// Builds the plugin, and calls its tools as callers that are offered fewer tools or narrower ones.
fn offers_less(project: &Path, failure: &str) {
    shell(project, &project.with_extension("state"), "portcullis build").ends(0);
    let narrowed = Lists { project, settings: "entries = \"milk bread\"" };
    let (add, erase) = (narrowed.listed("add"), narrowed.listed("erase"));
    assert_eq!((&add["hidden"], &add["narrowed"]), (&Value::Null, &Value::Bool(true)), "{add}");
    assert_eq!(add["description"], "Adds one of the usual entries.");
    assert_eq!((&erase["hidden"], &erase["narrowed"]), (&Value::Null, &Value::Bool(false)), "{erase}");
    assert_eq!(narrowed.run(r#"call lists.add '{"entry":"milk"}'"#)["output"]["text"], "Added milk.");
    assert_eq!(narrowed.run(r#"call lists.add '{"entry":"tea"}'"#)["code"], "invalid-arguments");
    assert_eq!(narrowed.run("call lists.erase")["output"]["text"], "Erased.");
    assert_eq!(narrowed.run("call lists.erase --automated")["code"], "unknown-tool");
    // The client and the model reach the plugin too.
    for (option, hides) in [("", false), ("--client stranger", true), ("--client other --model small", true)] {
        let exported = narrowed.run(&format!("export --format anthropic {option}")).to_string();
        assert!(exported.contains("milk") && exported.contains("lists__erase") != hides, "{option}: {exported}");
    }
    let hidden = Lists { project, settings: "keep = \"yes\"" };
    assert_eq!(hidden.listed("erase")["hidden"], "not for local in default");
    assert_eq!(hidden.run("call lists.erase")["code"], "unknown-tool");
    assert_eq!(hidden.run(r#"call lists.add '{"entry":"tea"}'"#)["output"]["text"], "Added tea.");
    // A preparer that fails offers nothing, and the operator reads why.
    let failing = Lists { project, settings: "fails = \"yes\"" };
    let why = failing.listed("add")["hidden"].to_string();
    assert!(why.contains(failure) && why.contains("no list today"), "{why}");
}

#[test]
fn python_hides_and_narrows_tools() {
    let place = tempfile::tempdir().unwrap();
    offers_less(&written(place.path(), "lists", PYTHON, ""), "ValueError");
}

#[test]
fn go_hides_and_narrows_tools() {
    let place = tempfile::tempdir().unwrap();
    offers_less(&in_go(place.path(), "lists", GO), "panic");
}

/// No world of the contract has two of the optional exports.
#[test]
fn a_preparer_excludes_a_generator() {
    let place = tempfile::tempdir().unwrap();
    let state = place.path().join("state");
    let generator = "\n@plugin.generator\ndef make(context):\n    return []\n";
    let python = written(place.path(), "in-python", &format!("{PYTHON}{generator}"), "");
    let both = GO.replace(GO_PACKAGE, &format!("{GO_PACKAGE}{}", GO_PACKAGE.replace("prepare", "generate")));
    let go = in_go(place.path(), "in-go", &both);
    for project in [python, go] {
        let ran = shell(&project, &state, "portcullis build");
        let told = "a plugin has a reviewer, a generator or a preparer, but only one of them";
        assert!(ran.code != Some(0) && ran.err.contains(told), "{}", ran.err);
    }
}

#[test]
fn a_preparer_in_go_needs_the_package_that_exports_it() {
    let place = tempfile::tempdir().unwrap();
    let project = in_go(place.path(), "lists", &GO.replace(GO_PACKAGE, ""));
    let ran = shell(&project, &place.path().join("state"), "portcullis build && portcullis check plugins/lists.wasm");
    let told = format!("{}{}", ran.out, ran.err);
    assert!(ran.code != Some(0) && told.contains("portcullis.dev/portcullis/prepare"), "{told}");
}
