//! The faults of one text. Parsing goes on after a fault, so that all independent faults are reported at once.
//!
//! This file must not know what any key means.

use std::cell::RefCell;
use std::ops::Range;

use crate::error::PolicyFault;

/// Maximum faults that are reported for one text. After a few dozen, the writer corrects these first.
pub const POLICY_ERRORS_MAX: usize = 50;

/// A fault in the text, with its position and key.
#[derive(Debug)]
pub(crate) struct Misplaced {
    /// The byte offset in the text.
    pub(crate) offset: usize,
    /// The bytes that are wrong: a key, a value or a table.
    pub(crate) span: Range<usize>,
    /// The full path of the key.
    pub(crate) key: String,
    pub(crate) fault: PolicyFault,
}

/// The faults that were found so far.
#[derive(Debug, Default)]
pub(crate) struct FaultLog {
    // All nodes of a text share a reference to the log, and each may add to it.
    faults: RefCell<Vec<Misplaced>>,
}

impl FaultLog {
    /// Adds a fault.
    pub(super) fn add(&self, fault: Misplaced) {
        let mut faults = self.faults.borrow_mut();
        if faults.len() < POLICY_ERRORS_MAX {
            faults.push(fault);
        }
    }

    /// Adds a fault, or returns the value.
    pub(super) fn keep<T>(&self, result: Result<T, Misplaced>) -> Option<T> {
        result.map_err(|fault| self.add(fault)).ok()
    }

    /// Returns the faults in the order of the text.
    pub(super) fn into_faults(self) -> Vec<Misplaced> {
        let mut faults = self.faults.into_inner();
        faults.sort_by_key(|fault| fault.offset);
        faults
    }
}
