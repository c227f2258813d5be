//! The conformance level of a plugin: for each level a plugin that reaches exactly it, and what keeps it from the next.

use crate::author::bench::Bench;
use portcullis::plugins::Contract;
use portcullis_tests::{Manifest, Tool, built_guest, guest, shipped_plugin, with_fields};
use serde_json::{Value, json};

/// A schema without lints, with one required member.
const CLOSED: &str = r#"{"type":"object","additionalProperties":false,"required":["path"],"properties":{
    "path":{"type":"string","description":"Where it is."}}}"#;

/// A manifest without lints.
fn clear(name: &str) -> Manifest {
    Manifest::of(name).tool(|tool| tool.schema = CLOSED.to_owned())
}

/// Returns the level of a component, its name, and what keeps it from the next one.
#[track_caller]
fn level(name: &str, bytes: &[u8], code: i32) -> (u64, String, Vec<String>, Value) {
    let bench = Bench::new();
    bench.component(name, bytes);
    let document = bench.run(&["check", &format!("{name}.wasm"), "--json"]).ends(code).document();
    let conformance = document["conformance"].clone();
    assert_eq!(conformance["of"], 3, "{document:#}");
    let kept = conformance["kept_from_next"].as_array().unwrap().iter();
    let kept = kept.map(|reason| reason.as_str().unwrap().to_owned()).collect();
    let (number, word) = (conformance["level"].as_u64().unwrap(), conformance["name"].as_str().unwrap().to_owned());
    (number, word, kept, conformance)
}

#[test]
fn a_refused_plugin_has_no_level() {
    let unknown = with_fields(&guest("good", &clear("tool")), "(import \"unknown:origin/this\" (instance))");
    let others = [b"no component".to_vec(), guest("describe-traps", &clear("tool")), unknown];
    for bytes in others.iter().chain(&[guest("describe-counts", &clear("tool")), guest("good", &clear("other"))]) {
        let (number, word, kept, conformance) = level("tool", bytes, 7);
        assert_eq!((number, word.as_str()), (0, "refused"));
        assert_eq!(kept.len(), 1, "{kept:?}");
        assert_eq!(conformance["contract"], Value::Null);
    }
}

#[test]
fn a_plugin_with_lints_only_loads_and_is_not_run() {
    // This guest would run forever.
    let manifest = clear("tool").tool(|tool| tool.description = "Short.".to_owned());
    let (number, word, kept, conformance) = level("tool", &guest("loop-in-execute", &manifest), 0);
    assert_eq!((number, word.as_str()), (1, "loads"));
    assert!(kept.len() == 1 && kept[0].contains("short-description"), "{kept:?}");
    assert_eq!(conformance["contract"], "0.1");
}

/// Every way in which a run can fail.
#[test]
fn a_plugin_that_fails_when_run_is_only_clear() {
    for (name, says) in [
        ("trap-on-demand", "it trapped"),
        ("loop-in-execute", "it did not end when it was cancelled"),
        ("exit-one", "it exited with status 1"),
        ("exit-zero", "it exited with status 0"),
        ("deep-recursion", "it reached the limit on"),
        ("memory-growth", "it reached the limit on memory"),
        ("json-that-is-none", "its answer is not usable: it is not JSON"),
        ("string-not-utf8", "it trapped"),
    ] {
        let (number, word, kept, _) = level("tool", &guest(name, &clear("tool")), 0);
        assert_eq!((number, word.as_str()), (2, "clear"), "{name}: {kept:?}");
        assert!(kept.iter().any(|reason| reason.contains("run {\"path\":\"\"}") && reason.contains(says)), "{kept:?}");
    }
}

