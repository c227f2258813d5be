//! Manifests that are false, aggressive or too large, with harmless code: S47, S48, S51, S52, K01 to K06, K09.

use portcullis::plugins::{Contract, DefinitionError, LoadError, SchemaError};
use portcullis_tests::{Attack, Manifest, Tool, component, module_of};
use std::time::{Duration, Instant};

/// Asserts that a plugin `liar` with this manifest is refused. Returns the error.
async fn refused(contract: Contract, manifest: &Manifest, expected: impl Fn(&DefinitionError) -> bool) -> String {
    let bytes = component(&module_of(contract, "", manifest));
    let attack = Attack::bytes("liar", &bytes);
    let refused = |error: &LoadError| match error {
        LoadError::Definition(errors) => !errors.is_empty() && errors.iter().all(&expected),
        _ => false,
    };
    let says = attack.refused(refused).await;
    assert!(says.len() < 2048, "{} bytes of refusal", says.len());
    assert!(!says.chars().any(portcullis::text::is_deceptive), "{says:?}");
    says
}

fn with_schema(schema: &str) -> Manifest {
    Manifest::of("liar").tool(|tool| tool.schema = schema.to_owned())
}

async fn a_manifest_of_another_name_is_refused(contract: Contract) {
    refused(contract, &Manifest::of("good"), |error| matches!(error, DefinitionError::OtherName { .. })).await;
    refused(contract, &Manifest::of("\u{1b}[2Jliar"), |error| matches!(error, DefinitionError::OtherName { .. })).await;
}

async fn s48_a_name_that_is_not_plain_is_refused(contract: Contract) {
    let long = "a".repeat(65);
    let names = [
        "",
        "Run",
        "1run",
        "run ",
        " run",
        "ru\u{3000}n",
        "r\u{443}n",
        "run\0",
        "run\n",
        "run.run",
        "ruň",
        "run\u{301}",
        "run\u{200b}",
        "-run",
        "../run",
        long.as_str(),
        "\u{ff52}un",
        "<b>",
        "run;",
        "%72un",
    ];
    for name in names {
        let manifest = Manifest::of("liar").tool(|tool| tool.name = name.to_owned());
        refused(contract, &manifest, |error| matches!(error, DefinitionError::Name { .. })).await;
    }
    let manifest = Manifest::of("liar").directory("../etc", true);
    refused(contract, &manifest, |error| matches!(error, DefinitionError::Name { .. })).await;
}

async fn s47_a_tool_or_a_dependency_that_appears_twice_is_refused(contract: Contract) {
    let mut twice = Manifest::of("liar");
    twice.tools.push(Tool::new("run"));
    refused(contract, &twice, |error| matches!(error, DefinitionError::Twice { .. })).await;
    let twice = Manifest::of("liar").directory("workspace", true).directory("workspace", false);
    refused(contract, &twice, |error| matches!(error, DefinitionError::Twice { .. })).await;
}

async fn s51_characters_that_hide_are_refused_wherever_they_stand(contract: Contract) {
    let hidden = ["\u{1b}[2J", "\u{e0041}", "\u{200b}", "\u{202e}", "\u{7f}", "\u{9b}", "\u{2028}", "\u{feff}", "\r"];
    for hidden in hidden {
        let text = format!("Adds numbers.{hidden} Nothing else.");
        let mut places = vec![Manifest::of("liar"); 6];
        places[0].description.clone_from(&text);
        places[1].version.clone_from(&text);
        places[2].tools[0].description.clone_from(&text);
        places[3].tools[0].title = Some(text.clone());
        let schema = serde_json::json!({"type": "object", "description": text});
        places[4].tools[0].schema = schema.to_string();
        places[5] = places[5].clone().directory("workspace", true);
        places[5].dependencies[0].reason.clone_from(&text);
        for manifest in &places {
            refused(contract, manifest, |error| matches!(error, DefinitionError::Text { .. })).await;
        }
    }
}

