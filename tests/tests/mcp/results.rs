//! Results: their type, size and metadata, and a text for every failure that a model can act on.

use crate::mcp::wire::{Desk, ERAS, Era, OPEN, text};
use portcullis::plugins::Contract;
use portcullis_tests::{Manifest, built_guest_of, guest};
use serde_json::{Value, json};

/// More than a result passes on, and less than the host keeps: the guest's text has 4,096 lines of 256 bytes.
const LONG_BYTES: usize = 4096 * 256;

#[test]
fn json_is_sent_as_structured_content_and_as_text() {
    let desk = Desk::new(OPEN);
    for era in ERAS {
        let result = desk.client(era).call("clerk__add", json!({ "numbers": [20, 22] }));
        assert_eq!(result["structuredContent"], json!({ "count": 2, "sum": 42 }));
        let shown: Value = serde_json::from_str(text(&result)).unwrap();
        assert_eq!(shown, result["structuredContent"]);
        assert_eq!(result["isError"], false);
    }
}

#[test]
fn json_that_is_not_an_object_is_structured_only_where_allowed() {
    let list = Manifest::of("list").tool(|tool| tool.output_schema = Some(r#"{"type":"object"}"#.to_owned()));
    let desk = Desk::new(OPEN);
    desk.site.plugin("list", &guest("json-that-is-none", &list));
    let mut wire = desk.client(Era::Legacy);
    let result = wire.call("list__run", json!({}));
    assert_eq!(result["isError"], true, "output that violates its schema must be an error: {result}");
    assert!(result.get("structuredContent").is_none());
}

#[test]
fn every_failure_has_a_text_for_the_model() {
    let desk = Desk::new(
        "[plugin.clerk]\ndirectory.desk = { path = \"desk\", access = \"read-write\" }\n[limits]\ntime = \"1 s\"\n\
         [[rule]]\ntool = \"clerk.note\"\ndecision = \"deny\"\nreason = \"no notes today\"\n\
         [[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n",
    );
    for era in ERAS {
        let mut wire = desk.client(era);
        let failures = [
            ("clerk__fail", json!({}), "tool-unavailable", "Error executing tool"),
            ("clerk__echo", json!({ "text": 7 }), "invalid-arguments", "text"),
            ("clerk__echo", json!({}), "invalid-arguments", "text"),
            ("clerk__note", json!({ "text": "x" }), "policy-denied", "no notes today"),
            ("loop-in-execute__run", json!({}), "limit-time", "time"),
            ("trap-on-demand__run", json!({ "trap": true }), "", ""),
        ];
        for (tool, arguments, code, says) in failures {
            let result = wire.call(tool, arguments);
            if code.is_empty() {
                continue;
            }
            assert_eq!(result["isError"], true, "{tool}: {result}");
            assert_eq!(result["_meta"]["portcullis/code"], code, "{tool}: {result}");
            assert!(text(&result).contains(says), "{tool}: {result}");
        }
    }
}

#[test]
fn a_result_has_metadata_about_its_call() {
    let desk = Desk::new(OPEN);
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let mut wire = desk.client(Era::Modern);
    let params = json!({ "name": "clerk__echo", "arguments": { "text": "hi" }, "_meta": { "traceparent": trace } });
    let result = wire.result("tools/call", params);
    let hostile =
        json!({ "name": "clerk__echo", "arguments": { "text": "hi" }, "_meta": { "traceparent": "00-\u{1b}[2J" } });
    wire.result("tools/call", hostile);
    wire.close();
    let calls = desk.calls();
    assert_eq!(result["_meta"]["portcullis/call"], calls[0]["call"]);
    assert!(result["_meta"]["portcullis/usage"]["wall_us"].is_u64(), "{result}");
    assert_eq!(calls[0]["trace"], trace, "{}", calls[0]);
    assert_eq!(calls[0]["agent"], "wire");
    assert!(calls[1].get("trace").is_none_or(Value::is_null), "{}", calls[1]);
}

#[test]
fn a_large_output_is_cut_and_can_be_read_in_pages() {
    let desk = Desk::new(OPEN);
    for era in ERAS {
        let mut wire = desk.client(era);
        let result = wire.call("long-text__run", json!({}));
        assert_eq!(result["isError"], false, "{era:?}");
        assert!(text(&result).len() < LONG_BYTES / 2, "{}", text(&result).len());
        let reference = &result["_meta"]["portcullis/reference"];
        assert_eq!(reference["bytes"], LONG_BYTES, "{reference}");
        let link = &result["content"][1];
        assert_eq!(link["type"], "resource_link", "{link}");
        let uri = link["uri"].as_str().unwrap().to_owned();
        assert_eq!(uri, format!("portcullis://output/{}", reference["id"].as_str().unwrap()));

        let listed = wire.result("resources/list", json!({}));
        assert_eq!(listed["resources"][0]["uri"], uri, "the newest must come first");
        let (mut whole, mut next, mut pages) = (String::new(), Some(uri), 0);
        while let Some(uri) = next {
            let page = wire.result("resources/read", json!({ "uri": uri }));
            let contents = &page["contents"][0];
            assert_eq!(contents["uri"], uri);
            whole.push_str(contents["text"].as_str().unwrap());
            next = contents["_meta"]["portcullis/next"].as_str().map(str::to_owned);
            pages += 1;
        }
        assert_eq!(whole.len(), LONG_BYTES);
        assert_eq!(whole.lines().count(), 4096);
        assert!(pages > 1);
    }
}

#[test]
fn links_can_be_turned_off() {
    let desk = Desk::new(OPEN);
    let result = desk.client_with(Era::Legacy, &["--no-resource-links"]).call("long-text__run", json!({}));
    assert_eq!(result["content"].as_array().unwrap().len(), 1, "{:?}", result["content"][1]);
    assert!(result["_meta"]["portcullis/reference"]["id"].is_string());
}

#[test]
fn an_output_is_readable_only_in_the_session_that_made_it() {
    let desk = Desk::new(OPEN);
    let mut first = desk.client_with(Era::Legacy, &["--session", "one"]);
    let result = first.call("long-text__run", json!({}));
    let uri = result["content"][1]["uri"].as_str().unwrap().to_owned();
    first.close();
    let mut other = desk.client_with(Era::Legacy, &["--session", "two"]);
    assert_eq!(other.error("resources/read", json!({ "uri": uri })), -32002);
    let listed = other.result("resources/list", json!({}))["resources"].clone();
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
    assert_eq!(listed[0]["uri"], "portcullis://plugins");
    other.close();
    let mut again = desk.client_with(Era::Modern, &["--session", "one"]);
    assert!(again.result("resources/read", json!({ "uri": uri }))["contents"][0]["text"].is_string());
    // Each era has its own error for an unknown resource.
    for bad in [
        "portcullis://output/00000000000000000000000000000000",
        "file:///etc/passwd",
        "",
        "portcullis://output/x?offset=1",
    ] {
        assert_eq!(again.error("resources/read", json!({ "uri": bad })), -32602, "{bad}");
    }
}

#[test]
fn structured_output_that_is_too_large_is_an_error() {
    let manifest = Manifest::of("long").tool(|tool| tool.output_schema = Some(r#"{"type":"string"}"#.to_owned()));
    let desk = Desk::new(OPEN);
    desk.site.plugin("long", &guest("long-json", &manifest));
    let result = desk.client(Era::Modern).call("long__run", json!({}));
    assert!(result.get("structuredContent").is_none());
    assert_eq!(result["isError"], true, "otherwise a client that validates the schema would hide the text");
}

/// Returns the arguments of the call that a notice names.
fn named(text: &str) -> Value {
    let call = "output__read ";
    let at = text.find(call).unwrap_or_else(|| panic!("no call: {text}")) + call.len();
    serde_json::Deserializer::from_str(&text[at..]).into_iter().next().unwrap().unwrap()
}

#[test]
fn a_kept_image_or_document_is_read_as_a_content_block() {
    let desk = Desk::new(OPEN);
    desk.site.plugin("scribe", &built_guest_of(Contract::V0_2, "output"));
    let bytes = 300_000;
    for era in ERAS {
        let mut wire = desk.client(era);
        let mut read = |media_type: &str, begins: &[u8]| {
            let part = json!({ "media_type": media_type, "begins": begins, "bytes": bytes });
            let result = wire.call("scribe__parts", json!({ "parts": [part] }));
            assert_eq!(result["content"][0]["type"], "text", "{result}");
            let read = wire.call("output__read", named(text(&result)));
            assert_eq!(read["isError"], false, "{read}");
            read["content"][0].clone()
        };
        let image = read("image/png", b"\x89PNG\r\n\x1a\n");
        assert_eq!((&image["type"], &image["mimeType"]), (&json!("image"), &json!("image/png")));
        let data = image["data"].as_str().unwrap();
        assert!(data.starts_with("iVBORw0KGgo") && data.len() == bytes / 3 * 4, "{} {data:.20}", data.len());
        let document = read("application/pdf", b"%PDF-1.7");
        assert_eq!(document["type"], "resource", "{document:.200}");
        let resource = &document["resource"];
        assert_eq!(resource["mimeType"], "application/pdf");
        assert_eq!(resource["blob"].as_str().unwrap().len(), bytes / 3 * 4);
        let sheet = read("text/csv", b"a,b\n");
        assert_eq!(sheet["type"], "text", "{sheet:.200}");
        assert!(sheet["text"].as_str().unwrap().starts_with("     1\ta,b\n     2\t"), "{sheet:.200}");
    }
}
