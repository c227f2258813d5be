//! `wasi:config/store`: the policy's settings for one plugin.

use crate::state::desk::{ONE, TWO, ok, open, site, take_as};
use serde_json::{Value, json};

#[tokio::test]
async fn a_plugin_sees_only_its_own_settings() {
    let site = site().await;
    let grants = "[plugin.state-one]\nconfig = { language = \"en\", empty = \"\" }\n\
                  [plugin.state-two]\nconfig = { language = \"de\", tone = \"dry\" }\n";
    let host = open(&site, grants).await;
    let mut steps =
        ["language", "empty", "tone", "Language", "", "PATH"].map(|key| json!({"op": "config", "key": key})).to_vec();
    steps.push(json!({"op": "config-all"}));
    let steps = Value::Array(steps);
    let nothing = || ok(Value::Null);
    let one = take_as(&host, ONE, "s", "p", steps.clone()).await;
    let all = ok(json!([["empty", ""], ["language", "en"]]));
    assert_eq!(one, [ok("en"), ok(""), nothing(), nothing(), nothing(), nothing(), all]);
    let two = take_as(&host, TWO, "s", "p", steps).await;
    let all = ok(json!([["language", "de"], ["tone", "dry"]]));
    assert_eq!(two, [ok("de"), nothing(), ok("dry"), nothing(), nothing(), nothing(), all]);
}

#[tokio::test]
async fn without_settings_there_are_none() {
    let site = site().await;
    let host = open(&site, "").await;
    let found = take_as(&host, ONE, "s", "p", json!([{"op": "config-all"}, {"op": "config", "key": "HOME"}])).await;
    assert_eq!(found, [ok(json!([])), ok(Value::Null)]);
}
