//! The variables of OpenTelemetry.

use crate::environment;

/// Returns the text of a variable. An empty one counts as unset.
pub(super) fn variable(name: &str) -> Option<String> {
    environment::variable(name).map(|value| value.to_string_lossy().into_owned())
}
