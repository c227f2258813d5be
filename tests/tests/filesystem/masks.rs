//! Places inside a grant that its masks hide or protect: G09, G10, F26.

use crate::filesystem::lab::{Grant, Lab, SECRET};
use crate::filesystem::race::{LOOKS, Swapper};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;

const HIDDEN: &str = r#", hidden = [".env*", "secrets/**", "vault/deep", "caf\u00e9"]"#;
const PROTECTED: &str = r#", read-only = ["kept/**", "docs/*/final.txt"]"#;

/// Creates files in the grant, in addition to those of every lab.
fn fill(lab: &Lab) {
    for path in [
        "secrets/key",
        "secrets/deep/key",
        ".env",
        "dir/.env.local",
        "vault/deep/key",
        "cafe\u{301}/key",
        "SECRETS/key",
        "secrets./key",
    ] {
        let file = lab.path(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, SECRET).unwrap();
    }
    for path in ["kept/file", "docs/a/final.txt", "vault/open.txt", ".git/config", ".git/hooks/pre-commit", ".git/HEAD"]
    {
        let file = lab.path(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "seen").unwrap();
    }
    for (link, target) in [
        ("to-secrets", "secrets"),
        ("to-key", "secrets/key"),
        ("dir/around", "../to-secrets/../to-key"),
        ("to-kept", "kept"),
        ("to-file", "kept/file"),
        ("to-git", ".git"),
    ] {
        symlink(target, lab.path(link)).unwrap();
    }
}

async fn lab(keys: &str) -> Lab {
    let lab = Lab::masked(Grant::ReadWrite, keys, None).await;
    fill(&lab);
    lab
}

/// Returns a step for every function of the interface that takes a path, with this path.
fn every_function(path: &str) -> Vec<Value> {
    let mut steps = Vec::new();
    for flags in [
        &["read"][..],
        &["read", "follow"],
        &["read", "directory"],
        &["write", "follow"],
        &["write", "create", "follow"],
        &["read", "truncate", "follow"],
        &["write", "create", "exclusive"],
    ] {
        steps.push(json!({"op": "open-at", "path": path, "flags": flags}));
    }
    for op in ["stat-at", "metadata-hash-at", "set-times-at"] {
        steps.push(json!({"op": op, "path": path, "flags": ["follow"]}));
    }
    for op in ["readlink-at", "create-directory-at", "remove-directory-at", "unlink-file-at"] {
        steps.push(json!({"op": op, "path": path}));
    }
    for (from, to) in [(path, "fresh"), ("file.txt", path)] {
        steps.push(json!({"op": "rename-at", "path": from, "to": to}));
        steps.push(json!({"op": "link-at", "path": from, "to": to}));
    }
    steps.push(json!({"op": "symlink-at", "path": path, "to": "file.txt"}));
    steps
}

#[tokio::test]
async fn g09_a_hidden_path_does_not_exist_for_any_function() {
    let lab = lab(HIDDEN).await;
    let before = lab.world();
    for path in [
        "secrets",
        "secrets/key",
        "./secrets//deep/../key",
        "dir/../secrets/key",
        "to-secrets/key",
        "to-secrets/../secrets/key",
        // The way through a hidden directory does not show that it exists.
        "secrets/../file.txt",
        "to-secrets/../file.txt",
        "vault/deep/../open.txt",
        ".env",
        "dir/.env.local",
        ".env.new",
        "vault/deep",
        "vault/deep/key",
        "cafe\u{301}/key",
        "caf\u{e9}/new",
        "SECRETS/key",
        "se\u{200b}crets/key",
        "secrets./key",
    ] {
        let steps = every_function(path);
        let results = lab.take(Value::Array(steps.clone())).await;
        for (step, result) in steps.iter().zip(&results) {
            assert_eq!(result["error"], "no-entry", "{step}");
        }
        assert_eq!(lab.world(), before, "{path}");
    }
    // The name of a link is visible, but never its target.
    for path in ["to-key", "dir/around", "to-secrets"] {
        let steps = [
            json!({"op": "open-at", "path": path, "flags": ["read", "follow"]}),
            json!({"op": "open-at", "path": path, "flags": ["write", "create", "follow"]}),
            json!({"op": "stat-at", "path": path, "flags": ["follow"]}),
            json!({"op": "set-times-at", "path": path, "flags": ["follow"]}),
            json!({"op": "std-read", "path": format!("/workspace/{path}/key")}),
        ];
        for result in lab.take(json!(steps)).await {
            let error = result["error"].as_str().unwrap();
            assert!(error == "no-entry" || error.starts_with("No such file"), "{path}: {error}");
        }
    }
    assert_eq!(lab.world(), before);
}

