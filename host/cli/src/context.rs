//! The context of a command.

use crate::environment::Environment;
use crate::terminal::Terminal;

/// What every command gets: paths, terminal and output format.
pub(crate) struct Context {
    pub(crate) environment: Environment,
    pub(crate) terminal: Terminal,
    pub(crate) json: bool,
}
