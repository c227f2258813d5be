//! Which calls a page of the log shows.

use super::CallRow;
use crate::query::PageQuery;
use portcullis::text::OneLine;

/// A filter. An empty text accepts every call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LogFilter {
    pub(crate) text: String,
    pub(crate) tool: String,
    pub(crate) caller: String,
    pub(crate) decision: String,
    /// A day in UTC, such as `2026-11-24`.
    pub(crate) day: String,
}

impl LogFilter {
    pub(crate) fn of(query: &PageQuery) -> Self {
        let field = |name: &str| query.get(name).trim().to_owned();
        Self {
            text: field("q").to_lowercase(),
            tool: field("tool"),
            caller: field("caller"),
            decision: field("decision"),
            day: field("day"),
        }
    }

    pub(crate) fn accepts(&self, row: &CallRow) -> bool {
        // The page offers encoded texts, so that no control character is in it.
        let is = |wanted: &str, found: &str| wanted.is_empty() || wanted == OneLine(found).to_string();
        is(&self.tool, &row.tool)
            && is(&self.caller, row.caller())
            && is(&self.decision, &row.decision)
            && (self.day.is_empty() || crate::html::exact(row.at).starts_with(&self.day))
            && (self.text.is_empty() || self.has_text(row))
    }

    fn has_text(&self, row: &CallRow) -> bool {
        let target = row.target.as_deref().unwrap_or_default();
        let outcome = row.outcome.as_ref().map_or("", |outcome| outcome.code.as_str());
        [&row.tool, row.caller(), &row.session, target, &row.reason, outcome, &row.call]
            .iter()
            .any(|text| text.to_lowercase().contains(&self.text))
    }

    /// Returns the fields of an address with this filter.
    pub(crate) fn fields(&self) -> [(&'static str, &str); 5] {
        [
            ("q", &self.text),
            ("tool", &self.tool),
            ("caller", &self.caller),
            ("decision", &self.decision),
            ("day", &self.day),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_narrows() {
        let row = CallRow {
            at: 1_795_512_600_125,
            tool: "files.edit".to_owned(),
            principal: "local".to_owned(),
            decision: "ask".to_owned(),
            target: Some("src/Main.rs".to_owned()),
            ..CallRow::default()
        };
        assert!(LogFilter::default().accepts(&row));
        let filter = LogFilter { text: "main".to_owned(), day: "2026-11-24".to_owned(), ..LogFilter::default() };
        assert!(filter.accepts(&row));
        assert!(!LogFilter { tool: "files.read".to_owned(), ..filter.clone() }.accepts(&row));
        assert!(!LogFilter { day: "2026-11-23".to_owned(), ..filter.clone() }.accepts(&row));
        assert!(!LogFilter { text: "lib".to_owned(), ..filter }.accepts(&row));
    }
}