#[tokio::test]
async fn g09_a_listing_has_no_hidden_entry() {
    let lab = lab(HIDDEN).await;
    let results = lab
        .take(json!([
            {"op": "read-directory"},
            {"op": "std-list", "path": "/workspace"},
            {"op": "std-list", "path": "/workspace/dir"},
            {"op": "open-at", "path": "vault", "flags": ["read", "directory"], "keep": "vault"},
            {"op": "read-directory", "on": "vault"},
            {"op": "open-at", "on": "vault", "path": "deep/key", "flags": ["read"]},
            {"op": "stat-at", "on": "vault", "path": "deep"},
        ]))
        .await;
    for listing in [&results[0], &results[1]] {
        let names: Vec<&str> = listing["ok"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        for hidden in ["secrets", ".env", "cafe\u{301}", "SECRETS", "secrets."] {
            assert!(!names.contains(&hidden), "{hidden} in {names:?}");
        }
        assert!(names.contains(&"file.txt") && names.contains(&"to-secrets"), "{names:?}");
    }
    assert!(!results[2]["ok"].to_string().contains(".env"), "{}", results[2]);
    assert_eq!(results[4]["ok"], json!(["open.txt"]));
    assert_eq!((&results[5]["error"], &results[6]["error"]), (&json!("no-entry"), &json!("no-entry")));
}

#[tokio::test]
async fn g09_masks_apply_to_narrowed_handles_and_without_the_right_to_write() {
    for place in [".", "secrets", "secrets/key", "vault", "vault/deep/key", "dir"] {
        for grant in Grant::ALL {
            let lab = Lab::masked(grant, HIDDEN, Some(place)).await;
            fill(&lab);
            let before = lab.world();
            let mut steps = Vec::new();
            for path in ["secrets/key", "vault/deep/key", "dir/.env.local", "dir/around"] {
                steps.push(json!({"op": "open-at", "path": path, "flags": ["read", "follow"]}));
                steps.push(json!({"op": "open-at", "path": path, "flags": ["write", "create", "follow"]}));
                steps.push(json!({"op": "stat-at", "path": path, "flags": ["follow"]}));
                steps.push(json!({"op": "unlink-file-at", "path": format!("{path}/")}));
                steps.push(json!({"op": "std-read", "path": format!("/workspace/{path}")}));
            }
            for (step, result) in steps.iter().zip(lab.take(json!(steps)).await) {
                assert!(result["error"].is_string(), "{grant:?} {place} {step}: {result}");
            }
            assert_eq!(lab.world(), before);
        }
    }
}

/// Returns a step for every function that changes or creates something at a path.
fn changes(path: &str) -> Vec<Value> {
    let is_change = |step: &Value| {
        let (op, flags) = (step["op"].as_str().unwrap_or_default(), step["flags"].to_string());
        let looks = ["stat-at", "metadata-hash-at", "readlink-at"].contains(&op);
        !looks && (op != "open-at" || flags.contains("write") || flags.contains("truncate"))
    };
    every_function(path).into_iter().filter(is_change).collect()
}

/// Paths below a mask of the test, and paths that a default mask protects.
const PROTECTED_PLACES: [&str; 30] = [
    "kept",
    "kept/file",
    "kept/new",
    "KEPT/new",
    "to-kept/file",
    "to-kept/new",
    "docs/a/final.txt",
    ".git/config",
    ".git/config.worktree",
    ".git/commondir",
    ".git/hooks",
    ".git/hooks/pre-commit",
    ".git/hooks/new",
    ".GIT/hooks",
    "dir/.git/hooks",
    "to-git/hooks/new",
    ".git/modules/sub/hooks/new",
    ".github",
    ".vscode",
    ".idea",
    ".vimrc",
    ".mcp.json",
    ".claude",
    ".envrc",
    ".ssh",
    "dir/.ssh/authorized_keys",
    ".profile",
    ".bashrc",
    ".ZSHENV",
    "dir/portcullis.toml",
];

#[tokio::test]
async fn g10_a_protected_path_can_be_read_but_never_changed() {
    let lab = lab(PROTECTED).await;
    let before = lab.world();
    for path in PROTECTED_PLACES {
        let steps = changes(path);
        for (step, result) in steps.iter().zip(lab.take(json!(steps)).await) {
            let error = result["error"].as_str().unwrap_or_default();
            // If a parent directory is missing, that error comes first.
            assert!(error == "read-only" || error == "no-entry", "{step}: {result}");
        }
        assert_eq!(lab.world(), before, "{path}");
    }
    let results = lab
        .take(json!([
            {"op": "std-read", "path": "/workspace/kept/file"},
            {"op": "std-read", "path": "/workspace/.git/hooks/pre-commit"},
            {"op": "open-at", "path": "kept", "flags": ["read", "directory", "mutate"], "keep": "kept"},
            {"op": "open-at", "on": "kept", "path": "new", "flags": ["write", "create"]},
            {"op": "create-directory-at", "on": "kept", "path": "new"},
            {"op": "unlink-file-at", "on": "kept", "path": "file"},
            {"op": "rename-at", "on": "kept", "path": "file", "to": "fresh", "to_on": "workspace"},
            {"op": "set-times", "on": "kept"},
            {"op": "open-at", "path": "to-file", "flags": ["read", "follow"], "keep": "file"},
            {"op": "write", "on": "file", "text": "changed"},
            {"op": "set-size", "on": "file"},
            {"op": "set-times", "on": "file"},
            {"op": "append-via-stream", "on": "file", "text": "changed"},
            {"op": "std-write", "path": "/workspace/to-file", "text": "changed"},
        ]))
        .await;
    assert_eq!((&results[0]["ok"], &results[1]["ok"]), (&json!("seen"), &json!("seen")));
    for result in results.iter().skip(2) {
        assert!(result["ok"].is_null(), "{result}");
    }
    assert_eq!(lab.world(), before);
}

/// A protected path that does not exist cannot be created, under any name.
#[tokio::test]
async fn g10_a_missing_protected_path_cannot_be_created() {
    let lab = Lab::masked(Grant::ReadWrite, PROTECTED, None).await;
    fs::create_dir_all(lab.path("fake/hooks")).unwrap();
    fs::create_dir_all(lab.path("fake/a")).unwrap();
    fs::write(lab.path("fake/hooks/pre-commit"), "planted").unwrap();
    fs::write(lab.path("fake/a/final.txt"), "planted").unwrap();
    fs::write(lab.path("fake/file"), "gitdir: fake").unwrap();
    symlink("fake", lab.path("link")).unwrap();
    lab.refuses(vec![
        json!({"op": "rename-at", "path": "fake", "to": ".git"}),
        json!({"op": "rename-at", "path": "fake", "to": "dir/.git"}),
        json!({"op": "rename-at", "path": "fake", "to": "docs"}),
        json!({"op": "rename-at", "path": "fake", "to": "kept"}),
        json!({"op": "rename-at", "path": "fake/", "to": ".git/"}),
        json!({"op": "rename-at", "path": "fake/file", "to": ".git"}),
        json!({"op": "rename-at", "path": "link", "to": ".git"}),
        json!({"op": "rename-at", "path": "link", "to": "docs"}),
        json!({"op": "link-at", "path": "fake/file", "to": ".git"}),
        json!({"op": "link-at", "path": "link", "to": ".git"}),
        json!({"op": "symlink-at", "path": ".git", "to": "fake"}),
        json!({"op": "symlink-at", "path": "dir/.GIT", "to": "../fake"}),
        json!({"op": "symlink-at", "path": "docs", "to": "fake"}),
        json!({"op": "open-at", "path": ".git", "flags": ["write", "create"]}),
        json!({"op": "std-write", "path": "/workspace/.git", "text": "gitdir: fake"}),
    ])
    .await;
    let made = lab
        .take(json!([
            {"op": "create-directory-at", "path": ".git"},
            {"op": "create-directory-at", "path": "docs"},
            {"op": "create-directory-at", "path": "docs/b"},
            {"op": "symlink-at", "path": "docs/c", "to": "../fake/a"},
            {"op": "rename-at", "path": "link", "to": "docs/e"},
            {"op": "rename-at", "path": "fake/a", "to": "docs/d"},
            {"op": "open-at", "path": ".git", "flags": ["read", "directory"], "keep": "git"},
            {"op": "create-directory-at", "on": "git", "path": "hooks"},
            {"op": "rename-at", "path": "fake/hooks", "to": "hooks", "to_on": "git"},
            {"op": "open-at", "on": "git", "path": "config", "flags": ["write", "create"]},
            {"op": "open-at", "on": "git", "path": "HEAD", "flags": ["write", "create"]},
        ]))
        .await;
    let errors: Vec<&Value> = made.iter().map(|result| &result["error"]).collect();
    let (no, none) = (json!("read-only"), Value::Null);
    let moved = json!("not-permitted");
    assert_eq!(errors, [&none, &none, &none, &no, &no, &moved, &none, &no, &no, &no, &none]);
}

/// In a worktree, `.git` is a file that names another directory with settings and hooks.
#[tokio::test]
async fn g10_a_file_in_place_of_a_protected_directory_cannot_be_changed() {
    let lab = Lab::masked(Grant::ReadWrite, PROTECTED, None).await;
    fs::write(lab.path(".git"), "gitdir: elsewhere").unwrap();
    fs::write(lab.path("planted"), "gitdir: planted").unwrap();
    lab.refuses(vec![
        json!({"op": "open-at", "path": ".git", "flags": ["write"]}),
        json!({"op": "open-at", "path": ".git", "flags": ["read", "truncate"]}),
        json!({"op": "unlink-file-at", "path": ".git"}),
        json!({"op": "rename-at", "path": ".git", "to": "moved"}),
        json!({"op": "rename-at", "path": "planted", "to": ".git"}),
        // A second name would make the file writable.
        json!({"op": "link-at", "path": ".git", "to": "linked"}),
    ])
    .await;
    let read = lab.take(json!([{"op": "std-read", "path": "/workspace/.git"}])).await;
    assert_eq!(read[0]["ok"], "gitdir: elsewhere");
}

#[tokio::test]
async fn g09_a_directory_moves_only_to_where_the_same_masks_apply() {
    let lab = lab(HIDDEN).await;
    let results = lab
        .take(json!([
            {"op": "rename-at", "path": "vault", "to": "opened"},
            {"op": "rename-at", "path": "vault", "to": "dir/vault"},
            {"op": "rename-at", "path": "kept", "to": "vault/kept"},
            {"op": "rename-at", "path": "dir", "to": "moved"},
            {"op": "std-read", "path": "/workspace/moved/inner.txt"},
            {"op": "open-at", "path": "moved/.env.local", "flags": ["read"]},
            {"op": "rename-at", "path": "vault/open.txt", "to": "moved/open.txt"},
            {"op": "rename-at", "path": "file.txt", "to": "moved/open.txt"},
            {"op": "rename-at", "path": "moved", "to": "vault/kept/moved"},
            {"op": "rename-at", "path": "vault/kept/", "to": "again/"},
        ]))
        .await;
    let errors: Vec<&Value> = results.iter().map(|result| &result["error"]).collect();
    let (no, missing, none) = (json!("not-permitted"), json!("no-entry"), Value::Null);
    assert_eq!(errors, [&no, &no, &none, &none, &none, &missing, &none, &none, &none, &none]);
}

/// Hidden files would be visible in another grant.
#[tokio::test]
async fn g09_a_directory_with_masked_files_moves_into_no_other_grant() {
    let other = r#"directory.other = { path = "world/outside", access = "read-write" }"#;
    let lab = Lab::masked_beside(HIDDEN, other).await;
    fill(&lab);
    fs::create_dir(lab.site.path("world/outside/fresh")).unwrap();
    let before = lab.world();
    let results = lab
        .take(json!([
            {"op": "rename-at", "path": "vault", "to_on": "other", "to": "vault"},
            {"op": "rename-at", "path": "dir", "to_on": "other", "to": "dir"},
            {"op": "rename-at", "on": "other", "path": "fresh", "to_on": "workspace", "to": "vault/moved"},
        ]))
        .await;
    for result in results {
        assert_eq!(result["error"], "not-permitted", "{result}");
    }
    assert_eq!(lab.world(), before);
}

#[tokio::test]
async fn g10_a_policy_removes_a_default_mask_by_its_name() {
    let lab = lab(r#", writable = [".git/hooks", ".github"]"#).await;
    let results = lab
        .take(json!([
            {"op": "std-write", "path": "/workspace/.git/hooks/pre-commit", "text": "new"},
            {"op": "create-directory-at", "path": ".github"},
            {"op": "std-write", "path": "/workspace/.git/config", "text": "new"},
        ]))
        .await;
    assert!(results[0]["error"].is_null() && results[1]["error"].is_null(), "{results:?}");
    assert!(results[2]["error"].is_string(), "{results:?}");
    assert_eq!(fs::read_to_string(lab.path(".git/config")).unwrap(), "seen");
}

/// A directory is continuously replaced by a link to a hidden one, and back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn g09_a_directory_that_becomes_a_link_shows_nothing_hidden() {
    let lab = lab(HIDDEN).await;
    fs::create_dir(lab.path("race")).unwrap();
    fs::write(lab.path("race/key"), "inside").unwrap();
    symlink("secrets", lab.path("trap")).unwrap();
    let swapper = Swapper::start(lab.path("race"), lab.path("trap"));
    let results = lab
        .take(json!([
            {"op": "read-in", "path": "race", "to": "key", "flags": ["follow", "go-on"], "times": LOOKS},
            {"op": "read-in", "path": ".", "to": "race/key", "flags": ["follow", "go-on"], "times": LOOKS},
            {"op": "std-read", "path": "/workspace/race/key", "flags": ["go-on"], "times": LOOKS},
        ]))
        .await;
    drop(swapper);
    for result in &results {
        let all = result["all"].to_string();
        assert!(all.contains("inside") && all.contains("Err"), "the race did not happen: {all}");
    }
}
