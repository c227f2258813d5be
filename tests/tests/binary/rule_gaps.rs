//! `list`, `explain` and `call` report a rule on a path that tools bypass, with the mask to use instead.

use crate::binary::desk::{Desk, OPEN};
use serde_json::json;
use std::fs;

const RULE: &str = "[[rule]]\ntool = \"files.*\"\nwhen = { path = \"secrets/**\" }\ndecision = \"deny\"\n";
const MASK: &str = r#"hidden = ["secrets/**"]"#;

#[test]
fn a_rule_that_does_not_keep_a_plugin_from_a_path_is_reported_with_the_mask_to_use() {
    let desk = Desk::new(&format!("{OPEN}{RULE}"));
    fs::create_dir(desk.site.path("work/secrets")).unwrap();
    fs::write(desk.site.path("work/secrets/key"), "rose-7f3a\n").unwrap();

    let list = desk.run(&["list", "--json"]).ends(0).document();
    let gap = list["rule_gaps"][0].as_str().unwrap();
    assert!(gap.contains("files.grep") && gap.contains(MASK) && gap.contains("[plugin.files]"), "{gap}");
    let explained = desk.run(&["explain", "files.grep", r#"{"regex":"rose"}"#, "--json"]).ends(0).document();
    assert_eq!(explained["rule_gaps"][0].as_str(), Some(gap));
    for arguments in [&["list"][..], &["explain", "files.grep", r#"{"regex":"rose"}"#]] {
        assert!(desk.run(arguments).ends(0).out.contains(MASK), "{arguments:?}");
    }
    // The warning appears when the host opens, and it is correct: the tool finds the file that the rule should protect.
    let called = desk.run(&["call", "files.grep", r#"{"regex":"7f3a"}"#]).ends(0);
    assert!(called.err.contains(MASK), "{}", called.err);
    assert!(called.out.contains("secrets/key"), "{}", called.out);

    desk.policy(&format!("{}{RULE}", OPEN.replace("read-write\"", &format!("read-write\", {MASK}"))));
    assert_eq!(desk.run(&["list", "--json"]).ends(0).document()["rule_gaps"], json!([]));
    let called = desk.run(&["call", "files.grep", r#"{"regex":"7f3a"}"#]);
    assert!(!called.out.contains("secrets") && !called.err.contains("hidden ="), "{} {}", called.out, called.err);
}
