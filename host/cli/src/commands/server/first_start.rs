//! Starts one server under a policy, and shows the tools that it lists. Everything that it says is untrusted.

use crate::commands::accept;
use crate::context::Context;
use crate::environment::PolicyPlaces;
use crate::opening;
use crate::style::TextStyle;
use crate::table::{Table, TableCell};
use crate::view;
use portcullis::ToolOutlook;
use portcullis::plugins::GeneratedChange;
use portcullis::policy::{Decision, Permissions, PluginName};
use portcullis::text::{OneLine, WithCauses};
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write;

/// A server after its start.
#[derive(Serialize)]
pub(in crate::commands) struct FirstStart {
    /// Whether it has started and listed its tools.
    pub(in crate::commands) starts: bool,
    /// The version that it claims.
    #[serde(rename = "server_version")]
    pub(in crate::commands) version: Option<String>,
    pub(in crate::commands) tools: Vec<ListedTool>,
    /// Why it does not start, or why some of its tools are withheld.
    pub(in crate::commands) problems: Vec<String>,
    /// How its tools differ from those that were accepted before.
    #[serde(serialize_with = "change_document")]
    pub(in crate::commands) change: Option<GeneratedChange>,
}

/// A tool that the server lists.
#[derive(Serialize)]
pub(in crate::commands) struct ListedTool {
    name: String,
    description: String,
    permissions: Permissions,
    /// What the server claims of it.
    claims: Vec<&'static str>,
    decision: Decision,
}

impl FirstStart {
    /// Starts the server of this name, confined as the policy says, and ends it again.
    ///
    /// # Errors
    /// The policy cannot be used.
    pub(in crate::commands) async fn of(
        name: &PluginName,
        policy: &PolicyPlaces,
        context: &Context,
    ) -> anyhow::Result<Self> {
        // This starts only the server of the named tool. The tool itself need not exist.
        let host = opening::open_under_for(context, policy, &format!("{name}.tools")).await?;
        let catalog = host.catalog();
        // A server has no file, so the catalog lists it under this name.
        let refused = catalog.refused().iter().filter(|refused| refused.file == format!("server.{name}"));
        let problems = refused.map(|refused| WithCauses(&*refused.error).to_string()).collect();
        let plugin = catalog.plugin(name.as_str());
        let tools = plugin.iter().flat_map(|plugin| plugin.tools().map(move |tool| (plugin, tool)));
        let tools = tools.map(|(plugin, tool)| ListedTool {
            name: tool.name().to_string(),
            description: tool.description().to_owned(),
            permissions: tool.permissions(),
            claims: tool.hints().iter().map(|hint| view::hint(*hint)).collect(),
            decision: ToolOutlook::of(&host, plugin, tool).decision,
        });
        Ok(Self {
            starts: plugin.is_some(),
            version: plugin.map(|plugin| plugin.version().to_owned()),
            tools: tools.collect(),
            problems,
            change: host.generated_change(name.as_str()),
        })
    }

    /// Returns what the start has shown, for people.
    ///
    /// # Errors
    /// A text cannot be formatted.
    pub(in crate::commands) fn text(&self, name: &PluginName, context: &Context) -> Result<String, std::fmt::Error> {
        let (style, width) = (context.terminal.style(), context.terminal.width());
        let mut text = String::new();
        match self.starts {
            true => {
                let count = self.tools.len();
                let tools = if count == 1 { "1 tool".to_owned() } else { format!("{count} tools") };
                writeln!(text, "{} starts and lists {tools}", style.paint(TextStyle::Strong, name))?;
                text.push_str(&self.table().render(style, "  ", width));
            }
            false => writeln!(text, "{} does not start", style.paint(TextStyle::Bad, name))?,
        }
        for problem in &self.problems {
            writeln!(text, "{} {}", style.paint(TextStyle::Bad, "problem:"), OneLine(problem))?;
        }
        if let Some(change) = &self.change {
            writeln!(
                text,
                "\n{}Until you accept them with `portcullis accept {name}`, new tools stay out of use, and each call of a changed one asks.",
                accept::text(change, style)?
            )?;
        }
        let asking = self.tools.iter().find(|tool| tool.decision != Decision::Allow);
        if let Some(tool) = asking {
            writeln!(text, "To allow a tool without asking: `portcullis allow {}`", OneLine(&tool.name))?;
        }
        Ok(text)
    }

    fn table(&self) -> Table {
        let mut table = Table::default();
        let heading = |text| TableCell::new(TextStyle::Quiet, text);
        if !self.tools.is_empty() {
            table.row(["TOOL", "DECISION", "PERMISSIONS", "CLAIMS", "DESCRIPTION"].map(heading));
        }
        for ListedTool { name, description, permissions, claims, decision } in &self.tools {
            let look = match decision {
                Decision::Allow => TextStyle::Good,
                Decision::Ask => TextStyle::Doubtful,
                Decision::Deny => TextStyle::Bad,
            };
            let claims = if claims.is_empty() { "none".to_owned() } else { claims.join(", ") };
            table.row([
                TableCell::new(TextStyle::Strong, name),
                TableCell::new(look, decision.as_str()),
                TableCell::plain(&view::permissions(*permissions)),
                TableCell::plain(&claims),
                TableCell::plain(description.lines().next().unwrap_or_default()),
            ]);
        }
        table
    }
}

fn change_document<S: serde::Serializer>(change: &Option<GeneratedChange>, serializer: S) -> Result<S::Ok, S::Error> {
    change.as_ref().map_or(Value::Null, accept::document).serialize(serializer)
}
