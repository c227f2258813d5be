//! A saved run, and what became worse since.

use super::figure::{FigureKind, ratio};
use super::machine::MachineFacts;
use super::run::{BenchRun, HOST_VERSION};
use crate::failure::{CommandError, FailureCode};
use crate::json::DocumentKind;
use crate::user_files;
use anyhow::Context as _;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::Path;

/// A saved run. Its texts are untrusted. Members that this version does not know are ignored.
#[derive(Debug, Deserialize)]
pub(super) struct Comparison {
    version: u32,
    host_version: String,
    machine: MachineFacts,
    plugins: Vec<SavedPlugin>,
}

#[derive(Debug, Deserialize)]
struct SavedPlugin {
    plugin: String,
    sha256: String,
    figures: Vec<SavedFigure>,
    tools: Vec<SavedTool>,
}

#[derive(Debug, Deserialize)]
struct SavedTool {
    tool: String,
    arguments_sha256: Option<String>,
    figures: Vec<SavedFigure>,
}

#[derive(Debug, Deserialize)]
struct SavedFigure {
    figure: String,
    value: f64,
}

/// What became worse.
#[derive(Debug, PartialEq)]
pub(super) struct Worse {
    plugin: String,
    tool: Option<String>,
    /// The figure, and by which factor it is worse. `None` if the tool is not measured any more.
    figure: Option<(FigureKind, f64)>,
}

impl Comparison {
    /// Reads a saved run.
    ///
    /// # Errors
    /// The file cannot be read, or `bench --save` did not write it.
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let shown = path.display().to_string();
        let bytes = user_files::read(path).with_context(|| shown.clone())?;
        let bytes = bytes.ok_or_else(|| CommandError::new(FailureCode::Io, format!("{shown} does not exist")))?;
        Self::parse(&bytes).map_err(|why| {
            let message = format!("{shown} is not a run that `portcullis bench --save` wrote: {why}");
            CommandError::new(FailureCode::Failed, message).help("save a run again with --save").into()
        })
    }

    fn parse(bytes: &[u8]) -> Result<Self, String> {
        let saved: Self = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        let (found, known) = (saved.version, DocumentKind::Bench.version());
        if found != known {
            return Err(format!("its version is {found}, and this program reads version {known}"));
        }
        let all = saved
            .plugins
            .iter()
            .flat_map(|plugin| plugin.figures.iter().chain(plugin.tools.iter().flat_map(|tool| tool.figures.iter())));
        // A ratio to a negative figure would show what is worse as better.
        match all.into_iter().find(|figure| figure.value < 0.0) {
            Some(figure) => Err(format!("the figure `{}` is negative", figure.figure)),
            None => Ok(saved),
        }
    }

    /// Returns a figure of the saved run: of a tool, or of a whole plugin.
    pub(super) fn before(&self, plugin: &str, tool: Option<&str>, kind: FigureKind) -> Option<f64> {
        let plugin = self.plugin(plugin)?;
        let figures = match tool {
            Some(tool) => &plugin.tools.iter().find(|saved| saved.tool == tool)?.figures,
            None => &plugin.figures,
        };
        figures.iter().find(|figure| figure.figure == kind.name()).map(|figure| figure.value)
    }

    /// Returns the hash of a plugin in the saved run.
    pub(super) fn sha256(&self, plugin: &str) -> Option<&str> {
        self.plugin(plugin).map(|plugin| plugin.sha256.as_str())
    }

    fn plugin(&self, name: &str) -> Option<&SavedPlugin> {
        self.plugins.iter().find(|plugin| plugin.plugin == name)
    }

    /// Returns what a reader should know before they trust a comparison with a run on this machine.
    pub(super) fn notes(&self, run: &BenchRun) -> Vec<String> {
        let mut notes = Vec::new();
        if self.machine != run.machine {
            notes.push(format!("the saved run is from another machine: {}", self.machine));
        }
        if self.host_version != HOST_VERSION {
            notes.push(format!("the saved run is from portcullis {}, and this is {HOST_VERSION}", self.host_version));
        }
        for plugin in &run.plugins {
            for tool in &plugin.tools {
                let saved =
                    self.plugin(&plugin.name).and_then(|saved| saved.tools.iter().find(|one| one.tool == tool.tool));
                if let (Some(saved), Some(call)) = (saved, &tool.call)
                    && saved.arguments_sha256.as_deref() != Some(&call.arguments_sha256)
                {
                    notes.push(format!("the saved run called {}.{} with other arguments", plugin.name, tool.tool));
                }
            }
        }
        notes
    }

    /// Returns the document about the saved run.
    pub(super) fn document(&self, run: &BenchRun) -> Value {
        json!({ "host_version": self.host_version, "machine": self.machine, "notes": self.notes(run) })
    }

    /// Returns what is worse than in the saved run by more than a factor. A tool that had figures and has none any more
    /// is worse.
    pub(super) fn worse(&self, run: &BenchRun, factor: f64) -> Vec<Worse> {
        let mut worse = Vec::new();
        for plugin in &run.plugins {
            let of_plugin = plugin.compile.iter().map(|figure| (None, figure));
            let of_tools = plugin
                .tools
                .iter()
                .flat_map(|tool| tool.figures().iter().map(|figure| (Some(tool.tool.as_str()), figure)));
            for (tool, figure) in of_plugin.chain(of_tools) {
                let before = self.before(&plugin.name, tool, figure.kind);
                let ratio = before.and_then(|before| ratio(before, figure.value));
                if let Some(by) = ratio.and_then(|ratio| figure.kind.worsening(ratio)).filter(|by| *by > factor) {
                    worse.push(Worse::new(&plugin.name, tool, Some((figure.kind, by))));
                }
            }
            let Some(saved) = self.plugin(&plugin.name) else { continue };
            let is_lost = |name: &str| match plugin.tools.iter().find(|tool| tool.tool == name) {
                Some(tool) => tool.figures().is_empty(),
                // With --tool, the other tools are not measured. That makes none of them worse.
                None => plugin.refused.is_some(),
            };
            let lost = saved.tools.iter().filter(|tool| !tool.figures.is_empty() && is_lost(&tool.tool));
            worse.extend(lost.map(|tool| Worse::new(&plugin.name, Some(&tool.tool), None)));
        }
        worse
    }

    /// Returns whether a run has any figure in common with this one.
    pub(super) fn is_of(&self, run: &BenchRun) -> bool {
        let has_figures = |plugin: &str, tool: &str| {
            let saved = self.plugin(plugin).and_then(|saved| saved.tools.iter().find(|one| one.tool == tool));
            saved.is_some_and(|saved| !saved.figures.is_empty())
        };
        let mut tools = run.plugins.iter().flat_map(|plugin| plugin.tools.iter().map(move |tool| (plugin, tool)));
        tools.any(|(plugin, tool)| has_figures(&plugin.name, &tool.tool))
    }
}

