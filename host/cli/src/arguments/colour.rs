//! When output is coloured.

use clap::ValueEnum;

/// When to use colour. The values have no help of their own, so that the help of every command stays short.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColourChoice {
    Auto,
    Always,
    Never,
}
