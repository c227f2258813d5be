//! The list of rules.

use portcullis_sdk::prelude::*;

/// A rule.
#[arguments]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, portcullis_sdk::serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Rule {
    BareUrl,
    CodeLanguage,
    EmptyLink,
    HeadingOrder,
    LineLength,
    SingleTitle,
    TrailingSpaces,
}

impl Rule {
    pub(crate) const ALL: [Rule; 7] = [
        Rule::BareUrl,
        Rule::CodeLanguage,
        Rule::EmptyLink,
        Rule::HeadingOrder,
        Rule::LineLength,
        Rule::SingleTitle,
        Rule::TrailingSpaces,
    ];

    /// What it asks for.
    const fn description(self) -> &'static str {
        match self {
            Rule::BareUrl => "A URL in the text stands in <angle brackets> or is a [link](...).",
            Rule::CodeLanguage => "A fenced code block names its language.",
            Rule::EmptyLink => "A link leads somewhere.",
            Rule::HeadingOrder => "A heading is at most one level below the heading before it.",
            Rule::LineLength => {
                "A line is no longer than the limit; code, tables and single long words are left alone."
            }
            Rule::SingleTitle => "There is at most one heading of the first level.",
            Rule::TrailingSpaces => "A line ends without spaces; exactly two are a line break.",
        }
    }
}

/// What the tool `rules` answers.
#[output]
pub(crate) struct Rules {
    /// Every rule.
    rules: Vec<Description>,
}

/// A rule, and what it asks for.
#[output]
pub(crate) struct Description {
    /// The name of the rule.
    rule: Rule,
    /// What it asks for.
    description: &'static str,
}

/// Lists the rules that `lint` checks.
#[tool(read_only, idempotent)]
pub(crate) fn rules() -> Json<Rules> {
    let describe = |rule: Rule| Description { rule, description: rule.description() };
    Json(Rules { rules: Rule::ALL.into_iter().map(describe).collect() })
}
