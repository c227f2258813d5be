//! The level at which a plugin keeps the contract: for each level one that reaches it and no more, and what keeps it.

use crate::bench::Bench;
use portcullis_tests::{Manifest, Tool, guest, shipped_plugin, with_fields};
use serde_json::Value;

/// A schema without anything to mend, with one member that has to be there.
const CLOSED: &str = r#"{"type":"object","additionalProperties":false,"required":["path"],"properties":{
    "path":{"type":"string","description":"Where it is."}}}"#;

/// A manifest without anything to mend.
fn clear(name: &str) -> Manifest {
    Manifest::of(name).tool(|tool| tool.schema = CLOSED.to_owned())
}

/// The level of a component, its name, and what keeps it from the next.
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
fn what_is_refused_has_no_level() {
    let unknown = with_fields(&guest("good", &clear("tool")), "(import \"nobody:knows/this\" (instance))");
    let others = [b"no component".to_vec(), guest("describe-traps", &clear("tool")), unknown];
    for bytes in others.iter().chain(&[guest("describe-counts", &clear("tool")), guest("good", &clear("other"))]) {
        let (number, word, kept, conformance) = level("tool", bytes, 7);
        assert_eq!((number, word.as_str()), (0, "refused"));
        assert_eq!(kept.len(), 1, "{kept:?}");
        assert_eq!(conformance["contract"], Value::Null);
    }
}

#[test]
fn what_has_to_be_mended_only_loads_and_is_not_run() {
    // It would run for ever.
    let manifest = clear("tool").tool(|tool| tool.description = "Short.".to_owned());
    let (number, word, kept, conformance) = level("tool", &guest("loop-in-execute", &manifest), 0);
    assert_eq!((number, word.as_str()), (1, "loads"));
    assert!(kept.len() == 1 && kept[0].contains("short-description"), "{kept:?}");
    assert_eq!(conformance["contract"], "0.1");
}

/// Every way in which a run can end that is none.
#[test]
fn what_breaks_when_it_is_run_is_only_clear() {
    for (name, says) in [
        ("trap-on-demand", "it trapped"),
        ("loop-in-execute", "it did not end when it was cancelled"),
        ("exit-one", "it exited with status 1"),
        ("exit-zero", "it exited with status 0"),
        ("deep-recursion", "it reached the limit on"),
        ("memory-growth", "it reached the limit on memory"),
        ("json-that-is-none", "what it calls JSON is none"),
        ("string-not-utf8", "it trapped"),
    ] {
        let (number, word, kept, _) = level("tool", &guest(name, &clear("tool")), 0);
        assert_eq!((number, word.as_str()), (2, "clear"), "{name}: {kept:?}");
        assert!(kept.iter().any(|reason| reason.contains("run {\"path\":\"\"}") && reason.contains(says)), "{kept:?}");
    }
}

/// A plugin that does what it promises, and breaks for a tool that nobody offered.
#[test]
fn a_tool_that_was_never_offered_is_tried_too() {
    let clear = Manifest::of("tool").tool(|tool| {
        r#"{"type":"object","additionalProperties":false,"properties":{}}"#.clone_into(&mut tool.schema);
    });
    // It answers `run`, which has three letters, and breaks for every longer name.
    let fields = "(func $execute (param i32 i32 i32 i32) (result i32)\n\
        (if (i32.gt_u (local.get 1) (i32.const 3)) (then unreachable))\n\
        (call $answer (i32.const 0) (local.get 2) (local.get 3)))";
    let bytes = portcullis_tests::component(&portcullis_tests::module(fields, &clear));
    let (number, _, kept, _) = level("tool", &bytes, 0);
    assert_eq!(number, 2);
    assert!(kept.len() == 1 && kept[0].starts_with("a tool that it never offered: it trapped"), "{kept:?}");
}

#[test]
fn an_answer_that_breaks_its_definition_is_none() {
    let manifest = clear("tool").tool(|tool| tool.output_schema = Some(r#"{"type":"object"}"#.to_owned()));
    let (number, _, kept, _) = level("tool", &guest("good", &manifest), 0);
    assert_eq!(number, 2);
    assert!(kept[0].contains("promises JSON"), "{kept:?}");
}

#[test]
fn what_ends_well_without_any_handle_is_robust() {
    for (name, bytes) in [
        ("tool", guest("good", &clear("tool"))),
        ("tool", guest("waits-for-cancellation", &clear("tool"))),
        ("files", shipped_plugin("files")),
        ("todo", shipped_plugin("todo")),
        ("web", shipped_plugin("web")),
    ] {
        let (number, word, kept, conformance) = level(name, &bytes, 0);
        assert_eq!((number, word.as_str(), kept), (3, "robust", Vec::new()), "{name}");
        assert_eq!(conformance["not_tried"], serde_json::json!([]));
    }
}

/// A tool for which nothing could be made is named, and the others are tried all the same.
#[test]
fn a_tool_that_cannot_be_tried_is_told() {
    let hard = r#"{"type":"object","additionalProperties":false,"required":["a"],"properties":{
        "a":{"type":"string","description":"It.","pattern":"^x{100}$"}}}"#;
    let mut manifest = clear("tool");
    let description = "Takes what nobody would guess.".to_owned();
    manifest.tools.push(Tool { description, schema: hard.to_owned(), ..Tool::new("walk") });
    let (number, _, kept, conformance) = level("tool", &guest("good", &manifest), 0);
    assert_eq!((number, kept), (3, Vec::new()));
    assert_eq!(conformance["not_tried"], serde_json::json!(["walk"]));
    let bench = Bench::new();
    bench.component("tool", &guest("good", &manifest));
    let text = bench.run(&["check", "tool.wasm"]).ends(0).out;
    for said in
        ["  conforms  level 3 of 3, robust\n", "not tried, for want of small arguments that the schema takes: walk\n"]
    {
        assert!(text.contains(said), "{said}: {text}");
    }
    bench.component("tool", &guest("trap-on-demand", &clear("tool")));
    let text = bench.run(&["check", "tool.wasm"]).ends(0).out;
    assert!(text.contains("level 2 of 3, clear\n") && text.contains("not robust: run "), "{text}");
    assert!(bench.run(&["check", "--help"]).ends(0).out.contains("it is run: each tool once"));
}
