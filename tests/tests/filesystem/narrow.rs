//! A grant that is narrowed to one path per call, against a guest that tries everything.

use crate::filesystem::escape::attempts;
use crate::filesystem::lab::{Grant, Lab, SECRET};
use crate::filesystem::race::RACE_LIMITS;
use portcullis::Code;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;

/// A lab with a house in the grant: one room that a call may enter, and rooms that it may not. Everything forbidden is
/// recognizable by its content or its name.
pub(crate) async fn house(grant: Grant, place: &'static str) -> Lab {
    let lab = Lab::narrowed(grant, RACE_LIMITS, place).await;
    furnish(&lab);
    lab
}

pub(crate) fn furnish(lab: &Lab) {
    for directory in ["house/room/sub", "house/private/sub", "house/roomy", "house/empty"] {
        fs::create_dir_all(lab.path(directory)).unwrap();
    }
    for file in ["house/room/note.txt", "house/room/sub/deep.txt"] {
        fs::write(lab.path(file), "inside").unwrap();
    }
    let names = format!("house/{SECRET}.txt");
    for file in
        ["house/private/secret.txt", "house/private/sub/secret.txt", "house/roomy/secret.txt", "secret.txt", &names]
    {
        fs::write(lab.path(file), SECRET).unwrap();
    }
    for (link, target) in [
        ("house/room/out", "../private"),
        ("house/room/out-file", "../private/secret.txt"),
        ("house/room/up", ".."),
        ("house/room/sub/up", "../../private"),
        ("house/room/near", "note.txt"),
        ("house/link", "private"),
        ("house/link-file", "private/secret.txt"),
        ("house/link-room", "room"),
        ("house/to-nothing", "private/planted"),
        ("way", "house"),
        ("way-out", "../outside"),
    ] {
        symlink(target, lab.path(link)).unwrap();
    }
}

/// Paths that are not `house/room` or below it, in every spelling.
const ELSEWHERE: [&str; 48] = [
    "file.txt",
    "dir",
    "dir/inner.txt",
    "dir/",
    "secret.txt",
    "nothing",
    "way",
    "way/room/note.txt",
    "way/private/secret.txt",
    "way-out/secret.txt",
    "house/private",
    "house/private/",
    "house/private/.",
    "house/private/secret.txt",
    "house/private/nothing",
    "house/private/sub/secret.txt",
    "house/roomy",
    "house/roomy/secret.txt",
    "house/roo",
    "house/Room/note.txt",
    "house/room.",
    "house/room /note.txt",
    "house/room\0",
    "house/room\\note.txt",
    "house/link",
    "house/link/",
    "house/link/secret.txt",
    "house/link-file",
    "house/link-room/note.txt",
    "house/to-nothing",
    "house/nothing/../room/note.txt",
    "house/private/../room/note.txt",
    "house/room/..",
    "house/room/../private",
    "house/room/../private/secret.txt",
    "house/room/./../private/secret.txt",
    "house/room//..//private//secret.txt",
    "house/room/sub/../../private/secret.txt",
    "house/room/note.txt/../../private/secret.txt",
    "house/room/../room/note.txt",
    "house/../secret.txt",
    "house/../house/private/secret.txt",
    "..",
    "../grant/house/private/secret.txt",
    "../outside/secret.txt",
    "/",
    "/workspace/house/room/note.txt",
    "",
];

/// The parents of the granted path, which can be looked up and opened, and nothing else.
const WAYS: [&str; 7] = [".", "./", "house", "house/", "house/.", "./house/", "house/../house"];

/// Every operation except those that a parent directory allows.
fn changes_of_a_way(path: &str) -> Vec<Value> {
    let looks = ["stat-at", "metadata-hash-at"];
    let opens = |attempt: &Value| {
        attempt["op"] == "open-at"
            && !["write", "create"].iter().any(|flag| attempt["flags"].to_string().contains(flag))
    };
    attempts(path)
        .into_iter()
        .filter(|attempt| !looks.contains(&attempt["op"].as_str().unwrap()) && !opens(attempt))
        .collect()
}

#[tokio::test]
async fn only_the_narrowed_path_is_accessible() {
    for grant in Grant::ALL {
        for place in ["house/room", "house/room/"] {
            let lab = house(grant, place).await;
            for path in ELSEWHERE {
                lab.refuses(attempts(path)).await;
            }
            for path in WAYS {
                lab.refuses(changes_of_a_way(path)).await;
            }
        }
    }
}

/// A call that is narrowed to a file, or to a path that does not exist, reaches no more than one narrowed to a
/// directory.
#[tokio::test]
async fn only_the_narrowed_file_is_accessible() {
    for grant in Grant::ALL {
        for place in ["house/room/note.txt", "house/room/new.txt", "house/new/new.txt"] {
            let lab = house(grant, place).await;
            // From a file, these paths lead back to its own parents.
            let on_the_way = |path: &&str| path.starts_with("house/room/../room") || *path == "house/room/..";
            for path in ELSEWHERE.into_iter().filter(|path| !on_the_way(path)) {
                lab.refuses(attempts(path)).await;
            }
            lab.refuses(changes_of_a_way("house/room/..")).await;
            for path in ["house/room/sub", "house/room/sub/deep.txt", "house/room/near", "house/room/other"] {
                lab.refuses(attempts(path)).await;
            }
        }
    }
}

