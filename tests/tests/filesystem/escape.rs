//! Escapes from a grant through paths: F01 to F05, F07, F28.

use crate::filesystem::lab::{Grant, Lab, SECRET};
use serde_json::{Value, json};

/// Paths that lead out of the grant for every function, through names or through linked directories.
const OUT: [&str; 33] = [
    "..",
    "../",
    "./..",
    "../outside",
    "../outside/secret.txt",
    "../secret.txt",
    "../grant-sibling/secret.txt",
    "../grant",
    "../grant/file.txt",
    "dir/../..",
    "dir/../../secret.txt",
    "dir/../../outside/secret.txt",
    "./dir/./../../outside/secret.txt",
    "..//outside/secret.txt",
    "dir//..//..//outside//secret.txt",
    ".././outside/secret.txt",
    "nothing/../../secret.txt",
    "file.txt/../../secret.txt",
    "/",
    "/etc",
    "/etc/passwd",
    "//etc/passwd",
    "/proc/self/root/etc/passwd",
    "out/secret.txt",
    "out/sub/secret.txt",
    "out/planted",
    "abs/passwd",
    "up/outside/secret.txt",
    "up/secret.txt",
    "sibling/secret.txt",
    "magic-root/etc/passwd",
    "magic-directory/Cargo.toml",
    "",
];

/// Links that lead out of the grant if they are followed. The links themselves are inside. A trailing slash follows a
/// link.
const LINKS: [&str; 15] = [
    "out",
    "out/",
    "out/.",
    "abs",
    "abs/",
    "up",
    "up/",
    "up/.",
    "secret-link",
    "chain",
    "magic-root",
    "magic-root/",
    "magic-directory",
    "magic-descriptor",
    "dangling",
];

/// Every operation on a path, and on the file that may be there.
pub(crate) fn attempts(path: &str) -> Vec<Value> {
    let mut attempts = following(path);
    attempts.extend([
        json!({"op": "open-at", "path": path, "flags": ["read"]}),
        json!({"op": "open-at", "path": path, "flags": ["write", "create", "exclusive"]}),
        json!({"op": "create-directory-at", "path": path}),
        json!({"op": "remove-directory-at", "path": path}),
        json!({"op": "unlink-file-at", "path": path}),
        json!({"op": "rename-at", "path": path, "to": "stolen"}),
        json!({"op": "rename-at", "path": "file.txt", "to": path}),
        json!({"op": "link-at", "path": path, "to": "stolen"}),
        json!({"op": "link-at", "path": "file.txt", "to": path}),
        json!({"op": "symlink-at", "path": path, "to": "file.txt"}),
        json!({"op": "readlink-at", "path": path}),
        json!({"op": "stat-at", "path": path}),
        json!({"op": "set-times-at", "path": path, "number": 1}),
        json!({"op": "metadata-hash-at", "path": path}),
    ]);
    attempts
}

/// Every operation that follows a link at the end of a path.
pub(crate) fn following(path: &str) -> Vec<Value> {
    vec![
        json!({"op": "open-at", "path": path, "flags": ["read", "follow"]}),
        json!({"op": "open-at", "path": path, "flags": ["read", "follow", "directory"]}),
        json!({"op": "open-at", "path": path, "flags": ["read", "directory", "mutate"]}),
        json!({"op": "open-at", "path": path, "flags": ["write", "follow"]}),
        json!({"op": "open-at", "path": path, "flags": ["write", "follow", "create"]}),
        json!({"op": "open-at", "path": path, "flags": ["write", "follow", "truncate"]}),
        json!({"op": "stat-at", "path": path, "flags": ["follow"]}),
        json!({"op": "set-times-at", "path": path, "flags": ["follow"], "number": 1}),
        json!({"op": "metadata-hash-at", "path": path, "flags": ["follow"]}),
        json!({"op": "link-at", "path": path, "to": "stolen", "flags": ["follow"]}),
        json!({"op": "read-in", "path": path, "to": "secret.txt", "flags": ["follow"]}),
        json!({"op": "std-read", "path": format!("/workspace/{path}")}),
    ]
}

#[tokio::test]
async fn f01_f02_no_path_leads_out() {
    for grant in Grant::ALL {
        let lab = Lab::open(grant, "").await;
        for path in OUT {
            lab.refuses(attempts(path)).await;
        }
    }
}

#[tokio::test]
async fn f04_f05_f07_no_existing_link_leads_out() {
    for grant in Grant::ALL {
        let lab = Lab::open(grant, "").await;
        for path in LINKS {
            lab.refuses(following(path)).await;
        }
    }
}

