//! What is no case, no run, or no plugin is said, with its place, and never passes.

use crate::bench::Bench;
use portcullis_tests::{Manifest, guest};

#[test]
fn a_malformed_file_is_told_with_its_place() {
    let bench = Bench::new();
    bench.component("good", &guest("good", &Manifest::of("good")));
    let good = r#"{"name":"first","tool":"run","expect":{"outcome":"completed"}}"#;
    for (text, says) in [
        ("{", "a.json: EOF while parsing"),
        (r#"{"name":"x"}"#, "the case `x`: a case has either `tool` and `expect`, or `steps`"),
        (
            r#"{"name":"x","tool":"run","expect":{"outcome":"done"}}"#,
            "there is no outcome `done`: say one of completed",
        ),
        (r#"{"name":"x","tool":"run","expect":{"outcome":"failed","txt":""}}"#, "unknown field `txt`"),
        (r#"{"name":"x","tool":"run","steps":[],"expect":{"outcome":"failed"}}"#, "either `tool`"),
        (r#"{"name":"x","steps":[]}"#, "`steps` is empty"),
        (r#"{"name":"x","tool":"run","decision":"maybe","expect":{"outcome":"failed"}}"#, "unknown variant `maybe`"),
        (r#"{"tool":"run","expect":{"outcome":"failed"}}"#, "the case `number 1`: missing field `name`"),
        (
            r#"{"name":"x","tool":"run","arguments":{},"arguments_text":"","expect":{"outcome":"failed"}}"#,
            "exclude each other",
        ),
        (
            r#"{"name":"x","grants":{"directory":{"w":{"files":{"../a":""}}}},"tool":"run",
                "expect":{"outcome":"failed"}}"#,
            "`../a` is no plain relative path",
        ),
    ] {
        bench.file("a.json", text);
        let ran = bench.test("good", &[]).ends(2);
        assert!(ran.err.contains(says) && ran.err.contains("a.json"), "{says}: {}", ran.err);
    }
    bench.file("a.json", &format!("[{good},\n{{\"name\":\"second\",\"tool\":\"run\",\"expekt\":1}}]"));
    let told = bench.test("good", &[]).ends(2).err;
    assert!(told.contains("the case `second`: unknown field `expekt`") && told.contains("at line 2 column"), "{told}");
}

#[test]
fn a_run_without_a_case_is_no_success() {
    let bench = Bench::new();
    bench.component("good", &guest("good", &Manifest::of("good")));
    assert!(bench.test("good", &[]).ends(2).err.contains("tests"));
    bench.file("readme.txt", "no case");
    assert!(bench.test("good", &[]).ends(2).err.contains("has no case"));
    bench.file("a.json", "[]");
    assert!(bench.test("good", &[]).ends(2).err.contains("has no case"));
    bench.file("a.json", r#"{"name":"first","tool":"run","expect":{"outcome":"completed"}}"#);
    bench.test("good", &[]).ends(0);
    assert!(bench.test("good", &["--only", "second"]).ends(2).err.contains("whose name contains `second`"));
}

#[test]
fn what_is_no_plugin_or_asks_for_no_such_thing_is_told() {
    let bench = Bench::new();
    bench.file("a.json", r#"{"name":"first","tool":"run","expect":{"outcome":"completed"}}"#);
    bench.component("broken", b"no component");
    let told = bench.test("broken", &[]).ends(7).err;
    assert!(told.contains("the host refuses this plugin"), "{told}");
    bench.component("good", &guest("good", &Manifest::of("good")));
    bench.file(
        "a.json",
        r#"{"name":"x","tool":"run","grants":{"store":{"notes":"session"}},"expect":{"outcome":"completed"}}"#,
    );
    let failed = bench.fails("good");
    assert!(failed[0].contains("the case cannot be set up") && failed[0].contains("`notes`"), "{failed:?}");
    let no_project = bench.run(&["test"]).ends(2).err;
    assert!(no_project.contains("is no project"), "{no_project}");
}
