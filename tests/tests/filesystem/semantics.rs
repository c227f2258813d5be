//! The WASI semantics of directories and files, in a granted directory and in a narrowed one.
//!
//! One row per behaviour. The steps run on a granted directory, on the same directory as a narrowed path through a
//! handle of it, and on the narrowed path by paths from the grant.

use crate::filesystem::lab::{Grant, Lab};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;

/// The directory of every row, below the lab's grant.
const STAGE: &str = "stage";

/// How the stage is granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// As a granted directory.
    Whole,
    /// As the narrowed path, opened once.
    Handle,
    /// As the narrowed path, in every path of a step.
    Path,
}

/// The expected result of each step: the name of an error, `ok`, or a value.
type Row = (&'static str, Vec<(Value, Value)>);

fn row(name: &'static str, steps: Vec<(Value, Value)>) -> Row {
    (name, steps)
}

fn op(op: &str, path: &str) -> Value {
    json!({ "op": op, "path": path })
}

fn op_to(op: &str, path: &str, to: &str) -> Value {
    json!({ "op": op, "path": path, "to": to })
}

fn followed(op: &str, path: &str) -> Value {
    json!({ "op": op, "path": path, "flags": ["follow"] })
}

/// Opens a path as `f`.
fn open(path: &str, flags: &[&str]) -> Value {
    json!({ "op": "open-at", "path": path, "keep": "f", "flags": flags })
}

/// An operation on the open `f`.
fn on(op: &str, number: u64, text: &str) -> Value {
    json!({ "op": op, "on": "f", "number": number, "text": text })
}

fn at(number: u64) -> Value {
    on("read-end", number, "")
}

/// Returns the expected result of a read: the text, and whether the end was reached. WASI reports the end when there is
/// no more data.
fn text(text: &str) -> Value {
    json!([text, text.is_empty()])
}

fn rows() -> Vec<Row> {
    let ok = || json!("ok");
    let error = |name: &str| json!({ "error": name });
    [names, kinds, links, ends, renames, contents, sizes].iter().flat_map(|rows| rows(&ok, &error)).collect()
}

fn names(ok: &dyn Fn() -> Value, error: &dyn Fn(&str) -> Value) -> Vec<Row> {
    vec![
        row(
            "an empty path is invalid",
            vec![
                (open("", &["read"]), error("no-entry")),
                (op("stat-at", ""), error("no-entry")),
                (op("create-directory-at", ""), error("no-entry")),
                (op("unlink-file-at", ""), error("no-entry")),
            ],
        ),
        row(
            "a dot is the directory itself",
            vec![
                (op("kind-at", "."), json!("directory")),
                (op("kind-at", "d/."), json!("directory")),
                (op("kind-at", "d/./in"), json!("file")),
                (open(".", &["read", "directory"]), ok()),
                (op("create-directory-at", "."), error("exist")),
                (op("kind-at", "f/."), error("not-directory")),
            ],
        ),
        row(
            "two dots lead up, but not out of the directory",
            vec![
                (op("kind-at", "d/.."), json!("directory")),
                (op("kind-at", "d/../f"), json!("file")),
                (op("kind-at", ".."), error("not-permitted")),
                (op("kind-at", "d/../.."), error("not-permitted")),
                (op("kind-at", "nothing/../f"), error("no-entry")),
                (op("kind-at", "f/../f"), error("not-directory")),
            ],
        ),
        row(
            "a trailing slash requires a directory",
            vec![
                (op("kind-at", "d/"), json!("directory")),
                (op("kind-at", "d//"), json!("directory")),
                (op("kind-at", "f/"), error("not-directory")),
                (open("f/", &["read"]), error("not-directory")),
                (open("new/", &["write", "create"]), error("is-directory")),
                (op("unlink-file-at", "f/"), error("not-directory")),
                (op("create-directory-at", "new/"), ok()),
                (op("remove-directory-at", "new/"), ok()),
                (op_to("rename-at", "f", "g/"), error("not-directory")),
                (op_to("rename-at", "d/", "e/"), ok()),
            ],
        ),
    ]
}

fn kinds(ok: &dyn Fn() -> Value, error: &dyn Fn(&str) -> Value) -> Vec<Row> {
    vec![
        row(
            "kinds are distinguished",
            vec![
                (op("kind-at", "f"), json!("file")),
                (op("kind-at", "d"), json!("directory")),
                (op("kind-at", "to-f"), json!("link")),
                (followed("kind-at", "to-f"), json!("file")),
                (op("kind-at", "nothing"), error("no-entry")),
                (op("links-at", "f"), json!(1)),
                (open("d", &["read"]), ok()),
                (on("get-type", 0, ""), json!("directory")),
                (on("read", 0, ""), error("bad-descriptor")),
                (on("read-via-stream", 0, ""), error("is-directory")),
            ],
        ),
        row(
            "a file is not a directory, and a directory is not a file",
            vec![
                (open("f", &["read", "directory"]), error("not-directory")),
                (open("f/x", &["read"]), error("not-directory")),
                (open("d", &["write"]), error("is-directory")),
                (op("unlink-file-at", "d"), error("is-directory")),
                (op("remove-directory-at", "f"), error("not-directory")),
                (op("remove-directory-at", "d"), error("not-empty")),
                (op("create-directory-at", "f"), error("exist")),
                (op("create-directory-at", "nothing/new"), error("no-entry")),
            ],
        ),
        row(
            "a removed entry is missing, and a created one exists",
            vec![
                (open(".", &["read", "directory"]), ok()),
                (on("read-directory", 0, ""), json!(["d", "dangling", "empty", "f", "loop", "to-d", "to-f"])),
                (op("unlink-file-at", "f"), ok()),
                (op("unlink-file-at", "f"), error("no-entry")),
                (op("remove-directory-at", "empty"), ok()),
                (op("create-directory-at", "made"), ok()),
                (on("read-directory", 0, ""), json!(["d", "dangling", "loop", "made", "to-d", "to-f"])),
            ],
        ),
    ]
}

fn links(ok: &dyn Fn() -> Value, error: &dyn Fn(&str) -> Value) -> Vec<Row> {
    vec![
        row(
            "a link is followed only if requested",
            vec![
                (open("to-f", &["read", "follow"]), ok()),
                (at(0), text("hello")),
                (open("to-f", &["read"]), error("loop")),
                (open("to-d", &["read", "directory", "follow"]), ok()),
                (open("to-d/in", &["read"]), ok()),
                (op("readlink-at", "to-f"), json!("f")),
                (op("readlink-at", "f"), error("invalid")),
                (op("metadata-hash-at", "to-f"), ok()),
            ],
        ),
        row(
            "a trailing slash follows a link to a directory",
            vec![
                (op("kind-at", "to-d/"), json!("directory")),
                (op("kind-at", "to-f/"), error("not-directory")),
                (op("remove-directory-at", "to-d"), error("not-directory")),
            ],
        ),
    ]
}

fn ends(ok: &dyn Fn() -> Value, error: &dyn Fn(&str) -> Value) -> Vec<Row> {
    vec![
        row(
            "a dangling link exists, and its target does not",
            vec![
                (op("kind-at", "dangling"), json!("link")),
                (followed("kind-at", "dangling"), error("no-entry")),
                (open("dangling", &["read", "follow"]), error("no-entry")),
                (open("dangling", &["write", "create", "exclusive", "follow"]), error("exist")),
                (op("create-directory-at", "dangling"), error("exist")),
                (op("unlink-file-at", "dangling"), ok()),
            ],
        ),
        row(
            "following a link to itself fails",
            vec![
                (op("kind-at", "loop"), json!("link")),
                (followed("kind-at", "loop"), error("loop")),
                (open("loop", &["read", "follow"]), error("loop")),
                (open("loop/x", &["read"]), error("loop")),
            ],
        ),
        row(
            "creating or removing a link does not affect its target",
            vec![
                (op_to("symlink-at", "soft", "f"), ok()),
                (op_to("symlink-at", "soft", "f"), error("exist")),
                (op_to("symlink-at", "absolute", "/etc"), error("not-permitted")),
                (op("unlink-file-at", "soft"), ok()),
                (op("kind-at", "f"), json!("file")),
            ],
        ),
        row(
            "a second name is the same file",
            vec![
                (op_to("link-at", "f", "hard"), ok()),
                (op("links-at", "f"), json!(2)),
                (op_to("link-at", "f", "d"), error("exist")),
                (op_to("link-at", "d", "hard-d"), error("not-permitted")),
                (op("unlink-file-at", "f"), ok()),
                (open("hard", &["read"]), ok()),
                (at(0), text("hello")),
            ],
        ),
    ]
}

fn renames(ok: &dyn Fn() -> Value, error: &dyn Fn(&str) -> Value) -> Vec<Row> {
    vec![
        row(
            "a rename replaces a file",
            vec![
                (op_to("rename-at", "f", "d/in"), ok()),
                (op("kind-at", "f"), error("no-entry")),
                (open("d/in", &["read"]), ok()),
                (at(0), text("hello")),
            ],
        ),
        row(
            "a rename onto itself changes nothing",
            vec![
                (op_to("rename-at", "f", "f"), ok()),
                (op_to("rename-at", "d", "d"), ok()),
                (op("kind-at", "f"), json!("file")),
                (op("kind-at", "d/in"), json!("file")),
            ],
        ),
        row(
            "a rename replaces only an empty directory",
            vec![
                (op_to("rename-at", "f", "d"), error("is-directory")),
                (op_to("rename-at", "d", "f"), error("not-directory")),
                (op_to("rename-at", "empty", "d"), error("not-empty")),
                (op_to("rename-at", "d", "d/below"), error("invalid")),
                (op_to("rename-at", "d", "empty"), ok()),
                (op("kind-at", "empty/in"), json!("file")),
                (op_to("rename-at", "nothing", "new"), error("no-entry")),
            ],
        ),
        row(
            "a rename moves a link and not its target",
            vec![
                (op_to("rename-at", "to-f", "moved"), ok()),
                (op("kind-at", "moved"), json!("link")),
                (op_to("rename-at", "moved", "f"), ok()),
                (op("kind-at", "f"), json!("link")),
            ],
        ),
    ]
}

fn contents(ok: &dyn Fn() -> Value, error: &dyn Fn(&str) -> Value) -> Vec<Row> {
    vec![
        row(
            "a file is created, and only once if exclusive",
            vec![
                (open("new", &["read", "write", "create", "exclusive"]), ok()),
                (open("new", &["write", "create", "exclusive"]), error("exist")),
                (open("new", &["write", "create"]), ok()),
                (open("nothing", &["read"]), error("no-entry")),
                (open("nothing/new", &["write", "create"]), error("no-entry")),
                (open("d", &["write", "create", "exclusive"]), error("exist")),
                (open("d", &["directory", "create"]), error("invalid")),
            ],
        ),
        row(
            "opening truncates only if requested",
            vec![
                (open("f", &["read", "write"]), ok()),
                (at(0), text("hello")),
                (open("f", &["read", "write", "truncate"]), ok()),
                (at(0), text("")),
                (open("f", &["read", "write", "create"]), ok()),
                (on("write", 0, "more"), json!(4)),
                (open("f", &["read", "write", "create"]), ok()),
                (at(0), text("more")),
            ],
        ),
        row(
            "a read past the end is empty",
            vec![
                (open("f", &["read"]), ok()),
                (at(4), text("o")),
                (at(5), text("")),
                (at(1 << 40), text("")),
                (on("write", 0, "x"), error("bad-descriptor")),
            ],
        ),
        row(
            "a write beyond the end leaves zeros between",
            vec![
                (open("f", &["read", "write"]), ok()),
                (on("write", 7, "x"), json!(1)),
                (at(0), text("hello\0\0x")),
                (on("write", 1, "E"), json!(1)),
                (at(0), text("hEllo\0\0x")),
                (on("write-via-stream", 9, "y"), ok()),
                (at(7), text("x\0y")),
            ],
        ),
    ]
}

fn sizes(ok: &dyn Fn() -> Value, error: &dyn Fn(&str) -> Value) -> Vec<Row> {
    vec![
        row(
            "an append goes to the current end",
            vec![
                (open("f", &["read", "write"]), ok()),
                (on("append-via-stream", 0, " you"), ok()),
                (on("set-size", 5, ""), ok()),
                (on("append-via-stream", 0, "!"), ok()),
                (at(0), text("hello!")),
            ],
        ),
        row(
            "a size can grow and shrink",
            vec![
                (open("f", &["read", "write"]), ok()),
                (on("set-size", 2, ""), ok()),
                (on("set-size", 4, ""), ok()),
                (at(0), text("he\0\0")),
                (on("stat", 0, ""), json!(4)),
                (on("set-size", u64::MAX, ""), error("quota")),
            ],
        ),
        row(
            "an open file outlives its name",
            vec![
                (open("f", &["read", "write"]), ok()),
                (op("unlink-file-at", "f"), ok()),
                (at(0), text("hello")),
                (on("write", 0, "H"), json!(1)),
                (at(0), text("Hello")),
                (op("kind-at", "f"), error("no-entry")),
            ],
        ),
        row(
            "an open file stays the same file after a rename",
            vec![
                (open("f", &["read", "write"]), ok()),
                (op_to("rename-at", "f", "g"), ok()),
                (on("write", 0, "J"), json!(1)),
                (open("g", &["read"]), ok()),
                (at(0), text("Jello")),
            ],
        ),
    ]
}

/// Clears the stage and sets it up.
fn set(lab: &Lab, way: Way) {
    let stage = if way == Way::Whole { lab.site.path("world/stage") } else { lab.path(STAGE) };
    if stage.exists() {
        for entry in fs::read_dir(&stage).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
        }
    }
    for directory in ["d", "empty"] {
        fs::create_dir_all(stage.join(directory)).unwrap();
    }
    for (file, text) in [("f", "hello"), ("d/in", "in")] {
        fs::write(stage.join(file), text).unwrap();
    }
    for (link, target) in [("to-f", "f"), ("to-d", "d"), ("dangling", "nothing"), ("loop", "loop")] {
        symlink(target, stage.join(link)).unwrap();
    }
}

