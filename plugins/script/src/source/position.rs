//! Positions in the code of the model.

use boa_engine::ast::Position;

/// A position in the code of the model, counted from 1. Positions are in the order of the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CodePosition {
    pub(crate) line: u32,
    pub(crate) column: u32,
}

impl From<Position> for CodePosition {
    fn from(position: Position) -> Self {
        Self { line: position.line_number(), column: position.column_number() }
    }
}
