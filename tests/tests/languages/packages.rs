//! Third-party packages in a JavaScript plugin: which of their builds is used, and the errors for packages that do not
//! work.

use crate::row::repository;
use crate::templates::shell;
use portcullis_tests::Ran;
use serde_json::json;
use std::fs;
use std::path::Path;

/// Real packages, which have a build for Node and another for browsers or for any runtime.
const PACKAGES: &str = "axios@1.21.1 csv-parse@7.0.3";

/// The end of every source here, after its imports.
const PLUGIN: &str = r#"
export default plugin({
  name: "packages",
  version: "0.1.0",
  description: "Uses packages of others.",
  tools,
  dependencies: { web: { kind: "http", reason: "the pages" } },
});
"#;

const TOOLS: &str = r#"
import axios from "axios";
import { parse } from "csv-parse/sync";
import { Buffer as Named } from "node:buffer";
import { plugin, tool } from "portcullis-sdk";

const text = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
const make = (name, requires, execute) => tool({ name, description: "Tests.", arguments: text, requires, execute });
const tools = [
  make("get", ["network"], async ({ text }) => {
    const { status, data } = await axios.get(text, { timeout: 5000, params: { q: "a b" }, responseType: "json" });
    return { status, data };
  }),
  make("post", ["network"], async ({ text }) => {
    const { status, headers } = await axios.post(text, { a: 1 }, { validateStatus: null });
    return { status, type: headers["content-type"] };
  }),
  make("table", [], ({ text }) => parse(text, { columns: true })),
  make("bytes", [], ({ text }) => {
    return Buffer.concat([Named.from(text), globalThis.Buffer.alloc(1)]).toString("base64");
  }),
];
"#;

/// Creates a project with this source.
fn project(place: &Path, source: &str) {
    let sdk = repository().join("sdk/js");
    let about = format!("name = \"packages\"\nlanguage = \"javascript\"\nsdk = {:?}\n", sdk.display().to_string());
    fs::write(place.join("plugin.toml"), about).unwrap();
    fs::write(place.join("package.json"), "{\"private\":true,\"type\":\"module\"}").unwrap();
    fs::create_dir_all(place.join("src")).unwrap();
    fs::write(place.join("src/plugin.js"), format!("{source}{PLUGIN}")).unwrap();
}

