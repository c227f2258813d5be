//! What the demo shows, in its order, under which policy, and how each command must end.

use super::QUESTION;

/// Lets the tools look at the workspace and nothing else.
pub(super) const READ_ONLY: &str = r#"# Default deny: what no rule allows does not happen.
[plugin.files]
directory.workspace = { path = "workspace", access = "read-only" }

[[rule]]
tool = "files.*"
permission = "read"
decision = "allow"
"#;

/// Lets the tools change the workspace too.
pub(super) const READ_WRITE: &str = r#"[plugin.files]
directory.workspace = { path = "workspace", access = "read-write" }

[[rule]]
tool = "files.*"
decision = "allow"
"#;

/// Lets the tools read, and asks a person about everything else.
pub(super) const ASK: &str = r#"[plugin.files]
directory.workspace = { path = "workspace", access = "read-write" }

[[rule]]
tool = "files.*"
permission = "read"
decision = "allow"

[[rule]]
tool = "files.*"
permission = "write"
decision = "ask"
"#;

/// Binds each kind of handle: a directory narrowed to the path of the call, a client narrowed to its URL, a store.
pub(super) const HANDLES: &str = r#"[plugin.files]
directory.workspace = { path = "workspace", access = "read-write", narrow = "/path" }

[plugin.web]
http.fetch = { hosts = ["docs.rs"], narrow = "/url", unnamed = "ask" }

[plugin.todo]
store.items = { scope = "session" }

[[rule]]
tool = "*.*"
decision = "allow"
"#;

/// The exit codes that the demo meets; `docs` list them all.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(i32)]
pub(super) enum Exit {
    Completed = 0,
    Denied = 3,
    Pending = 4,
}

/// One command, why it is run, and how it must end.
pub(super) struct Scene {
    pub(super) say: &'static str,
    pub(super) arguments: &'static [&'static str],
    pub(super) policy: Option<&'static str>,
    pub(super) exit: Exit,
}

const NOTE: &str = r##"{"path":"notes.md","content":"# Notes\nWritten by a tool in a sandbox.\n"}"##;

const TODO: &str = r#"{"items":[{"content":"read the docs","status":"in_progress"}]}"#;

pub(super) const SCENES: [Scene; 19] = [
    Scene {
        say: "The tools in the plugin directory.",
        arguments: &["list"],
        policy: Some("read-only.toml"),
        exit: Exit::Completed,
    },
    Scene {
        say: "A policy that grants one directory, read-only: reading works.",
        arguments: &["call", "files.read", r#"{"path":"lib.rs","limit":12}"#],
        policy: Some("read-only.toml"),
        exit: Exit::Completed,
    },
    Scene {
        say: "So does searching a real source tree.",
        arguments: &["call", "files.grep", r#"{"regex":"fn parse","include":"*.rs","limit":6}"#],
        policy: Some("read-only.toml"),
        exit: Exit::Completed,
    },
    Scene {
        say: "No policy at all: a write is denied.",
        arguments: &["call", "files.write", NOTE],
        policy: None,
        exit: Exit::Denied,
    },
    Scene {
        say: "The read-only policy denies it too.",
        arguments: &["call", "files.write", NOTE],
        policy: Some("read-only.toml"),
        exit: Exit::Denied,
    },
    Scene {
        say: "A policy that says so allows it.",
        arguments: &["call", "files.write", NOTE],
        policy: Some("read-write.toml"),
        exit: Exit::Completed,
    },
    Scene {
        say: "And the file is there.",
        arguments: &["call", "files.read", r#"{"path":"notes.md"}"#],
        policy: Some("read-only.toml"),
        exit: Exit::Completed,
    },
    Scene {
        say: "A policy that asks, and nobody is there: the call waits.",
        arguments: &["call", "files.write", r#"{"path":"src/a.md","content":"one\n"}"#, "--ask", "pending"],
        policy: Some("ask.toml"),
        exit: Exit::Pending,
    },
    Scene { say: "What waits for a person.", arguments: &["approvals", "list"], policy: None, exit: Exit::Completed },
    Scene {
        say: "The person approves it, always for src/**, and it runs.",
        arguments: &["approvals", "approve", QUESTION, "--always", "--for", "src/**", "--yes"],
        policy: Some("ask.toml"),
        exit: Exit::Completed,
    },
    Scene {
        say: "Nobody is asked about the next one there.",
        arguments: &["call", "files.write", r#"{"path":"src/b.md","content":"two\n"}"#, "--ask", "pending"],
        policy: Some("ask.toml"),
        exit: Exit::Completed,
    },
    Scene {
        say: "One elsewhere waits.",
        arguments: &["call", "files.write", r#"{"path":"Cargo.toml","content":"[package]\n"}"#, "--ask", "pending"],
        policy: Some("ask.toml"),
        exit: Exit::Pending,
    },
    Scene {
        say: "What waits, and what the person's answer covers.",
        arguments: &["approvals", "list"],
        policy: None,
        exit: Exit::Completed,
    },
    Scene {
        say: "Handles narrowed to the call: this one could write this file, and see no other.",
        arguments: &["explain", "files.write", r#"{"path":"src/c.md","content":""}"#],
        policy: Some("handles.toml"),
        exit: Exit::Completed,
    },
    Scene {
        say: "A host that the policy does not name takes a person's yes, and nobody is there.",
        arguments: &["call", "web.fetch", r#"{"url":"https://example.com/"}"#, "--ask", "deny"],
        policy: Some("handles.toml"),
        exit: Exit::Denied,
    },
    Scene {
        say: "A tool keeps what it was told in a store of its own.",
        arguments: &["call", "todo.write", TODO],
        policy: Some("handles.toml"),
        exit: Exit::Completed,
    },
    Scene {
        say: "The next call, in a fresh sandbox, finds it there.",
        arguments: &["call", "todo.read", "{}"],
        policy: Some("handles.toml"),
        exit: Exit::Completed,
    },
    Scene {
        say: "Every call left a record; the chain holds.",
        arguments: &["audit", "verify"],
        policy: None,
        exit: Exit::Completed,
    },
    Scene {
        say: "What was asked, decided and done.",
        arguments: &["audit", "show"],
        policy: None,
        exit: Exit::Completed,
    },
];