/// Returns a step adapted to a grant, or `None` if the path cannot be expressed there.
fn taken(step: &Value, way: Way) -> Option<Value> {
    let mut step = step.clone();
    if step.get("on").is_some() || way == Way::Whole {
        return Some(step);
    }
    if way == Way::Handle {
        (step["on"], step["to_on"]) = (json!("s"), json!("s"));
        return Some(step);
    }
    if step["path"] == "" {
        return None;
    }
    // The target of a symbolic link is not relative to the handle.
    let names: &[&str] = if step["op"] == "symlink-at" { &["path"] } else { &["path", "to"] };
    for name in names {
        if let Some(path) = step.get(name).and_then(Value::as_str) {
            step[name] = json!(format!("{STAGE}/{path}"));
        }
    }
    Some(step)
}

#[tokio::test]
async fn a_directory_follows_the_wasi_semantics() {
    for way in [Way::Whole, Way::Handle, Way::Path] {
        let lab = match way {
            Way::Whole => Lab::held(Grant::ReadWrite, "", "", "world/stage", None).await,
            Way::Handle | Way::Path => Lab::narrowed(Grant::ReadWrite, "", STAGE).await,
        };
        let mut wrong = Vec::new();
        for (name, row) in rows() {
            set(&lab, way);
            let mut steps = vec![json!({"op": "open-at", "path": STAGE, "keep": "s", "flags": ["read", "directory"]})];
            let row: Vec<_> = row.iter().filter_map(|(step, came)| Some((taken(step, way)?, came))).collect();
            steps.extend(row.iter().map(|(step, _)| step.clone()));
            let results = lab.take(Value::Array(steps)).await;
            for ((step, expected), result) in row.iter().zip(&results[1..]) {
                let mut found = result["ok"].clone();
                if step["op"] == "read-directory"
                    && let Some(names) = found.as_array_mut()
                {
                    names.sort_by_key(ToString::to_string);
                }
                let right = match (&result["error"], *expected) {
                    (Value::Null, Value::String(ok)) if ok == "ok" => true,
                    (Value::Null, expected) => found == *expected,
                    (error, expected) => *error == expected["error"],
                };
                if !right {
                    wrong.push(format!("{name}: {step} returned {result}, not {expected}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{way:?}:\n{}", wrong.join("\n"));
    }
}
