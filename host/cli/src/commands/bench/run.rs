//! The result of a run.

use super::figure::Figure;
use super::machine::MachineFacts;
use portcullis::plugins::LoadError;
use portcullis::text::WithCauses;

/// The version of this program. A host is as fast as its version.
pub(super) const HOST_VERSION: &str = env!("CARGO_PKG_VERSION");

/// The figures of all plugins.
pub(super) struct BenchRun {
    pub(super) machine: MachineFacts,
    /// The time for each tool.
    pub(super) seconds: u64,
    pub(super) plugins: Vec<PluginRun>,
}

/// The figures of one plugin. Its texts may have been written by the plugin.
pub(super) struct PluginRun {
    pub(super) name: String,
    pub(super) sha256: String,
    pub(super) bytes: u64,
    /// Why the host refuses it, if it does.
    pub(super) refused: Option<String>,
    pub(super) compile: Option<Figure>,
    pub(super) tools: Vec<ToolRun>,
}

/// The figures of one tool, or why it was not measured.
pub(super) struct ToolRun {
    pub(super) tool: String,
    pub(super) call: Option<MeasuredCall>,
    pub(super) end: ToolEnd,
}

/// What was called.
pub(super) struct MeasuredCall {
    /// The name of the case. `None` for arguments of the command line.
    pub(super) case: Option<String>,
    /// What the case grants.
    pub(super) grants: Vec<String>,
    /// The hash of the arguments, before the addresses of servers are filled in.
    pub(super) arguments_sha256: String,
}

/// How the measurement of a tool ended.
pub(super) enum ToolEnd {
    /// It has figures. The notes say which calls failed.
    Measured { figures: Vec<Figure>, notes: Vec<String> },
    /// There is no call to make.
    NoCall(&'static str),
    /// Its call does not complete.
    Failed(String),
}

impl PluginRun {
    /// Returns a plugin of which nothing is known but its name.
    pub(super) fn new(name: String) -> Self {
        Self { name, sha256: String::new(), bytes: 0, refused: None, compile: None, tools: Vec::new() }
    }

    /// Returns the same plugin as one that the host refuses.
    pub(super) fn refused(self, why: &LoadError) -> Self {
        Self { refused: Some(WithCauses(why).to_string()), ..self }
    }
}

impl ToolRun {
    /// Returns the figures, none if the tool was not measured.
    pub(super) fn figures(&self) -> &[Figure] {
        match &self.end {
            ToolEnd::Measured { figures, .. } => figures,
            ToolEnd::NoCall(_) | ToolEnd::Failed(_) => &[],
        }
    }

    /// Returns why the tool was not measured.
    pub(super) fn why_not_measured(&self) -> Option<&str> {
        match &self.end {
            ToolEnd::Measured { .. } => None,
            ToolEnd::NoCall(why) => Some(why),
            ToolEnd::Failed(why) => Some(why),
        }
    }
}
