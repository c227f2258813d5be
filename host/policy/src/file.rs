//! From the text of a policy file to a [`Policy`]: the sections and what may stand in them.
//!
//! Each section has a file of its own, and each key is either known or refused. It must not know who wrote the text or
//! where it is kept.

mod limits;
mod node;
mod plugin;
mod rules;

use std::collections::{BTreeMap, BTreeSet};

use toml::de::{DeTable, DeValue};

use crate::decision::Decision;
use crate::error::{PolicyError, PolicyFault};
use crate::excerpt::Excerpt;
use crate::policy::{POLICY_BYTES, Policy, default_reason};
use node::{Misplaced, Node};

/// The sections of a policy.
const SECTIONS: &[&str] = &["defaults", "limits", "plugin", "rule"];

/// Reads a policy.
pub(crate) fn read(text: &str) -> Result<Policy, PolicyError> {
    let place = Place { text };
    if text.len() > POLICY_BYTES {
        return Err(place.error(Misplaced::at_top(PolicyFault::TooLong)));
    }
    let document = DeTable::parse(text).map_err(|error| place.error(syntax_error(&error)))?;
    let document = DeValue::Table(document.into_inner());
    read_sections(&Node::top(&document), &place).map_err(|misplaced| place.error(misplaced))
}

fn read_sections(top: &Node<'_>, place: &Place<'_>) -> Result<Policy, Misplaced> {
    let sections = top.table(SECTIONS)?;
    let default = match sections.get("defaults") {
        Some(defaults) => read_default(defaults)?,
        None => Decision::Deny,
    };
    let mut limits = crate::limits::Limits::default();
    if let Some(section) = sections.get("limits") {
        limits::read(section, &mut limits)?;
    }
    let plugins = match sections.get("plugin") {
        Some(section) => plugin::read(section, limits)?,
        None => BTreeMap::new(),
    };
    let rules = match sections.get("rule") {
        Some(section) => rules::read(section, place)?,
        None => Vec::new(),
    };
    let mut named: BTreeSet<_> = plugins.keys().cloned().collect();
    named.extend(rules.iter().flat_map(|rule| rule.tool.named_plugins()));
    Ok(Policy { default, default_reason: default_reason(default), rules, limits, plugins, named })
}

/// Reads `[defaults]`. A section that is there has a decision: somebody meant to write one.
fn read_default(defaults: &Node<'_>) -> Result<Decision, Misplaced> {
    let section = defaults.table(&["decision"])?;
    let decision = section.require("decision")?;
    decision.text()?.parse().map_err(|fault| decision.fail(fault))
}

fn syntax_error(error: &toml::de::Error) -> Misplaced {
    // Only the message: the error as a whole would quote the line, which may hold a secret.
    let message = Excerpt::of(error.message()).to_string();
    Misplaced {
        offset: error.span().map_or(0, |span| span.start),
        key: String::new(),
        fault: PolicyFault::Syntax { message },
    }
}

/// The text, for lines and columns.
pub(super) struct Place<'t> {
    text: &'t str,
}

impl Place<'_> {
    /// The line on which `offset` is, counted from 1.
    fn line(&self, offset: usize) -> usize {
        1 + self.before(offset).bytes().filter(|byte| *byte == b'\n').count()
    }

    /// The lines of ascending offsets; each counts on from the one before, since counting all from the top takes
    /// quadratic time.
    fn lines(&self, offsets: impl Iterator<Item = usize>) -> impl Iterator<Item = usize> {
        offsets.scan((0, 1), |(counted, line), offset| {
            let between = self.text.as_bytes().get(*counted..offset).unwrap_or_default();
            *line += between.iter().filter(|byte| **byte == b'\n').count();
            *counted = offset;
            Some(*line)
        })
    }

    fn column(&self, offset: usize) -> usize {
        let line = self.before(offset).rsplit('\n').next().unwrap_or_default();
        1 + line.chars().count()
    }

    fn before(&self, offset: usize) -> &str {
        let offset = offset.min(self.text.len());
        self.text.get(..offset).unwrap_or(self.text)
    }

    fn error(&self, misplaced: Misplaced) -> PolicyError {
        PolicyError {
            line: self.line(misplaced.offset),
            column: self.column(misplaced.offset),
            key: misplaced.key,
            fault: misplaced.fault,
        }
    }
}
