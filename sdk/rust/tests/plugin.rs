//! Tests plugins that the macros generate: what the host sees of them, and what their tools see of the host.

use std::io;

use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::Value;
use portcullis_sdk::testing::{self, Question, call};
use portcullis_sdk::{Call, DependencyKind, Hint, Output};

/// What to add.
#[arguments]
struct Add {
    /// The first number.
    #[schemars(range(min = -5, max = 5))]
    one: i32,
    /// The second number.
    #[serde(default)]
    other: Option<u64>,
    /// More of them.
    #[serde(default)]
    more: Vec<Named>,
}

/// A number with a name.
#[arguments]
struct Named {
    /// The name.
    name: String,
    /// The number.
    number: f64,
}

#[output]
struct Sum {
    /// All of it.
    sum: f64,
}

/// Adds numbers.
///
/// All of them.
#[tool(read_only, idempotent, title = "Add numbers")]
fn add(arguments: Add) -> Json<Sum> {
    let more: f64 =
        arguments.more.iter().inspect(|named| assert!(!named.name.is_empty())).map(|named| named.number).sum();
    Json(Sum { sum: f64::from(arguments.one) + arguments.other.unwrap_or(0) as f64 + more })
}

/// Says where things are.
#[tool(name = "where-is", requires(read), optional(write, network), sequential, open_world)]
fn locate(context: &Context) -> Result<String, Failure> {
    context.progress(Progress::title("looking").fraction(0.5));
    context.check_cancelled()?;
    context.ask(Permission::Write, "a file", "to show it")?;
    Ok(format!("{} for {}", context.directory("workspace")?.path().display(), context.call().session))
}

/// What to fail with.
#[arguments]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Fail {
    /// An I/O error.
    Io {
        /// Its text.
        text: String,
    },
    /// Metadata that is a number.
    Metadata,
}

/// Fails.
#[tool(destructive)]
fn fail(arguments: Fail, _context: &Context) -> Result<Success<Value>, Failure> {
    match arguments {
        Fail::Io { text } => Err(io::Error::new(io::ErrorKind::PermissionDenied, text))?,
        Fail::Metadata => Ok(Success::new(json!(1)).metadata(1)),
    }
}

/// Draws.
#[tool]
fn draw() -> Success<Parts> {
    let parts = vec![Part::Text("a dot".to_owned()), Part::Image(Blob::new("image/png", *b"."))];
    Success::new(Parts(parts)).title("Drew").metadata(json!({ "dots": 1 }))
}

plugin! {
    name: "sample",
    description: "Shows all there is.",
    tools: [add, locate, fail, draw],
    dependencies: [directory "workspace": "things", optional http "api": "more things"],
}

#[test]
fn the_manifest_matches_the_declarations() {
    let manifest = PLUGIN.manifest();
    assert_eq!((manifest.name, manifest.version), ("sample", env!("CARGO_PKG_VERSION")));
    let names: Vec<_> = manifest.tools.iter().map(|tool| (tool.name, tool.title)).collect();
    assert_eq!(names, [("add", Some("Add numbers")), ("where-is", None), ("fail", None), ("draw", None)]);
    assert_eq!(manifest.tools[0].description, "Adds numbers.\n\nAll of them.");
    assert_eq!(manifest.tools[0].hints, [Hint::ReadOnly, Hint::Idempotent]);
    assert_eq!(manifest.tools[1].required, [Permission::Read]);
    assert_eq!(manifest.tools[1].optional, [Permission::Write, Permission::Network]);
    let dependencies: Vec<_> = manifest.dependencies.iter().map(|one| (one.key, one.kind, one.optional)).collect();
    assert_eq!(dependencies, [("workspace", DependencyKind::Directory, false), ("api", DependencyKind::Http, true)]);
    assert_eq!(testing::problems(&PLUGIN), Vec::<String>::new());
}

#[test]
fn schemas_follow_the_types() {
    let manifest = PLUGIN.manifest();
    let add = json!({
        "type": "object",
        "description": "What to add.",
        "properties": {
            "one": { "type": "integer", "description": "The first number.", "minimum": -5, "maximum": 5 },
            "other": {
                "type": ["integer", "null"], "description": "The second number.", "minimum": 0, "default": null
            },
            "more": {
                "type": "array",
                "description": "More of them.",
                "items": {
                    "type": "object",
                    "description": "A number with a name.",
                    "properties": {
                        "name": { "type": "string", "description": "The name." },
                        "number": { "type": "number", "description": "The number." }
                    },
                    "required": ["name", "number"],
                    "additionalProperties": false
                }
            }
        },
        "required": ["one"],
        "additionalProperties": false
    });
    assert_eq!(manifest.tools[0].schema, add);
    assert_eq!(manifest.tools[1].schema["properties"], Value::Null);
    assert_eq!(manifest.tools[1].schema["additionalProperties"], json!(false));
    assert_eq!(manifest.tools[2].schema["type"], "object");
    assert_eq!(manifest.tools[2].schema["oneOf"][0]["additionalProperties"], json!(false));
}

