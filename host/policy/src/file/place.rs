//! The text of a policy, and the lines and columns of its errors.

use super::faults::Misplaced;
use crate::error::{ErrorDetails, PolicyError, PolicyFault};
use crate::suggestion::suggestion;

/// The text of a policy, for computing lines and columns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PolicyText<'t> {
    pub(crate) text: &'t str,
}

impl PolicyText<'_> {
    /// Returns the line of a byte offset, counted from 1.
    fn line(&self, offset: usize) -> usize {
        1 + self.before(offset).bytes().filter(|byte| *byte == b'\n').count()
    }

    /// Returns the lines of ascending offsets. Each count continues from the one before, because counting each from the
    /// top would take quadratic time.
    pub(super) fn lines(&self, offsets: impl Iterator<Item = usize>) -> impl Iterator<Item = usize> {
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

    /// Returns an error for the text as a whole.
    pub(crate) fn error_at_top(&self, fault: PolicyFault) -> PolicyError {
        self.error(Misplaced { offset: 0, span: 0..0, key: String::new(), fault })
    }

    /// Returns the errors for several faults, which must not be empty.
    pub(crate) fn errors(&self, faults: Vec<Misplaced>) -> Option<PolicyError> {
        let mut errors = faults.into_iter().map(|fault| self.error(fault));
        let mut first = errors.next()?;
        first.details.more = errors.collect();
        Some(first)
    }

    /// Returns an error for one position.
    pub(crate) fn error(&self, misplaced: Misplaced) -> PolicyError {
        let written = self.text.get(misplaced.span.clone()).unwrap_or_default();
        let suggestion = suggestion(&misplaced.fault, written);
        PolicyError {
            line: self.line(misplaced.offset),
            column: self.column(misplaced.offset),
            details: Box::new(ErrorDetails { span: misplaced.span, suggestion, more: Vec::new() }),
            key: misplaced.key,
            fault: misplaced.fault,
        }
    }
}