/// From a subdirectory, `..` also ends at the grant.
#[tokio::test]
async fn f01_a_directory_below_the_grant_is_no_way_out() {
    for grant in Grant::ALL {
        let lab = Lab::open(grant, "").await;
        let mut steps = vec![json!({"op": "open-at", "path": "dir", "keep": "d", "flags": ["read", "directory"]})];
        for path in ["..", "../..", "../file.txt", "../../secret.txt", "../../outside/secret.txt", "hop", "/etc/passwd"]
        {
            steps.push(json!({"op": "open-at", "on": "d", "path": path, "flags": ["read", "follow"]}));
            steps.push(json!({"op": "stat-at", "on": "d", "path": path, "flags": ["follow"]}));
        }
        let results = lab.take(Value::Array(steps)).await;
        assert!(results[0]["error"].is_null(), "{:?}", results[0]);
        assert!(results[1..].iter().all(|result| result["error"].is_string()), "{results:?}");
    }
}

/// Paths through the language's standard library do not lead out either.
#[tokio::test]
async fn f01_the_standard_library_does_not_lead_out() {
    let lab = Lab::open(Grant::ReadWrite, "").await;
    let mut steps = Vec::new();
    for path in [
        "/etc/passwd",
        "/workspace/../outside/secret.txt",
        "/workspace/../../etc/passwd",
        "../secret.txt",
        "/",
        "/other/x",
        "/workspace-sibling/secret.txt",
        "/workspace/out/secret.txt",
        "/proc/self/environ",
        "/dev/null",
    ] {
        steps.push(json!({"op": "std-read", "path": path}));
        steps.push(json!({"op": "std-write", "path": path, "text": "planted"}));
        steps.push(json!({"op": "std-list", "path": path}));
    }
    lab.refuses(steps).await;
}

/// Names with a special meaning on other systems are ordinary names.
#[tokio::test]
async fn f02_a_name_of_another_system_stays_inside() {
    let lab = Lab::open(Grant::ReadWrite, "").await;
    let outside = lab.outside();
    for path in [r"..\outside\secret.txt", r"\\?\C:\secret", "C:", "NUL", "%2e%2e", "\u{2024}\u{2024}", "..\u{2215}x"] {
        let open = json!({"op": "open-at", "path": path, "flags": ["write", "create", "follow"]});
        let result = lab.take(json!([open])).await.remove(0);
        assert!(result["error"].is_string() || lab.path(path).is_file(), "{path}: {result}");
    }
    assert_eq!(lab.outside(), outside);
}

/// Paths that a system call would truncate, or that are too long or too deep for one.
#[tokio::test]
async fn f17_a_path_with_a_nul_or_of_excessive_length_is_rejected() {
    for grant in Grant::ALL {
        let lab = Lab::open(grant, "").await;
        let (long, deep, dots) = ("x".repeat(70_000), "dir/".repeat(5000), "../".repeat(5000));
        for path in ["file.txt\0", "file.txt\0/../../secret.txt", "\0", &long, &deep, &dots, "itself", "itself/x"] {
            lab.refuses(following(path)).await;
        }
    }
}

/// A guest may create a relative link that leads out, but cannot follow it. It may not create an absolute link.
#[tokio::test]
async fn f03_a_link_that_the_guest_creates_does_not_lead_out() {
    let lab = Lab::open(Grant::ReadWrite, "").await;
    let outside = lab.outside();
    for (index, target) in
        ["../outside/secret.txt", "../outside", "..", "dir/../../outside/secret.txt"].iter().enumerate()
    {
        let name = format!("made-{index}");
        lab.take(json!([{"op": "symlink-at", "path": name, "to": target}])).await;
        let results = lab.take(Value::Array(following(&name))).await;
        assert!(results.iter().all(|result| result["error"].is_string()), "{target}: {results:?}");
    }
    for target in ["/etc/passwd", "/", "//etc", lab.site.path("world/secret.txt").to_str().unwrap()] {
        lab.refuses(vec![json!({"op": "symlink-at", "path": "absolute", "to": target})]).await;
    }
    assert_eq!(lab.outside(), outside);
}

/// Paths that stay inside work: links, dots and doubled slashes are not rejected for their form.
#[tokio::test]
async fn a_path_that_stays_inside_is_opened() {
    for grant in Grant::ALL {
        let lab = Lab::open(grant, "").await;
        for path in ["file.txt", "./file.txt", "dir/../file.txt", "dir//inner.txt", "good-link"] {
            let steps = json!([
                {"op": "open-at", "path": path, "keep": "f", "flags": ["read", "follow"]},
                {"op": "read", "on": "f"},
            ]);
            let results = lab.take(steps).await;
            assert_eq!(results[1]["ok"], "inside", "{grant:?} {path}: {results:?}");
        }
        assert!(lab.world().values().any(|entry| entry.6 == SECRET.as_bytes()), "there was something to find");
    }
}