/// The handles of parent directories give no other access either.
#[tokio::test]
async fn a_handle_of_a_parent_directory_is_no_way_around() {
    for grant in Grant::ALL {
        let lab = house(grant, "house/room").await;
        let before = lab.world();
        for (open, on) in [(".", "house"), ("house", "."), ("house/", "."), ("house/..", "house")] {
            let mut steps =
                vec![json!({"op": "open-at", "path": open, "keep": "w", "flags": ["read", "directory", "follow"]})];
            for op in ["read-directory", "set-times", "sync", "sync-data", "advise", "read", "write", "set-size"] {
                steps.push(json!({"op": op, "on": "w", "number": 1}));
            }
            for op in ["read-via-stream", "write-via-stream", "append-via-stream"] {
                steps.push(json!({"op": op, "on": "w", "text": "planted"}));
            }
            for path in ["..", "../..", "private", "private/secret.txt", "room/../private", "link/secret.txt", "/etc"] {
                for mut step in
                    attempts(path).into_iter().filter(|step| !step["op"].as_str().unwrap().starts_with("std"))
                {
                    step["on"] = json!("w");
                    steps.push(step);
                }
            }
            steps.push(json!({"op": "rename-at", "on": "w", "path": on, "to_on": "w", "to": "renamed"}));
            let results = lab.take(Value::Array(steps.clone())).await;
            assert!(results[0]["error"].is_null(), "{open}: {}", results[0]);
            for (step, result) in steps.iter().zip(&results).skip(1) {
                assert!(result["error"].is_string(), "{grant:?} {open}: {step} returned {result}");
            }
            assert_eq!(lab.world(), before);
        }
    }
}

/// No result depends on whether something else exists.
#[tokio::test]
async fn inaccessible_files_cannot_be_detected() {
    let lab = house(Grant::ReadWrite, "house/room").await;
    for (there, missing) in [
        ("file.txt", "fill.txt"),
        ("dir", "dim"),
        ("dir/", "dim/"),
        ("dir/inner.txt", "dir/other.txt"),
        ("house/private/secret.txt", "house/private/nothing"),
        ("house/link", "house/lint"),
        ("way/room", "nowhere/room"),
        ("house/room/../private", "house/room/../nothing"),
    ] {
        let (one, other) =
            (lab.take(Value::Array(attempts(there))).await, lab.take(Value::Array(attempts(missing))).await);
        assert_eq!(one, other, "{there}, {missing}");
        let codes = one.iter().filter(|result| result["error"] == "not-permitted").count();
        assert!(codes >= 20, "{there}: {one:?}");
    }
}

/// The narrowed path keeps its only name: a link or a rename would make it another file.
#[tokio::test]
async fn the_narrowed_path_cannot_be_linked_or_renamed() {
    for place in ["house/room", "house/room/note.txt", "house/room/new.txt"] {
        let lab = house(Grant::ReadWrite, place).await;
        let beside = format!("{place}2");
        let mut steps = Vec::new();
        for to in [beside.as_str(), "stolen", "house/private/secret.txt", "house/empty", place, "house"] {
            steps.extend([
                json!({"op": "rename-at", "path": place, "to": to}),
                json!({"op": "rename-at", "path": to, "to": place}),
                json!({"op": "link-at", "path": place, "to": to}),
                json!({"op": "link-at", "path": to, "to": place}),
                json!({"op": "symlink-at", "path": place, "to": to}),
            ]);
        }
        lab.refuses(steps).await;
    }
}

/// Nothing outside can be linked or moved in, and nothing inside can be linked or moved out.
#[tokio::test]
async fn nothing_moves_between_the_narrowed_path_and_its_surroundings() {
    let lab = house(Grant::ReadWrite, "house/room").await;
    let mut steps = Vec::new();
    for (within, without) in [
        ("house/room/note.txt", "house/private/new.txt"),
        ("house/room/note.txt", "house/note.txt"),
        ("house/room/sub", "house/empty"),
        ("house/room/new", "house/private/secret.txt"),
        ("house/room/note.txt", "house/private/secret.txt"),
        ("house/room/new", "secret.txt"),
    ] {
        for op in ["rename-at", "link-at"] {
            steps.push(json!({"op": op, "path": within, "to": without}));
            steps.push(json!({"op": op, "path": without, "to": within}));
        }
    }
    lab.refuses(steps).await;
}

/// Without narrowing, the same attempts succeed. This shows that the narrowing stops them.
#[tokio::test]
async fn without_narrowing_everything_is_accessible() {
    let lab = Lab::open(Grant::ReadWrite, "").await;
    furnish(&lab);
    let results = lab
        .take(json!([
            {"op": "stat-at", "path": "house/private/secret.txt"},
            {"op": "open-at", "path": "house/link", "flags": ["read", "directory", "follow"]},
            {"op": "open-at", "path": "way/room/../private/secret.txt", "flags": ["read", "follow"]},
            {"op": "link-at", "path": "house/private/secret.txt", "to": "house/room/stolen"},
            {"op": "rename-at", "path": "house/room/note.txt", "to": "house/private/secret.txt"},
            {"op": "set-times", "number": 1},
        ]))
        .await;
    assert!(results.iter().all(|result| result["error"].is_null()), "{results:?}");
}

/// A call whose arguments name no path of the grant gets no grant.
#[tokio::test]
async fn a_call_that_names_no_path_of_the_grant_is_refused() {
    for place in ["..", "../outside", "house/../../outside", "/etc", "house\\room", "house/\u{7}", "a\0b"] {
        let lab = Lab::narrowed(Grant::ReadWrite, "", place).await;
        let before = lab.world();
        let reply = lab.call(&json!([{"op": "stat"}])).await;
        assert_eq!(reply.code, Code::DependencyNotGranted, "{place:?}: {}", reply.message);
        assert_eq!(lab.world(), before);
    }
}
