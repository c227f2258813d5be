//! The features of version 0.2 that 0.1 does not have: names of files, and a retry delay for outages.

use portcullis::plugins::Contract;
use portcullis::{Code, Host, Output, Part, Reply, Request};
use portcullis_tests::{Attack, Manifest, Site, allow_all, built_guest_of, component, module_of, outcome_of};
use serde_json::Value;
use std::fs;
use std::time::Duration;

/// Installs a guest with these fields instead of the good guest.
async fn call(fields: &str) -> (Site, Host, Reply) {
    let site = Site::new();
    site.plugin("courier", &component(&module_of(Contract::V0_2, fields, &Manifest::of("courier"))));
    let host = site.open(&allow_all("")).await;
    let reply = host.call(Request::new("courier.run", "{}")).await;
    (site, host, reply)
}

/// Returns one CSV file with this name.
fn courier(name: &str) -> String {
    let bytes: String = name.bytes().map(|byte| format!("\\{byte:02x}")).collect();
    format!(
        "(data (i32.const 2048) \"text/csva,b\")
         (data (i32.const 3000) \"{bytes}\")
         (func $execute (param i32 i32 i32 i32) (result i32)
           ;; A part is a file, whose blob is an option of a name, a media type and data.
           (i32.store (i32.const 2100) (i32.const 2))
           (i32.store (i32.const 2104) (i32.const 1))
           (i32.store (i32.const 2108) (i32.const 3000))
           (i32.store (i32.const 2112) (i32.const {length}))
           (i32.store (i32.const 2116) (i32.const 2048))
           (i32.store (i32.const 2120) (i32.const 8))
           (i32.store (i32.const 2124) (i32.const 2056))
           (i32.store (i32.const 2128) (i32.const 3))
           (call $answer (i32.const 2) (i32.const 2100) (i32.const 1)))",
        length = name.len()
    )
}

#[tokio::test]
async fn a_file_name_is_shown_everywhere() {
    let (_site, host, reply) = call(&courier("Köln 1.csv")).await;
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    assert_eq!(reply.message, "[file, \"Köln 1.csv\", text/csv, 3 bytes]");
    let Some(Output::Parts(parts)) = &reply.output else { panic!("{reply:?}") };
    assert!(matches!(&parts[..], [Part::File(file)] if file.name.as_deref() == Some("Köln 1.csv")), "{parts:?}");
    let shown = serde_json::to_value(&reply).unwrap();
    assert_eq!(shown["output"]["parts"][0]["name"], "Köln 1.csv");
    // Another name makes another result, and the audit log distinguishes them.
    let recorded = |host: &Host, reply: &Reply| outcome_of(host, &reply.id)["output_sha256"].clone();
    let (_other_site, other_host, other) = call(&courier("Köln 2.csv")).await;
    assert_ne!(recorded(&host, &reply), recorded(&other_host, &other));
}

#[tokio::test]
async fn an_ordinary_file_name_is_accepted() {
    for name in [".gitignore", "console.log", "com.txt", "COM10.txt", "a-b c.tar.gz", "Bericht (2).pdf"] {
        let (_site, _host, reply) = call(&courier(name)).await;
        assert_eq!(reply.code, Code::Completed, "{name:?}: {}", reply.message);
    }
}

#[tokio::test]
async fn a_file_name_that_is_a_path_or_hides_characters_makes_the_output_invalid() {
    let long = "x".repeat(256);
    let names = [
        "",
        ".",
        "..",
        "../up.csv",
        "/etc/passwd",
        "a/b",
        "a\\b",
        "C:evil",
        "a\"b",
        "what?",
        "a|b",
        "*",
        "<a>",
        "a\nb",
        "a\u{1b}[2J",
        "a\u{202e}vsc",
        "a\u{200b}b",
        "a\0b",
        " ",
        " a.csv",
        "a.csv ",
        "a.",
        "-rf",
        "CON",
        "nul.txt",
        "Com1",
        "lpt\u{b2}.log",
        &long,
    ];
    for name in names {
        let (_site, _host, reply) = call(&courier(name)).await;
        assert_eq!(reply.code, Code::InvalidOutput, "{name:?}");
        assert!(reply.output.is_none());
        assert!(!reply.message.chars().any(portcullis::text::is_deceptive), "{:?}", reply.message);
    }
    let (_site, _host, reply) = call(&courier(&long[1..])).await;
    assert_eq!(reply.code, Code::Completed, "255 bytes fit");
}

/// Fails as unavailable, with this tag for the optional seconds.
fn down(tag: u8, seconds: u32) -> String {
    format!(
        "(data (i32.const 2048) \"no line\")
         (func $execute (param i32 i32 i32 i32) (result i32)
           (drop (call $fail (i32.const 2) (i32.const 2048) (i32.const 7)))
           (i32.store8 (i32.const 1040) (i32.const {tag}))
           (i32.store (i32.const 1044) (i32.const {seconds}))
           (i32.const 1024))"
    )
}

#[tokio::test]
async fn an_outage_can_have_a_retry_delay() {
    let (_site, host, reply) = call(&down(1, 90)).await;
    assert_eq!(reply.code, Code::ToolUnavailable);
    assert_eq!(reply.message, "Error executing tool: no line The tool suggests a retry in 90 s.");
    assert_eq!(serde_json::to_value(&reply).unwrap()["retry_after_s"], 90);
    assert_eq!(outcome_of(&host, &reply.id)["retry_after_s"], 90);

    let (_site, host, reply) = call(&down(0, 90)).await;
    assert_eq!((reply.code, reply.message.as_str()), (Code::ToolUnavailable, "Error executing tool: no line"));
    assert_eq!(serde_json::to_value(&reply).unwrap().get("retry_after_s"), None);
    assert_eq!(outcome_of(&host, &reply.id).get("retry_after_s"), None);

    let (_site, _host, reply) = call(&down(1, u32::MAX)).await;
    assert!(reply.message.ends_with("in 4294967295 s."), "{}", reply.message);
}

/// The new options are validated like every other value of a guest.
#[tokio::test]
async fn invalid_tags_of_new_options_trap() {
    let (_site, _host, reply) = call(&down(2, 0)).await;
    assert_eq!(reply.code, Code::Trapped);
    let named = courier("a.csv").replace("(i32.const 2104) (i32.const 1)", "(i32.const 2104) (i32.const 7)");
    for fields in
        [named, courier("a.csv").replace("(i32.const 2108) (i32.const 3000)", "(i32.const 2108) (i32.const -8)")]
    {
        let bytes = component(&module_of(Contract::V0_2, &fields, &Manifest::of("courier")));
        Attack::bytes("courier", &bytes).ends(Code::Trapped).await;
    }
}

/// In 0.1 a file has no name, and an outage no delay. The documents of such replies have not changed.
#[tokio::test]
async fn the_first_version_has_neither_feature() {
    let blob = "(data (i32.const 2048) \"text/csva,b\")
         (func $execute (param i32 i32 i32 i32) (result i32)
           (i32.store (i32.const 2100) (i32.const 2))
           (i32.store (i32.const 2104) (i32.const 2048))
           (i32.store (i32.const 2108) (i32.const 8))
           (i32.store (i32.const 2112) (i32.const 2056))
           (i32.store (i32.const 2116) (i32.const 3))
           (call $answer (i32.const 2) (i32.const 2100) (i32.const 1)))";
    let site = Site::new();
    site.plugin("courier", &component(&module_of(Contract::V0_1, blob, &Manifest::of("courier"))));
    site.plugin("down", &component(&module_of(Contract::V0_1, &down(1, 90), &Manifest::of("down"))));
    let host = site.open(&allow_all("")).await;
    let reply = host.call(Request::new("courier.run", "{}")).await;
    assert_eq!(reply.message, "[file, text/csv, 3 bytes]");
    let part = serde_json::to_value(&reply).unwrap()["output"]["parts"][0].clone();
    assert_eq!(
        part.as_object().map(|part| part.keys().cloned().collect::<Vec<_>>()),
        Some(vec!["data".into(), "media_type".into(), "type".into()])
    );
    let reply = host.call(Request::new("down.run", "{}")).await;
    assert_eq!(reply.message, "Error executing tool: no line");
    assert_eq!(serde_json::to_value(&reply).unwrap().get("retry_after_s"), None::<&Value>);
}

/// A 0.2 plugin that uses a language's own bindings: files with names, an outage, a review, a preopened directory.
#[tokio::test]
async fn a_plugin_that_is_built_against_the_second_version_works() {
    let site = Site::new();
    site.plugin("courier", &built_guest_of(Contract::V0_2, "courier"));
    fs::write(site.directory("box").join("list.bin"), b"\0\x01").unwrap();
    let policy = allow_all("") + "[plugin.courier]\ndirectory.workspace = { path = \"box\", access = \"read-only\" }\n";
    let host = site.open(&policy).await;
    assert_eq!(host.catalog().plugin("courier").unwrap().contract(), Some(Contract::V0_2));
    let call = async |tool: &str, arguments: &str| host.call(Request::new(format!("courier.{tool}"), arguments)).await;

    let brought = call("bring", r#"{"file":"list.bin"}"#).await;
    assert_eq!(brought.message, "Here it is.\n[file, \"list.bin\", application/octet-stream, 2 bytes]");
    let path = call("bring", r#"{"file":"../box/list.bin"}"#).await;
    assert_eq!(path.code, Code::ToolFailed, "{}", path.message);
    let dotted = call("bring", r#"{"file":"./list.bin"}"#).await;
    assert_eq!(dotted.code, Code::InvalidOutput, "its name would be a path: {}", dotted.message);

    let away = call("wait", r#"{"seconds":30}"#).await;
    assert_eq!((away.code, away.retry_after), (Code::ToolUnavailable, Some(Duration::from_secs(30))));
    assert_eq!(call("wait", "{}").await.retry_after, None);

    let refused = call("bring", r#"{"file":"a.key"}"#).await;
    assert_eq!(refused.code, Code::ReviewRefused, "{}", refused.message);
    assert!(matches!(call("whoami", "{}").await.output, Some(Output::Json(_))));
}
