//! The stored form of a pattern: strict JSON. Nothing is repaired or ignored.
//!
//! This file must not know where it is stored.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::argument_names::{RESOURCES, URLS};
use super::constraint::{Constraint, is_nameable};
use super::error::PatternError;
use super::limits::PATTERN_ARGUMENTS;
use super::url_scope::UrlScope;
use crate::argument::ARGUMENT_KEY_BYTES;
use crate::glob::Glob;

/// The JSON of a pattern.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PatternForm {
    #[serde(deserialize_with = "without_duplicates")]
    arguments: BTreeMap<String, ConstraintForm>,
}

/// The JSON of a constraint: `{"exact": 1}`, `{"glob": "src/**"}`, `{"path": "https://docs.rs:443/std"}`,
/// `{"origin": "https://docs.rs:443"}` or `"any"`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum ConstraintForm {
    Exact(Value),
    Glob(String),
    Path(String),
    Origin(String),
    Any,
}

impl PatternForm {
    /// Returns the JSON of constraints.
    pub(super) fn of(constraints: BTreeMap<String, Constraint>) -> Self {
        let form = |constraint| match constraint {
            Constraint::Exact(value) => ConstraintForm::Exact(value),
            Constraint::Glob(glob) => ConstraintForm::Glob(glob.as_str().to_owned()),
            Constraint::Url(scope @ UrlScope::Path(_)) => ConstraintForm::Path(scope.text()),
            Constraint::Url(scope @ UrlScope::Origin(_)) => ConstraintForm::Origin(scope.text()),
            Constraint::Any => ConstraintForm::Any,
        };
        let arguments = constraints.into_iter().map(|(name, constraint)| (name, form(constraint)));
        Self { arguments: arguments.collect() }
    }

    /// Returns the constraints, if they are no wider than any that is offered.
    pub(super) fn constraints(self) -> Result<BTreeMap<String, Constraint>, PatternError> {
        let long = |name: &String| name.len() > ARGUMENT_KEY_BYTES;
        if self.arguments.len() > PATTERN_ARGUMENTS || self.arguments.keys().any(long) {
            return Err(PatternError::Arguments);
        }
        let read = |(name, form): (String, ConstraintForm)| {
            let constraint = read(form)?;
            match constraint {
                // No offer and no proposal has this, so the host did not write it.
                Constraint::Any if RESOURCES.contains(&&*name) || URLS.contains(&&*name) => Err(PatternError::TooWide),
                Constraint::Any | Constraint::Exact(_) | Constraint::Glob(_) | Constraint::Url(_) => {
                    Ok((name, constraint))
                }
            }
        };
        self.arguments.into_iter().map(read).collect()
    }
}

fn read(form: ConstraintForm) -> Result<Constraint, PatternError> {
    match form {
        ConstraintForm::Any => Ok(Constraint::Any),
        ConstraintForm::Path(text) => UrlScope::path(&text).map(Constraint::Url),
        ConstraintForm::Origin(text) => UrlScope::origin(&text).map(Constraint::Url),
        ConstraintForm::Exact(value) if is_nameable(&value) => Ok(Constraint::Exact(value)),
        ConstraintForm::Exact(_) => Err(PatternError::Exact),
        ConstraintForm::Glob(text) => {
            let glob = Glob::new(&text)?;
            if glob.is_directory() { Ok(Constraint::Glob(glob)) } else { Err(PatternError::TooWide) }
        }
    }
}

/// Returns the entries of an object. A duplicate key is an error.
fn without_duplicates<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, ConstraintForm>, D::Error> {
    struct Entries;

    impl<'de> Visitor<'de> for Entries {
        type Value = BTreeMap<String, ConstraintForm>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("an object of constraints")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
            let mut entries = BTreeMap::new();
            while let Some((name, constraint)) = object.next_entry()? {
                // serde alone would keep the last of two equal names, and another reader could keep the first.
                if entries.insert(name, constraint).is_some() {
                    return Err(A::Error::custom("an argument appears twice"));
                }
            }
            Ok(entries)
        }
    }

    deserializer.deserialize_map(Entries)
}
