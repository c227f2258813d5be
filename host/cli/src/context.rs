//! What every command has.

use crate::environment::Environment;
use crate::terminal::Terminal;

/// What every command has.
pub(crate) struct Context {
    pub(crate) environment: Environment,
    pub(crate) terminal: Terminal,
    pub(crate) json: bool,
}