#[test]
fn only_typed_json_has_an_output_schema() {
    let schemas: Vec<_> = PLUGIN.manifest().tools.into_iter().map(|tool| tool.output_schema).collect();
    let sum = json!({
        "type": "object",
        "properties": { "sum": { "type": "number", "description": "All of it." } },
        "required": ["sum"],
        "additionalProperties": false
    });
    assert_eq!(schemas, [Some(sum), None, None, None]);
}

#[test]
fn each_return_type_becomes_its_kind_of_output() {
    let context = testing::Context::new();
    let arguments = json!({ "one": 1, "other": 2, "more": [{ "name": "x", "number": 0.5 }] });
    assert_eq!(call(&PLUGIN, "add", arguments, &context).unwrap().output, Output::Json(json!({ "sum": 3.5 })));
    let drawn = call(&PLUGIN, "draw", json!({}), &context).unwrap();
    assert_eq!((drawn.title.as_deref(), drawn.metadata), (Some("Drew"), Some(json!({ "dots": 1 }))));
    assert!(matches!(drawn.output, Output::Parts(parts) if parts.len() == 2));
}

#[test]
fn an_argument_error_names_the_path() {
    let cases = [
        ("add", json!({}), "missing field `one`"),
        ("add", json!({ "one": "1" }), "`one`: invalid type: string \"1\", expected i32"),
        ("add", json!({ "one": 1, "more": [{ "name": "x", "number": [] }] }), "`more[0].number`: invalid type"),
        ("add", json!({ "one": 1, "two": 2 }), "unknown argument `two`"),
        ("draw", json!({ "size": 2 }), "unknown argument `size`"),
        ("fail", json!({ "kind": "other" }), "`kind`: unknown variant `other`, expected `io` or `metadata`"),
        ("none", json!({}), "`sample` has no tool `none`"),
    ];
    for (tool, arguments, told) in cases {
        let failure = call(&PLUGIN, tool, arguments.clone(), &testing::Context::new()).unwrap_err();
        let Failure::InvalidArguments(text) = failure else { panic!("{tool} {arguments}: {failure:?}") };
        assert!(text.starts_with(told) && !text.contains("column"), "{tool} {arguments}: {text}");
    }
}

#[test]
fn errors_become_the_matching_failure() {
    use io::ErrorKind as Kind;
    let context = testing::Context::new();
    let failure = call(&PLUGIN, "fail", json!({ "kind": "io", "text": "no" }), &context).unwrap_err();
    assert_eq!(failure, Failure::denied("no"));
    let failure = call(&PLUGIN, "fail", json!({ "kind": "metadata" }), &context).unwrap_err();
    assert_eq!(failure, Failure::failed("the tool's metadata is not a JSON object"));

    let io = |kind| Failure::from(io::Error::from(kind));
    assert!(matches!(io(Kind::ReadOnlyFilesystem), Failure::Denied(_)));
    assert!(matches!(io(Kind::TimedOut), Failure::Unavailable(_)));
    assert!(matches!(io(Kind::InvalidInput), Failure::InvalidArguments(_)));
    assert!(matches!(io(Kind::NotFound), Failure::Failed(_)));
    assert!(matches!(Failure::from("x".parse::<u8>().unwrap_err()), Failure::Failed(_)));
}

#[test]
fn a_tool_sees_the_scripted_host() {
    let who = Call { id: "1".to_owned(), session: "mine".to_owned(), message: None, agent: None };
    let granted = || testing::Context::new().directory("workspace", "/somewhere").called_by(who.clone());
    let answered = |context: &testing::Context| call(&PLUGIN, "where-is", json!({}), context);

    let context = granted().answer(Ok(()));
    assert_eq!(answered(&context).unwrap().output, Output::Text("/somewhere for mine".to_owned()));
    assert_eq!(context.reported(), [Progress::title("looking").fraction(0.5)]);
    let (resource, reason) = ("a file".to_owned(), "to show it".to_owned());
    let patterns = Vec::new();
    assert_eq!(context.asked(), [Question { permission: Permission::Write, resource, reason, patterns }]);

    assert_eq!(answered(&granted().answer(Err("not now"))), Err(Failure::denied("not now")));
    assert!(matches!(answered(&granted()), Err(Failure::Denied(_))), "a script without an answer says no");
    assert_eq!(answered(&granted().cancelled()), Err(Failure::Cancelled));
    assert!(matches!(answered(&testing::Context::new().answer(Ok(()))), Err(Failure::Denied(_))), "nothing is granted");
}

#[test]
fn a_tool_can_be_called_as_a_function() {
    assert_eq!(add(Add { one: 1, other: None, more: Vec::new() }).0.sum, 1.0);
    assert!(locate(&testing::Context::new()).is_err());
}

/// Tools whose names the SDK itself uses.
mod names {
    use portcullis_sdk::prelude::*;

    /// Says who asks.
    #[tool]
    fn context(context: &Context) -> String {
        context.call().session
    }

    /// Says nothing.
    #[tool]
    fn arguments(_arguments: portcullis_sdk::NoArguments, _context: &Context) -> String {
        String::new()
    }

    plugin! { name: "names", description: "Has names.", tools: [context, arguments] }
}

#[test]
fn a_tool_may_have_any_name() {
    for tool in ["context", "arguments"] {
        assert!(call(&names::PLUGIN, tool, json!({}), &testing::Context::new()).is_ok());
    }
}
