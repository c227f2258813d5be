//! The demo's commands in order, each with its policy and its expected exit code.

/// A placeholder for the ID of the open approval request.
pub(super) const QUESTION: &str = "{question}";

/// Allows the tools to read the workspace and nothing else.
pub(super) const READ_ONLY: &str = r#"# Default deny: what no rule allows is denied.
[plugin.files]
directory.workspace = { path = "workspace", access = "read-only" }

[[rule]]
tool = "files.*"
permission = "read"
decision = "allow"
"#;

/// Also allows the tools to change the workspace.
pub(super) const READ_WRITE: &str = r#"[plugin.files]
directory.workspace = { path = "workspace", access = "read-write" }

[[rule]]
tool = "files.*"
decision = "allow"
"#;

/// Allows the tools to read, and asks a person about everything else.
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

/// Binds each kind of handle: a directory narrowed to the call's path, a client narrowed to its URL, and a store.
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

/// The exit codes that the demo expects. `docs` lists all codes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(i32)]
pub(super) enum Exit {
    Completed = 0,
    Denied = 3,
    Pending = 4,
}

/// A command, a line that explains it, and its expected exit code.
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
        say: "Searching a real source tree works too.",
        arguments: &["call", "files.grep", r#"{"regex":"fn parse","include":"*.rs","limit":6}"#],
        policy: Some("read-only.toml"),
        exit: Exit::Completed,
    },
    Scene {
        say: "Without a policy, a write is denied.",
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
        say: "A read-write policy allows it.",
        arguments: &["call", "files.write", NOTE],
        policy: Some("read-write.toml"),
        exit: Exit::Completed,
    },
    Scene {
        say: "The file exists now.",
        arguments: &["call", "files.read", r#"{"path":"notes.md"}"#],
        policy: Some("read-only.toml"),
        exit: Exit::Completed,
    },
    Scene {
        say: "A policy that asks, with no approver connected: the call stays pending.",
        arguments: &["call", "files.write", r#"{"path":"src/a.md","content":"one\n"}"#, "--ask", "pending"],
        policy: Some("ask.toml"),
        exit: Exit::Pending,
    },
    Scene { say: "Open approval requests.", arguments: &["approvals", "list"], policy: None, exit: Exit::Completed },
    Scene {
        say: "You approve it, always for src/**, and it runs.",
        arguments: &["approvals", "approve", QUESTION, "--always", "--for", "src/**", "--yes"],
        policy: Some("ask.toml"),
        exit: Exit::Completed,
    },
    Scene {
        say: "The next write in src/** needs no approval.",
        arguments: &["call", "files.write", r#"{"path":"src/b.md","content":"two\n"}"#, "--ask", "pending"],
        policy: Some("ask.toml"),
        exit: Exit::Completed,
    },
    Scene {
        say: "A write elsewhere needs approval.",
        arguments: &["call", "files.write", r#"{"path":"Cargo.toml","content":"[package]\n"}"#, "--ask", "pending"],
        policy: Some("ask.toml"),
        exit: Exit::Pending,
    },
    Scene {
        say: "The open approval requests, and the remembered approval.",
        arguments: &["approvals", "list"],
        policy: None,
        exit: Exit::Completed,
    },
    Scene {
        say: "Narrowed handles: this call could write this file, and see no other.",
        arguments: &["explain", "files.write", r#"{"path":"src/c.md","content":""}"#],
        policy: Some("handles.toml"),
        exit: Exit::Completed,
    },
    Scene {
        say: "A host that the policy does not name needs an approval, and no approver is connected.",
        arguments: &["call", "web.fetch", r#"{"url":"https://example.com/"}"#, "--ask", "deny"],
        policy: Some("handles.toml"),
        exit: Exit::Denied,
    },
    Scene {
        say: "A tool stores data in its own store.",
        arguments: &["call", "todo.write", TODO],
        policy: Some("handles.toml"),
        exit: Exit::Completed,
    },
    Scene {
        say: "The next call, in a fresh sandbox, reads it back.",
        arguments: &["call", "todo.read", "{}"],
        policy: Some("handles.toml"),
        exit: Exit::Completed,
    },
    Scene {
        say: "The audit log has an entry for every call, and its chain is intact.",
        arguments: &["audit", "verify"],
        policy: None,
        exit: Exit::Completed,
    },
    Scene {
        say: "The audit log: what was requested, decided and done.",
        arguments: &["audit", "show"],
        policy: None,
        exit: Exit::Completed,
    },
];