/// A plugin that keeps its promises, but traps for a tool that it never offered.
#[test]
fn an_unknown_tool_is_tried_too() {
    let clear = Manifest::of("tool").tool(|tool| {
        r#"{"type":"object","additionalProperties":false,"properties":{}}"#.clone_into(&mut tool.schema);
    });
    // It answers `run`, which has three letters, and traps for every longer name.
    let fields = "(func $execute (param i32 i32 i32 i32) (result i32)\n\
        (if (i32.gt_u (local.get 1) (i32.const 3)) (then unreachable))\n\
        (call $answer (i32.const 0) (local.get 2) (local.get 3)))";
    let bytes = portcullis_tests::component(&portcullis_tests::module(fields, &clear));
    let (number, _, kept, _) = level("tool", &bytes, 0);
    assert_eq!(number, 2);
    assert!(kept.len() == 1 && kept[0].starts_with("a tool that it never offered: it trapped"), "{kept:?}");
}

#[test]
fn output_that_violates_its_schema_is_a_failure() {
    let manifest = clear("tool").tool(|tool| tool.output_schema = Some(r#"{"type":"object"}"#.to_owned()));
    let (number, _, kept, _) = level("tool", &guest("good", &manifest), 0);
    assert_eq!(number, 2);
    assert!(kept[0].contains("promises JSON"), "{kept:?}");
}

#[test]
fn a_tool_that_ends_correctly_without_handles_is_robust() {
    for (name, bytes) in [
        ("tool", guest("good", &clear("tool"))),
        ("tool", guest("waits-for-cancellation", &clear("tool"))),
        ("files", shipped_plugin("files")),
        ("shell", shipped_plugin("shell")),
        ("todo", shipped_plugin("todo")),
        ("web", shipped_plugin("web")),
    ] {
        let (number, word, kept, conformance) = level(name, &bytes, 0);
        assert_eq!((number, word.as_str(), kept), (3, "robust", Vec::new()), "{name}");
        assert_eq!(conformance["not_tried"], json!([]));
    }
}

/// A tool that opens a handle must declare the permission for it, because a policy could not grant it otherwise.
#[test]
fn a_tool_that_opens_an_undeclared_handle_is_not_robust() {
    let (number, _, kept, _) = level("state-one", &built_guest("state"), 0);
    let expected = "stray {}: the tool opened the directory `workspace` without declaring `read` or `write`";
    assert_eq!((number, kept), (2, vec![expected.to_owned()]));
}

/// Builds a component with these fields, one of which handles calls.
fn doing(fields: &str, manifest: &Manifest) -> Vec<u8> {
    portcullis_tests::component(&portcullis_tests::module_of(Contract::V0_1, fields, manifest))
}

/// Results for which every host returns `invalid-output`.
#[test]
fn a_result_that_every_host_rejects_is_a_failure() {
    let answering = |data: &str, more: &str, kind: u32, length: u32| {
        format!(
            "(data (i32.const 2048) \"{data}\")\n(func $execute (param i32 i32 i32 i32) (result i32)\n\
            (drop (call $answer (i32.const {kind}) (i32.const 2048) (i32.const {length})))\n{more}\n(i32.const 1024))"
        )
    };
    let metadata = "(i32.store8 (i32.const 1052) (i32.const 1)) (i32.store (i32.const 1056) (i32.const 2048))\
        (i32.store (i32.const 1060) (i32.const 2))";
    // A file without bytes. The text after it is its media type.
    let part =
        r"\02\00\00\00\20\08\00\00\07\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00no type";
    for (fields, says) in [
        (answering("[1", metadata, 0, 2), "its answer is not usable: its metadata is not JSON"),
        (answering(part, "", 2, 1), "its answer is not usable: a part has the invalid media type \"no type\""),
    ] {
        let (number, _, kept, _) = level("tool", &doing(&fields, &clear("tool")), 0);
        assert_eq!(number, 2, "{says}");
        assert!(kept.len() == 2 && kept.iter().all(|reason| reason.contains(says)), "{kept:?}");
    }
}

/// If a plugin's review fails, all its calls are refused. A review that refuses works correctly.
#[test]
fn a_review_must_end_correctly_too() {
    let trapping = "(func (export \"portcullis:tool/reviewer@0.1.0#review\") (param i32 i32 i32 i32) (result i32)\n\
        unreachable)";
    for (bytes, says) in [
        (doing(trapping, &clear("tool")), Some("its review trapped")),
        (guest("review-loops", &clear("tool")), Some("its review reached the limit on time")),
        (guest("review-refuses", &clear("tool")), None),
    ] {
        let (number, _, kept, _) = level("tool", &bytes, 0);
        match says {
            Some(says) => assert!(number == 2 && kept.len() == 1 && kept[0].contains(says), "{kept:?}"),
            None => assert_eq!((number, kept), (3, Vec::new())),
        }
    }
}

/// A preview that fails tells an approver nothing.
#[test]
fn a_preview_must_end_correctly_too() {
    let preview = |body: &str| {
        let head = "(func (export \"portcullis:tool/previewer@0.1.0#preview\") (param i32 i32 i32 i32) (result i32)";
        let fields = format!("{head} {body})");
        portcullis_tests::component(&portcullis_tests::module_of(Contract::V0_2, &fields, &clear("tool")))
    };
    for (body, says) in [
        ("unreachable", Some("its preview trapped")),
        ("(loop $again (br $again)) unreachable", Some("its preview reached the limit on time")),
        // No change, from memory that was never written.
        ("(i32.const 2048)", None),
    ] {
        let (number, _, kept, _) = level("tool", &preview(body), 0);
        match says {
            Some(says) => assert!(number == 2 && kept.len() == 1 && kept[0].contains(says), "{kept:?}"),
            None => assert_eq!((number, kept), (3, Vec::new())),
        }
    }
}

/// A trial run looks like a call to the tool.
#[test]
fn a_tool_cannot_detect_a_trial_run() {
    let fields = "(import \"portcullis:tool/context@0.1.0\" \"current\" (func $current (param i32)))\n\
        (func $execute (param i32 i32 i32 i32) (result i32)\n\
        (call $current (i32.const 2048))\n\
        (if (i32.ne (i32.load (i32.const 2052)) (i32.const 32)) (then unreachable))\n\
        (if (i32.ne (i32.load (i32.const 2060)) (i32.const 32)) (then unreachable))\n\
        (call $answer (i32.const 0) (local.get 2) (local.get 3)))";
    let (number, _, kept, _) = level("tool", &doing(fields, &clear("tool")), 0);
    assert_eq!((number, kept), (3, Vec::new()));
}

/// Builds a closed schema that requires this many texts of this length.
fn texts(count: usize, characters: usize) -> String {
    let name = |number: usize| format!("text{number}");
    let member = |number: usize| {
        let schema = json!({"type": "string", "description": "One of the texts.", "minLength": characters});
        (name(number), schema)
    };
    let members: serde_json::Map<String, Value> = (0..count).map(member).collect();
    let required: Vec<String> = (0..count).map(name).collect();
    json!({"type": "object", "additionalProperties": false, "required": required, "properties": members}).to_string()
}

/// Arguments over the maximum of a call are not tried, and the report says so: the tool would only see a refusal.
#[test]
fn arguments_that_are_too_large_for_a_call_are_not_tried() {
    let manifest = clear("tool").tool(|tool| tool.schema = texts(300, 4096));
    let (number, _, kept, conformance) = level("tool", &guest("good", &manifest), 0);
    assert_eq!((number, kept), (3, Vec::new()));
    let not_tried = &conformance["not_tried"][0];
    let why = "the smallest arguments that were found for its schema are larger than the 1048576 bytes of a call";
    assert_eq!((&not_tried["tool"], &not_tried["why"]), (&json!("run"), &json!(why)));
}

/// A small plugin must not cause long output.
#[test]
fn the_report_of_long_arguments_is_short() {
    let mut manifest = clear("tool");
    manifest.tools = (0..20)
        .map(|number| {
            let description = format!("Takes long texts, and is the one with the number {number}.");
            Tool { description, schema: texts(120, 4096), ..Tool::new(&format!("run{number}")) }
        })
        .collect();
    let bench = Bench::new();
    bench.component("tool", &guest("trap-on-demand", &manifest));
    for format in [&["check", "tool.wasm"][..], &["check", "tool.wasm", "--json"]] {
        let out = bench.run(format).ends(0).out;
        assert!(out.contains("run19 {") && out.contains("aaa...: it trapped"), "{out}");
        assert!(out.len() < 32 * 1024, "{}", out.len());
    }
}

/// The guest prints eight mebibytes of escapes before it traps. The report shows one page.
#[test]
fn the_report_of_a_long_log_is_short() {
    let answers = "(call $answer (i32.const 0) (local.get 2) (local.get 3))";
    let prints = include_str!("../../guests/log-flood.wat").replace(answers, "unreachable");
    let (number, _, kept, _) = level("tool", &doing(&prints, &clear("tool")), 0);
    assert_eq!((number, kept.len()), (2, 2));
    assert!(kept.iter().all(|reason| reason.contains("it printed: \\u{1b}") && reason.len() < 5000), "{kept:?}");
}

/// Asserts that every view of a plugin says whether it has an optional export. The given component has it.
fn is_shown(export: &str, name: &str, component: &[u8]) {
    let bench = Bench::new();
    bench.component(name, component);
    bench.component("plain", &guest("good", &clear("plain")));
    for (name, has) in [(name, true), ("plain", false)] {
        let file = format!("{name}.wasm");
        let installed = ["inspect", name, "--plugins", ".", "--state", "state"];
        for command in [&["check", &file][..], &["inspect", &file], &installed] {
            let document = bench.run(&[command, &["--json"]].concat()).ends(0).document();
            assert_eq!(document[export], has, "{command:?}: {document:#}");
        }
        for command in [&["inspect", &file][..], &installed] {
            let out = bench.run(command).ends(0).out;
            assert_eq!(out.contains(&format!("{export} calls")), has, "{out}");
        }
    }
}

#[test]
fn a_reviewer_is_shown() {
    is_shown("reviews", "tool", &guest("review-refuses", &clear("tool")));
}

#[test]
fn a_previewer_is_shown() {
    is_shown("previews", "files", &shipped_plugin("files"));
}

/// A tool for which no arguments were found is named, and the others are still tried.
#[test]
fn a_tool_that_cannot_be_tried_is_reported() {
    let hard = r#"{"type":"object","additionalProperties":false,"required":["a"],"properties":{
        "a":{"type":"string","description":"It.","pattern":"^x{100}$"}}}"#;
    let mut manifest = clear("tool");
    let description = "Takes what no caller would guess.".to_owned();
    manifest.tools.push(Tool { description, schema: hard.to_owned(), ..Tool::new("walk") });
    let (number, _, kept, conformance) = level("tool", &guest("good", &manifest), 0);
    assert_eq!((number, kept), (3, Vec::new()));
    let why = "no small arguments were found that match its schema";
    assert_eq!(conformance["not_tried"], json!([{"tool": "walk", "why": why}]));
    let bench = Bench::new();
    bench.component("tool", &guest("good", &manifest));
    let text = bench.run(&["check", "tool.wasm"]).ends(0).out;
    for said in ["  conforms  level 3 of 3, robust\n".to_owned(), format!("not tried: walk: {why}\n")] {
        assert!(text.contains(&said), "{said}: {text}");
    }
    bench.component("tool", &guest("trap-on-demand", &clear("tool")));
    let text = bench.run(&["check", "tool.wasm"]).ends(0).out;
    assert!(text.contains("level 2 of 3, clear\n") && text.contains("not robust: run "), "{text}");
    assert!(bench.run(&["check", "--help"]).ends(0).out.contains("this runs the plugin: each tool once"));
}
