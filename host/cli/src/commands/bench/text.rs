//! A run for people: a table for each plugin and each tool.

use super::comparison::Comparison;
use super::figure::{Figure, ratio};
use super::run::{BenchRun, PluginRun, ToolEnd, ToolRun};
use crate::style::{Style, TextStyle};
use crate::table::{Table, TableCell};
use crate::view::size;
use crate::wrap::wrapped;
use portcullis::text::OneLine;

/// Digits of a hash that are shown.
const HASH_DIGITS: usize = 12;

/// The space before the rows of a table.
const MARGIN: &str = "  ";

/// Where the text is shown.
#[derive(Clone, Copy)]
pub(super) struct TextLayout {
    pub(super) style: Style,
    pub(super) width: Option<usize>,
}

impl TextLayout {
    /// Formats a run, with the figures of a saved run if there is one.
    pub(super) fn run(self, run: &BenchRun, comparison: Option<&Comparison>) -> String {
        let plugins: Vec<String> = run.plugins.iter().map(|plugin| self.plugin(plugin, comparison)).collect();
        plugins.join("\n")
    }

    fn plugin(self, plugin: &PluginRun, comparison: Option<&Comparison>) -> String {
        let name = OneLine(&plugin.name);
        if let Some(why) = &plugin.refused {
            let mark = self.style.paint(TextStyle::Bad, "refused:");
            return wrapped(&format!("{name}  {mark} {}\n", OneLine(why)), self.width);
        }
        let before = comparison.and_then(|comparison| comparison.sha256(&plugin.name));
        let changed = match before {
            None => String::new(),
            Some(before) if before == plugin.sha256 => ", as in the saved run".to_owned(),
            Some(before) => format!(", before {}", OneLine(&short(before))),
        };
        let facts = format!("sha256 {}{changed}  {}", short(&plugin.sha256), size(plugin.bytes));
        let title = self.style.paint(TextStyle::Strong, name);
        let mut text = wrapped(&format!("{title}  {}\n", self.style.paint(TextStyle::Quiet, facts)), self.width);
        let compile: Vec<&Figure> = plugin.compile.iter().collect();
        text.push_str(&self.table(&compile, |figure| comparison?.before(&plugin.name, None, figure.kind), comparison));
        for tool in &plugin.tools {
            text.push('\n');
            text.push_str(&self.tool(&plugin.name, tool, comparison));
        }
        text
    }

    fn tool(self, plugin: &str, tool: &ToolRun, comparison: Option<&Comparison>) -> String {
        let title = format!("{plugin}.{}", tool.tool);
        let title = self.style.paint(TextStyle::Strong, OneLine(&title));
        let call = tool.call.as_ref().map(|call| {
            let what = match &call.case {
                Some(case) => format!("the case `{}`", OneLine(case)),
                None => "the given arguments".to_owned(),
            };
            let grants = if call.grants.is_empty() { "nothing".to_owned() } else { call.grants.join(", ") };
            self.style.paint(TextStyle::Quiet, format!("{what}, which grants {}", OneLine(&grants))).to_string()
        });
        let mut text = format!("{title}  {}", call.unwrap_or_default()).trim_end().to_owned() + "\n";
        if let Some(why) = tool.why_not_measured() {
            text.push_str(&format!(
                "{MARGIN}{} {}\n",
                self.style.paint(TextStyle::Doubtful, "not measured:"),
                OneLine(why)
            ));
        }
        let mut text = wrapped(&text, self.width);
        let figures: Vec<&Figure> = tool.figures().iter().collect();
        let before = |figure: &Figure| comparison?.before(plugin, Some(&tool.tool), figure.kind);
        text.push_str(&self.table(&figures, before, comparison));
        if let ToolEnd::Measured { notes, .. } = &tool.end {
            let mark = self.style.paint(TextStyle::Doubtful, "note:");
            let lines: String = notes.iter().map(|note| format!("{MARGIN}{mark} {}\n", OneLine(note))).collect();
            text.push_str(&wrapped(&lines, self.width));
        }
        text
    }

    fn table(
        self,
        figures: &[&Figure],
        before: impl Fn(&Figure) -> Option<f64>,
        comparison: Option<&Comparison>,
    ) -> String {
        let mut table = Table::default();
        if comparison.is_some() && !figures.is_empty() {
            table.row(["FIGURE", "BEFORE", "NOW", "RATIO", ""].map(|title| TableCell::new(TextStyle::Quiet, title)));
        }
        for figure in figures {
            let (label, now) = (TableCell::plain(figure.kind.label()), TableCell::plain(&figure.shown()));
            let samples = match figure.samples {
                1 => "1 sample".to_owned(),
                samples => format!("{samples} samples"),
            };
            let samples = TableCell::new(TextStyle::Quiet, &samples);
            if comparison.is_none() {
                table.row([label, now, samples]);
                continue;
            }
            let before = before(figure);
            let shown = before.map_or_else(|| "-".to_owned(), |before| figure.kind.unit().shown(before));
            let ratio = before.and_then(|before| ratio(before, figure.value));
            let ratio = ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"));
            table.row([label, TableCell::plain(&shown), now, TableCell::plain(&ratio), samples]);
        }
        table.render_whole(self.style, MARGIN, self.width)
    }
}

/// Returns the beginning of a hash.
fn short(sha256: &str) -> String {
    sha256.chars().take(HASH_DIGITS).collect()
}