impl Worse {
    fn new(plugin: &str, tool: Option<&str>, figure: Option<(FigureKind, f64)>) -> Self {
        Self { plugin: plugin.to_owned(), tool: tool.map(str::to_owned), figure }
    }

    /// Returns the document.
    pub(super) fn document(&self) -> Value {
        let Self { plugin, tool, figure } = self;
        let (name, factor) = figure.map(|(kind, factor)| (kind.name(), factor)).unzip();
        json!({ "plugin": plugin, "tool": tool, "figure": name, "factor": factor })
    }

    /// Returns the text for people, not encoded.
    pub(super) fn text(&self) -> String {
        let whose = self.tool.as_ref().map_or_else(|| self.plugin.clone(), |tool| format!("{}.{tool}", self.plugin));
        match self.figure {
            Some((kind, factor)) => format!("{whose}: {} is worse by a factor of {factor:.2}", kind.name()),
            None => format!("{whose}: it was measured in the saved run, and cannot be measured now"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_saved_run_of_this_version_is_read() {
        let rows = [
            ("", "EOF"),
            ("[]", "invalid"),
            ("{}", "missing field"),
            (
                r#"{"version":7,"host_version":"1","machine":{"processor":"p","cores":1,"system":"s"},"plugins":[]}"#,
                "7",
            ),
        ];
        for (text, why) in rows {
            let found = Comparison::parse(text.as_bytes()).unwrap_err();
            assert!(found.contains(why), "{text}: {found}");
        }
    }

    #[test]
    fn a_negative_figure_is_refused() {
        let text = r#"{"version":1,"host_version":"1","machine":{"processor":"p","cores":1,"system":"s"},
            "plugins":[{"plugin":"a","sha256":"0","figures":[{"figure":"compile","value":-1}],"tools":[]}]}"#;
        assert_eq!(Comparison::parse(text.as_bytes()).unwrap_err(), "the figure `compile` is negative");
    }
}
