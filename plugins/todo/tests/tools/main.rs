//! Calls the tools of the todo plugin as a host does, each on its own list.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use portcullis_plugin_todo::PLUGIN;
use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::Value;
use portcullis_sdk::testing::{self, call};
use portcullis_sdk::{Output, Success};

fn text(success: &Success<Output>) -> &str {
    match &success.output {
        Output::Text(text) => text,
        output => panic!("{output:?} is not text"),
    }
}

fn item(content: &str, status: &str) -> Value {
    json!({ "content": content, "status": status })
}

fn write(items: &Value, context: &testing::Context) -> Result<Success, Failure> {
    call(&PLUGIN, "write", json!({ "items": items }), context)
}

fn read(context: &testing::Context) -> Success {
    call(&PLUGIN, "read", json!({}), context).unwrap()
}

fn context() -> testing::Context {
    testing::Context::new().store("items")
}

#[test]
fn a_written_list_can_be_read() {
    let context = context();
    let items =
        json!([item("Read the issue", "completed"), item("Write tests", "in_progress"), item("Tell", "pending")]);
    let written = write(&items, &context).unwrap();
    assert_eq!(text(&written), "[x] Read the issue\n[>] Write tests\n[ ] Tell\n\n1 of 3 completed\n");
    assert_eq!(written.title.as_deref(), Some("Wrote the list: 1 of 3 completed"));
    assert_eq!(written.metadata, Some(json!({ "items": items, "pending": 1, "in_progress": 1, "completed": 1 })));

    let read = read(&context);
    assert_eq!((read.output, read.metadata), (written.output, written.metadata));
    assert_eq!(read.title.as_deref(), Some("Read the list: 1 of 3 completed"));
}

#[test]
fn a_list_replaces_the_previous_one() {
    let context = context();
    write(&json!([item("one", "pending"), item("two", "pending")]), &context).unwrap();
    write(&json!([item("two", "completed")]), &context).unwrap();
    assert_eq!(text(&read(&context)), "[x] two\n\n1 of 1 completed\n");

    let emptied = write(&json!([]), &context).unwrap();
    assert_eq!(
        (text(&emptied), emptied.title.as_deref()),
        ("(the list is empty)\n", Some("Wrote the list: nothing to do"))
    );
    assert_eq!(context.stored("items").len(), 0);
}

#[test]
fn the_list_is_empty_at_first() {
    let read = read(&context());
    assert_eq!(text(&read), "(the list is empty)\n");
    assert_eq!(read.metadata, Some(json!({ "items": [], "pending": 0, "in_progress": 0, "completed": 0 })));
}

#[test]
fn an_invalid_list_is_refused_and_the_old_one_remains() {
    let context = context();
    write(&json!([item("stays", "pending")]), &context).unwrap();
    let many: Vec<Value> = (0..101).map(|_| item("x", "pending")).collect();
    let cases = [
        (json!([item("a", "pending"), item("b", "in_progress"), item("c", "in_progress")]), "items 2 and 3 are both"),
        (json!([item(" ", "pending")]), "item 1 is empty"),
        (json!([item("a\n[x] b", "pending")]), "item 1 is not one line"),
        (json!([item(&"x".repeat(501), "pending")]), "item 1 has 501 characters"),
        (json!(many), "a list may have at most 100 items; this one has 101"),
        (json!([item("a", "done")]), "`items[0].status`: unknown variant `done`, expected one of `pending`"),
        (json!([{ "content": "a" }]), "`items[0]`: missing field `status`"),
    ];
    for (items, told) in cases {
        let failure = write(&items, &context).unwrap_err();
        assert!(matches!(&failure, Failure::InvalidArguments(text) if text.starts_with(told)), "{told}: {failure:?}");
    }
    assert_eq!(text(&read(&context)), "[ ] stays\n\n0 of 1 completed\n");
}

#[test]
fn the_error_of_a_full_store_suggests_what_to_do() {
    let context = testing::Context::new().store_of("items", 60);
    write(&json!([item("short", "pending")]), &context).unwrap();
    let failure = write(&json!([item("longer than the store takes", "pending")]), &context).unwrap_err();
    let told = "the store is full: it may have 60 bytes in all; write fewer or shorter items";
    assert_eq!(failure, Failure::failed(told));
    assert_eq!(text(&read(&context)), "[ ] short\n\n0 of 1 completed\n");
}

#[test]
fn a_corrupt_list_is_reported_and_can_be_replaced() {
    let context = context();
    (*context).store("items").unwrap().set("list", "no list").unwrap();
    let failure = call(&PLUGIN, "read", json!({}), &context).unwrap_err();
    assert!(matches!(&failure, Failure::Failed(text) if text.contains("cannot be read")), "{failure:?}");
    assert!(write(&json!([]), &context).is_ok());
}

#[test]
fn the_manifest_has_no_problems_and_a_complete_schema() {
    assert_eq!(testing::problems(&PLUGIN), Vec::<String>::new());
    let schema = &PLUGIN.manifest().tools[0].schema;
    let item = json!({
        "type": "object",
        "description": "Something to be done.",
        "properties": {
            "content": {
                "type": "string", "description": "What is to be done, in one line.", "minLength": 1, "maxLength": 500
            },
            "status": {
                "description": "How far it has come.",
                "oneOf": [
                    { "type": "string", "const": "pending", "description": "Not begun." },
                    { "type": "string", "const": "in_progress", "description": "Being worked on; at most one item." },
                    { "type": "string", "const": "completed", "description": "Done." }
                ]
            }
        },
        "required": ["content", "status"],
        "additionalProperties": false
    });
    assert_eq!(
        (&schema["properties"]["items"]["items"], &schema["properties"]["items"]["maxItems"]),
        (&item, &json!(100))
    );
}

#[test]
fn no_tool_works_without_a_store() {
    for (tool, arguments) in [("read", json!({})), ("write", json!({ "items": [] }))] {
        let failure = call(&PLUGIN, tool, arguments, &testing::Context::new()).unwrap_err();
        assert_eq!(failure, Failure::denied("the policy grants no store `items` to this tool"));
    }
}