async fn s52_a_manifest_that_is_too_large_is_refused(contract: Contract) {
    let mut shouting = Manifest::of("liar");
    shouting.description = "x".repeat(4097);
    refused(contract, &shouting, |error| matches!(error, DefinitionError::Text { .. })).await;
    let mut many = Manifest::of("liar");
    many.tools = (0..257).map(|number| Tool::new(&format!("tool-{number}"))).collect();
    refused(contract, &many, |error| matches!(error, DefinitionError::TooMany { .. })).await;
    let mut none = Manifest::of("liar");
    none.tools.clear();
    refused(contract, &none, |error| matches!(error, DefinitionError::NoTools)).await;
    let mut asking = Manifest::of("liar");
    (0..33).for_each(|number| asking = asking.clone().directory(&format!("key-{number}"), true));
    refused(contract, &asking, |error| matches!(error, DefinitionError::TooMany { .. })).await;
}

/// A manifest that is larger than the copy limit of `describe` never reaches the checks.
async fn s52_a_manifest_of_ten_megabytes_is_not_copied(contract: Contract) {
    let mut huge = Manifest::of("liar");
    huge.description = "x".repeat(10_000_000);
    let attack = Attack::bytes("liar", &component(&module_of(contract, "", &huge)));
    let says = attack.refused(|error| matches!(error, LoadError::Describe(_))).await;
    assert!(says.contains("limit on transfer"), "{says}");
    let mut many = Manifest::of("liar");
    many.tools = (0..5000).map(|number| Tool::new(&format!("tool-{number}"))).collect();
    let attack = Attack::bytes("liar", &component(&module_of(contract, "", &many)));
    attack.refused(|error| matches!(error, LoadError::Describe(_) | LoadError::Definition(_))).await;
}

/// Schemas that would cost the host time, memory or a request.
async fn schema_bombs_are_refused_at_load(contract: Contract) {
    let doubling = (0..27).fold(r##"{"$defs":{"d27":{"type":"string"}"##.to_owned(), |schema, level| {
        let next = level + 1;
        format!(r##"{schema},"d{level}":{{"anyOf":[{{"$ref":"#/$defs/d{next}"}},{{"$ref":"#/$defs/d{next}"}}]}}"##)
    });
    let deep = format!("{}{{}}{}", r#"{"items":"#.repeat(200), "}".repeat(200));
    let bombs = [
        format!(r##"{doubling}}},"type":"object","properties":{{"a":{{"$ref":"#/$defs/d0"}}}}}}"##),
        format!(r#"{{"type":"object","properties":{{"a":{deep}}}}}"#),
        r#"{"type":"object","properties":{"a":{"$ref":"http://127.0.0.1:1/schema.json"}}}"#.to_owned(),
        r#"{"type":"object","properties":{"a":{"$ref":"file:///etc/passwd"}}}"#.to_owned(),
        r#"{"$schema":"http://127.0.0.1:1/dialect","type":"object"}"#.to_owned(),
        r##"{"type":"object","$ref":"#"}"##.to_owned(),
        r#"{"type":"object","properties":{"a":{"pattern":"^(?=(a+)+$)"}}}"#.to_owned(),
        r#"{"type":"object","properties":{"a":{"pattern":"(\\w{1000}){1000}"}}}"#.to_owned(),
        format!(r#"{{"type":"object","description":"{}"}}"#, "x".repeat(70_000)),
        r#"{"type":"string"}"#.to_owned(),
        r#"{"type":"object","type":"object"}"#.to_owned(),
        "not JSON".to_owned(),
    ];
    for bomb in bombs {
        let began = Instant::now();
        let expected = |error: &DefinitionError| match error {
            DefinitionError::Schema { error, .. } => {
                matches!(error, SchemaError::Gate(_) | SchemaError::Invalid(_) | SchemaError::NotJson(_))
            }
            _ => false,
        };
        refused(contract, &with_schema(&bomb), expected).await;
        assert!(began.elapsed() < Duration::from_secs(3), "{:?} for {}", began.elapsed(), &bomb[..bomb.len().min(80)]);
    }
}

in_every_contract! {
    tokio::test =>
        a_manifest_of_another_name_is_refused
        s48_a_name_that_is_not_plain_is_refused
        s47_a_tool_or_a_dependency_that_appears_twice_is_refused
        s51_characters_that_hide_are_refused_wherever_they_stand
        s52_a_manifest_that_is_too_large_is_refused
        s52_a_manifest_of_ten_megabytes_is_not_copied
        schema_bombs_are_refused_at_load;
}
