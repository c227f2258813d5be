//! `portcullis:tool@0.2`. New in this version: a blob has a name, `unavailable` can say when to retry, and a plugin can
//! preview calls, generate and prepare tools, run programs and call other tools. A plugin that asks can propose what a
//! remembered approval may cover.

mod preparer;
mod programs;
mod tools;

pub(super) use preparer::{Caller, Prepared};
pub(super) use programs::add_programs_to_linker;
pub(super) use tools::add_tools_to_linker;

use portcullis_policy::PROPOSALS_MAX;
use std::time::Duration;
use wasmtime::component::{ComponentType, Lift};

super::bind!("../../wit/v0.2", kinds: { Directory, Http, Store, Service, Process, Tools }, with: {
    "portcullis:tool/programs.program": crate::program::Program,
    "portcullis:tool/programs.running": crate::program::Running,
    "portcullis:tool/tools.toolset": crate::toolset::Toolset,
}, "portcullis:tool/programs.[method]program.start" => {},
"portcullis:tool/programs.[method]program.start-with" => {},
"portcullis:tool/tools.[method]toolset.list" => {},
"portcullis:tool/tools.[method]toolset.search" => {},
"portcullis:tool/tools.[method]toolset.definition" => {},
"portcullis:tool/tools.[method]toolset.call" => {},
"portcullis:tool/tools.[method]toolset.call-all" => {},
"portcullis:tool/tools.[method]toolset.foresee" => {},
"portcullis:tool/tools.[method]toolset.approve" => {},
"portcullis:tool/context.keep" => {
    async fn keep(&mut self, file: types::Blob) -> wasmtime::Result<Result<(), String>> {
        let memory = self.http.memory();
        Ok(self.output.keep(file.into(), &memory)?)
    }
},
"portcullis:tool/context.ask-with-patterns" => {
    async fn ask_with_patterns(
        &mut self,
        permission: String,
        resource: String,
        reason: String,
        patterns: Vec<String>,
    ) -> wasmtime::Result<Result<(), String>> {
        Ok(self.ask_host(Ask { permission, resource, reason, patterns }).await)
    }
});

impl From<types::Blob> for manifest::Blob {
    fn from(blob: types::Blob) -> Self {
        Self { name: blob.name, media_type: blob.media_type, data: blob.data, is_kept: false }
    }
}

impl From<types::Failure> for manifest::Failure {
    fn from(failure: types::Failure) -> Self {
        match failure {
            types::Failure::InvalidArguments(text) => Self::InvalidArguments(text),
            types::Failure::Denied(text) => Self::Denied(text),
            types::Failure::Unavailable(types::Outage { message, retry_after_seconds }) => {
                Self::Unavailable { message, retry_after: retry_after_seconds.map(u64::from).map(Duration::from_secs) }
            }
            types::Failure::Cancelled => Self::Cancelled,
            types::Failure::Failed(text) => Self::Failed(text),
        }
    }
}

/// The result of `preview`. It is written by hand, because `previewer` is an optional export.
pub(super) type Previewed = (Result<Vec<FileChange>, types::Failure>,);

/// The result of `generate`. It is written by hand, because `generator` is an optional export.
pub(super) type Generated = (Result<Vec<types::Definition>, String>,);

/// `file-change`.
#[derive(ComponentType, Lift)]
#[component(record)]
pub(super) struct FileChange {
    directory: String,
    path: String,
    content: Option<String>,
}

impl From<FileChange> for manifest::FileChange {
    fn from(change: FileChange) -> Self {
        Self { directory: change.directory, path: change.path, content: change.content }
    }
}

/// The result of `review`. It is written by hand, because `reviewer` is an optional export.
pub(super) type Reviewed = (Verdict,);

/// `verdict`.
#[derive(ComponentType, Lift)]
#[component(variant)]
pub(super) enum Verdict {
    #[component(name = "clear")]
    Clear,
    #[component(name = "ask")]
    Ask(String),
    #[component(name = "refuse")]
    Refuse(String),
    #[component(name = "request")]
    Request(ApprovalRequest),
}

/// `approval-request`.
#[derive(ComponentType, Lift)]
#[component(record)]
pub(super) struct ApprovalRequest {
    reason: String,
    patterns: Vec<Vec<Variation>>,
}

/// `variation`.
#[derive(ComponentType, Lift)]
#[component(record)]
pub(super) struct Variation {
    argument: String,
    within: Option<String>,
}

impl From<Verdict> for manifest::Verdict {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Clear => Self::Clear,
            Verdict::Ask(reason) => Self::Ask(manifest::ReviewRequest::new(reason)),
            Verdict::Refuse(reason) => Self::Refuse(reason),
            Verdict::Request(request) => Self::Ask(request.into()),
        }
    }
}

impl From<ApprovalRequest> for manifest::ReviewRequest {
    fn from(ApprovalRequest { reason, patterns }: ApprovalRequest) -> Self {
        let variation = |Variation { argument, within }| portcullis_policy::Variation { argument, within };
        let pattern = |pattern: Vec<Variation>| pattern.into_iter().map(variation).collect();
        Self { reason, patterns: patterns.into_iter().take(PROPOSALS_MAX).map(pattern).collect() }
    }
}
