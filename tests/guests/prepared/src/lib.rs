//! Hides and narrows its tools as its setting `mode` says, or tries what no preparer may do.

use portcullis_sdk::prelude::*;

/// How many bytes of schema one caller gets that gets much.
const MUCH_BYTES: usize = 60 * 1024;

/// A note.
#[arguments]
struct Note {
    /// What to note.
    #[schemars(length(max = 100))]
    text: String,
    /// How it is kept.
    #[serde(default)]
    kind: String,
}

/// Notes a text in any way.
#[tool(read_only)]
fn note(arguments: Note) -> String {
    format!("{} {}", arguments.kind, arguments.text)
}

/// Erases all notes.
#[tool(read_only)]
fn erase() -> String {
    "Erased.".to_owned()
}

fn prepare(offer: &Preparing) -> Vec<Preparation> {
    let (caller, mode) = (offer.caller(), offer.context().setting("mode").unwrap_or_default());
    let hide = |hidden: bool| match hidden {
        true => vec![Preparation::hide("erase", format!("not for \u{1b}[31m{}", caller.session))],
        false => Vec::new(),
    };
    let narrow = |schema| vec![Preparation::narrow("note", schema).described("Notes a short text.")];
    let property = |schema| json!({ "type": "object", "properties": { "kind": schema, "text": {} } });
    match mode.as_str() {
        "always" => hide(true),
        "automated" => hide(caller.automated),
        "client" => hide(caller.client.as_deref() == Some("stranger")),
        "model" => hide(caller.model.as_deref() == Some("small")),
        "principal" => hide(caller.principal.contains('/')),
        "session" => hide(caller.session != "open"),
        "narrow" => narrow(property(json!({ "enum": ["short"] }))),
        "widen" => narrow(json!({ "type": "object" })),
        "much" => narrow(property(json!({ "enum": [caller.session, "x".repeat(MUCH_BYTES)] }))),
        "too-much" => narrow(property(json!({ "enum": ["x".repeat(2 * MUCH_BYTES)] }))),
        "trap" => panic!("the preparer gives up"),
        "loop" => loop {
            std::hint::spin_loop();
        },
        "unknown" => vec![Preparation::hide("no\nsuch", "it is not there")],
        "twice" => vec![Preparation::hide("erase", "one"), Preparation::hide("erase", "two")],
        "schema" => narrow(json!({ "type": 7 })),
        "deceptive" => vec![Preparation::narrow("note", property(json!({}))).described("Hides \u{202e}something.")],
        "lengths" => {
            let texts = [Some(&caller.session), caller.client.as_ref(), caller.model.as_ref()];
            vec![Preparation::hide("erase", format!("{:?}", texts.map(|text| text.map_or(0, String::len))))]
        }
        "long" => vec![Preparation::hide("erase", "x".repeat(MUCH_BYTES / 2))],
        "handles" => vec![Preparation::hide("erase", opened(offer.context()))],
        _ => Vec::new(),
    }
}

/// Tries to open what the policy grants to calls, and says how that went.
fn opened(context: &Context) -> String {
    let opened = [
        ("notes", context.directory("notes").is_ok()),
        ("site", context.client("site").is_ok()),
        ("seen", context.store("seen").is_ok()),
        ("others", context.tools("others").is_ok()),
    ];
    let opened: Vec<&str> = opened.iter().filter(|(_, opened)| *opened).map(|(key, _)| *key).collect();
    format!("opened {opened:?}")
}

plugin! {
    name: "prepared",
    description: "Hides and narrows its tools.",
    tools: [note, erase],
    dependencies: [
        optional directory "notes": "what a preparer may not open",
        optional http "site": "what a preparer may not reach",
        optional store "seen": "what a preparer may not read",
        optional tools "others": "what a preparer may not call",
    ],
    preparer: prepare,
}
