//! The tokens of a task with 40 calls among 200 tools: for a model that calls the tools itself, and for one that writes
//! a script. Every definition, result and answer is that of the real program.

use crate::office::Office;
use crate::tokens::{counted, definitions};
use portcullis_tests::{botocore, shipped_plugins};
use serde_json::{Value, json};
use std::fs;

/// Tools that the model could call.
const TOOLS: usize = 200;

/// Files to read, with one call each.
const CALLS: usize = 40;

/// How many tokens fewer the script must need, in percent.
const FEWER_PERCENT: u64 = 90;

const POLICY: &str = "[plugin.clerk]\ndirectory.desk = { path = \"desk\" }\n[approvals]\nrepeats = 1000\n\
    [plugin.files]\ndirectory.workspace = { path = \"desk\" }\n\
    [plugin.script]\ntools.tools = { tools = [\"files.*\"], calls = 100 }\n\
    [[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n";

/// What the model is asked.
const TASK: &str = "Which of the 40 modules below src have an open TODO, and how many lines have they together?";

const QUERY: &str = "find and read files";

/// What the model writes after the search.
const CODE: &str = "const paths = (await tools.files.glob({ pattern: 'src/*.rs' })).trim().split('\\n').filter(p => p.endsWith('.rs'));
const found = [];
let lines = 0;
for (const path of paths) {
  const text = await tools.files.read({ path });
  if (text.includes('TODO')) { found.push(path); lines += text.split('\\n').length; }
}
return { found, lines };";

/// A module of some length: one in ten has a TODO.
fn module(number: usize) -> String {
    let function = |index: usize| {
        format!(
            "/// Returns the sum of part {index} of module {number}.\npub fn part_{index}(values: &[u64]) -> u64 {{\n    \
             values.iter().skip({index}).step_by({number} + 1).sum()\n}}\n\n"
        )
    };
    let todo = if number % 10 == 3 { "// TODO: handle overflow\n" } else { "" };
    format!("//! Module {number}.\n\n{todo}{}", (0..12).map(function).collect::<String>())
}

/// Returns the text of a completed call.
fn text(reply: &str) -> String {
    let reply: Value = serde_json::from_str(reply).unwrap();
    assert_eq!(reply["outcome"], "completed", "{reply}");
    reply["output"]["text"].as_str().unwrap_or_else(|| panic!("{reply}")).to_owned()
}

/// The parts of a conversation, in tokens: definitions, which each request repeats, and messages, each of which all
/// later requests repeat.
struct Conversation {
    definitions: u64,
    messages: Vec<u64>,
}

impl Conversation {
    /// Returns the input of all requests, if each one but the first follows this many new messages.
    fn input(&self, new_messages: usize) -> u64 {
        let mut input = 0;
        for request in 0.. {
            let known = 1 + request * new_messages;
            if known > self.messages.len() {
                break;
            }
            input += self.definitions + self.messages[..known].iter().sum::<u64>();
        }
        input
    }
}

fn call(name: &str, arguments: &Value) -> String {
    json!([{ "id": "call_1", "type": "function", "function": { "name": name, "arguments": arguments.to_string() } }])
        .to_string()
}

#[test]
fn a_script_needs_a_tenth_of_the_tokens_of_40_calls_among_200_tools() {
    let office = Office::new(POLICY);
    for name in ["files", "memory", "todo", "web", "script"] {
        let to = office.path(format!("plugins/{name}.wasm").as_str());
        fs::copy(shipped_plugins().join(format!("{name}.wasm")), to).unwrap();
    }
    fs::create_dir(office.path("desk/src")).unwrap();
    for number in 0..CALLS {
        fs::write(office.path(&format!("desk/src/module_{number:02}.rs")), module(number)).unwrap();
    }
    let exported: Value = serde_json::from_str(&office.portcullis(&["export", "--format", "openai-chat"])).unwrap();
    let own = definitions(&exported["tools"]);
    let is_of_script = |text: &&String| text.contains("\"script__");
    let of_script: Vec<String> = own.iter().filter(is_of_script).cloned().collect();
    assert_eq!(of_script.len(), 2, "{own:?}");
    let mut of_all: Vec<String> = own.into_iter().filter(|text| !is_of_script(&text)).collect();
    let third = botocore::manifests().into_iter().flat_map(|manifest| {
        let name = manifest.name;
        manifest.tools.into_iter().map(move |tool| {
            let parameters: Value = serde_json::from_str(&tool.schema).unwrap();
            let name = format!("{name}__{}", tool.name);
            let function = json!({ "name": name, "description": tool.description, "parameters": parameters });
            json!({ "type": "function", "function": function }).to_string()
        })
    });
    let missing = TOOLS - of_all.len();
    of_all.extend(third.take(missing));
    assert_eq!(of_all.len(), TOOLS);

    // The model calls the tools itself: a call and a result for each file.
    let mut direct = vec![TASK.to_owned()];
    for number in 0..CALLS {
        let arguments = json!({ "path": format!("src/module_{number:02}.rs") });
        direct.push(call("files__read", &arguments));
        direct.push(text(&office.portcullis(&["call", "files.read", &arguments.to_string()])));
    }
    // It writes a script: a search, its result, the script, its result.
    let (search, run) = (json!({ "query": QUERY }), json!({ "code": CODE }));
    let found = text(&office.portcullis(&["call", "script.search", &search.to_string()]));
    let result = text(&office.portcullis(&["call", "script.run", &run.to_string()]));
    assert!(result.contains("module_03") && result.contains("module_33"), "{result}");
    let script = vec![TASK.to_owned(), call("script__search", &search), found, call("script__run", &run), result];

    let tokens = |definitions: &[String], messages: &[String]| {
        let counts = counted(&office, &[definitions, messages].concat());
        let (definitions, messages) = counts.split_at(definitions.len());
        Conversation { definitions: definitions.iter().sum(), messages: messages.to_vec() }
    };
    let (direct, script) = (tokens(&of_all, &direct), tokens(&of_script, &script));
    let one_by_one = direct.input(2);
    let together = direct.input(2 * CALLS);
    let scripted = script.input(2);
    println!(
        "definitions {} and {}; input of all requests: one call in each {one_by_one}, all calls in one {together}, script {scripted}",
        direct.definitions, script.definitions
    );
    for direct in [one_by_one, together] {
        let fewer = 100 - scripted * 100 / direct;
        assert!(fewer >= FEWER_PERCENT, "{fewer} % fewer: {scripted} instead of {direct}");
    }
}