/// Builds a project with this source and with packages that a test writes, given by their names and files.
fn built(place: &Path, source: &str, packages: &[(&str, &str)]) -> Ran {
    project(place, &format!("import {{ plugin, tool }} from \"portcullis-sdk\";\n{source}"));
    for (file, text) in packages {
        let file = place.join("node_modules").join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    shell(place, &place.join("state"), "portcullis build")
}

#[test]
fn packages_with_a_build_that_does_not_need_node_work() {
    let place = tempfile::tempdir().unwrap();
    let (folder, state) = (place.path(), place.path().join("state"));
    project(folder, TOOLS);
    shell(folder, &state, &format!("npm install --ignore-scripts --no-audit --no-fund {PACKAGES}")).ends(0);
    shell(folder, &state, "portcullis build").ends(0);
    let web = |answer: serde_json::Value| json!({ "http": { "web": { "answers": [answer] } } });
    let got = json!({ "method": "GET", "path": "/a?q=a+b", "headers": { "content-type": "application/json" },
        "status": 200, "body": { "n": 1 } });
    let posted = json!({ "method": "POST", "path": "/p", "headers": { "content-type": "text/plain" },
        "status": 404, "body": "no" });
    let sent = json!([{ "method": "POST", "path": "/p", "headers": { "content-type": "application/json" },
        "body": "{\"a\":1}" }]);
    let cases = json!([
        { "name": "axios gets", "tool": "get", "arguments": { "text": "${http.web}/a" }, "grants": web(got),
            "expect": { "outcome": "completed", "json": { "status": 200, "data": { "n": 1 } } } },
        { "name": "axios posts", "tool": "post", "arguments": { "text": "${http.web}/p" }, "grants": web(posted),
            "expect": { "outcome": "completed", "json": { "status": 404, "type": "text/plain" }, "requests": sent } },
        { "name": "csv-parse/sync parses", "tool": "table", "arguments": { "text": "a,b\n1,\"x,ü\"\n" },
            "expect": { "outcome": "completed", "json": [{ "a": "1", "b": "x,ü" }] } },
        { "name": "Buffer is there", "tool": "bytes", "arguments": { "text": "hü" },
            "expect": { "outcome": "completed", "text": "aMO8AA==" } },
    ]);
    fs::create_dir(folder.join("tests")).unwrap();
    fs::write(folder.join("tests/packages.json"), cases.to_string()).unwrap();
    shell(folder, &state, "portcullis test").ends(0);
}

/// The field `browser` of a package replaces single files, or says that a Node module is not needed.
#[test]
fn the_browser_field_of_a_package_replaces_files() {
    let place = tempfile::tempdir().unwrap();
    let source = "import { here, key } from \"two\";\n\
        const tools = [tool({ name: \"t\", description: \"T.\", arguments: { type: \"object\", properties: {} },\n\
        execute: () => `${here} ${key}` })];\n";
    let manifest = json!({ "name": "two", "main": "index.js",
        "browser": { "./place.js": "./browser.js", "crypto": false } });
    let packages = [
        ("two/package.json", manifest.to_string()),
        ("two/index.js", "exports.here = require('./place.js'); exports.key = typeof require('crypto').key;".into()),
        ("two/place.js", "module.exports = require('node:os').hostname();".into()),
        ("two/browser.js", "module.exports = 'browser';".to_owned()),
    ];
    built(place.path(), source, &packages.each_ref().map(|(file, text)| (*file, text.as_str()))).ends(0);
    let policy = "[defaults]\ndecision = \"allow\"\n";
    fs::write(place.path().join("allow.toml"), policy).unwrap();
    let call = "portcullis call packages.t --policy allow.toml";
    let ran = shell(place.path(), &place.path().join("state"), call).ends(0);
    assert_eq!(ran.out.trim_end(), "browser undefined");
}

/// Installing a package again does not help if only one of its paths is missing.
#[test]
fn a_missing_path_of_an_installed_package_is_not_a_missing_package() {
    let manifest = json!({ "name": "@there/one", "exports": { ".": "./index.js", "./sync": "./sync.js" } }).to_string();
    let one = [("@there/one/package.json", manifest.as_str()), ("@there/one/index.js", "export const a = 1;")];
    let old = [("old/package.json", "{\"name\":\"old\",\"main\":\"index.js\"}"), ("old/index.js", "exports.a = 1;")];
    for (import, packages, wanted) in [
        ("@there/one/none", &one, "`@there/one` is installed and has no `@there/one/none` for a plugin: it exports"),
        ("old/none", &old, "the package `old` is installed and has no `old/none` for a plugin"),
    ] {
        let place = tempfile::tempdir().unwrap();
        let ran = built(place.path(), &format!("import {{ a }} from \"{import}\";\nconst tools = [a];\n"), packages);
        assert_ne!(ran.code, Some(0));
        assert!(ran.err.contains(wanted), "{}", ran.err);
        assert!(!ran.err.contains("npm install") && !ran.err.contains("external"), "{}", ran.err);
        assert!(!ran.err.contains("bundle.mjs"), "the command is shown: {}", ran.err);
    }
    let place = tempfile::tempdir().unwrap();
    let ran = built(place.path(), "import a from \"absent/sub\";\nconst tools = [a];\n", &one);
    assert!(ran.err.contains("the package `absent` is not installed"), "{}", ran.err);
    assert!(ran.err.contains("npm install absent"), "{}", ran.err);
}

/// A package that needs Node may have another build that does not.
#[test]
fn the_error_for_a_node_package_names_its_browser_builds() {
    let place = tempfile::tempdir().unwrap();
    let exports = json!({ ".": "./index.js", "./browser/esm": "./browser.js" });
    let manifest = json!({ "name": "nodes", "type": "module", "exports": exports }).to_string();
    let packages = [
        ("nodes/package.json", manifest.as_str()),
        ("nodes/index.js", "import { Transform } from 'stream';\nexport const a = new Transform();\n"),
    ];
    let ran = built(place.path(), "import { a } from \"nodes\";\nconst tools = [a];\n", &packages);
    assert_ne!(ran.code, Some(0));
    for wanted in ["a plugin has no `stream` of Node's", "its package has `nodes/browser/esm`", "node:buffer"] {
        assert!(ran.err.contains(wanted), "{wanted}: {}", ran.err);
    }
}
